"""The time that an agent has, which stands still while it waits for the harness."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Deadline:
    """A time from now on at which something is over; by the monotonic clock."""

    def __init__(self, secs: float) -> None:
        self._began = time.monotonic()
        self._ends = self._began + secs

    def left_secs(self) -> float:
        """Return how long it is until then; 0 if it is over."""
        return max(0.0, self._ends - time.monotonic())

    def spent_secs(self) -> float:
        """Return how much time has passed, without that in which it stood still."""
        return time.monotonic() - self._began

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let no time pass for as long as the block lasts."""
        began = time.monotonic()
        try:
            yield
        finally:
            took = time.monotonic() - began
            self._began += took
            self._ends += took
