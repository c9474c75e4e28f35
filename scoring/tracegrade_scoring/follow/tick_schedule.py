"""When a follower may score next; pure, but for the clock that its callers read."""

from typing import Final

SHARE: Final = 5
"""A tick may follow after this many times its own processor time: it takes a fifth of a core."""
LONGEST_PAUSE_SECS: Final = 300.0
"""Between two ticks that fail."""
MOST_DOUBLINGS: Final = 30
"""Of the pause after failures; more of them, in weeks of failures, would be no number."""


class TickSchedule:
    """The pauses of one follower."""

    def __init__(self, every_secs: float) -> None:
        """Start at once.

        Args:
            every_secs: From the beginning of one tick to the next, at least.
        """
        self._every_secs = every_secs
        self._failures = 0
        self._next = float("-inf")

    def secs_left(self, now: float) -> float:
        """Return how long the next tick has to wait; 0 if it may begin."""
        return max(self._next - now, 0.0)

    def succeeded(self, begun: float, processor_secs: float) -> None:
        """Note a tick that ended well.

        Args:
            begun: When it began, by the clock of `secs_left`.
            processor_secs: Processor time that it took.
        """
        self._failures = 0
        self._next = begun + max(self._every_secs, SHARE * processor_secs)

    def failed(self, now: float) -> float:
        """Note a tick that failed; return the seconds until the next, twice as many each time."""
        pause = min(self._every_secs * 2.0**self._failures, LONGEST_PAUSE_SECS)
        self._failures = min(self._failures + 1, MOST_DOUBLINGS)
        self._next = now + pause
        return pause
