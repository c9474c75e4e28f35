"""Pauses between attempts that fail because of other writers."""

import random
import time

FIRST_PAUSE_SECS = 0.05
"""About the time of a commit, so that another writer is likely to be done."""

LONGEST_PAUSE_SECS = 1.0
"""A writer that commits all the time leaves gaps at any time, so longer waits do not help."""


class Backoff:
    """Pauses that get longer and vary randomly, until a time is over.

    The time runs from the first pause and does not count slow attempts: a loaded machine should
    not get fewer of them.
    """

    def __init__(self, patience_secs: float) -> None:
        """Give up when attempts have failed for so many seconds."""
        self._patience_secs = patience_secs
        self._longest_secs = FIRST_PAUSE_SECS
        self._gives_up_at: float | None = None

    def pause(self) -> bool:
        """Sleep before another attempt and return True; False, at once, if the time is over."""
        now = time.monotonic()
        if self._gives_up_at is None:
            self._gives_up_at = now + self._patience_secs
        elif now >= self._gives_up_at:
            return False
        time.sleep(random.uniform(0.5, 1) * self._longest_secs)  # noqa: S311 - no secret
        self._longest_secs = min(2 * self._longest_secs, LONGEST_PAUSE_SECS)
        return True

    def restart(self) -> None:
        """Count the time and the pauses from the next one on: an attempt got further."""
        self._longest_secs = FIRST_PAUSE_SECS
        self._gives_up_at = None
