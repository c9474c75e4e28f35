"""The time of an agent; its clock is paused while the agent waits for the harness."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

MAX_WAITS: Final = 9
"""Limit on waiting for turns, in multiples of the agent's own time, so that each agent ends."""
RECHECK_SECS: Final = 0.05
"""Least time left while the clock is paused, so that a caller does not poll without a break."""

OUTPUT_POLL_SECS: Final = 1.0
"""Seconds between two looks at the output, because no event reports new output."""


class Deadline:
    """The time at which something must end, by the monotonic clock; any thread may use it."""

    def __init__(
        self,
        secs: float,
        idle_secs: float | None = None,
        output: Callable[[], object] = lambda: None,
    ) -> None:
        """Begin.

        Args:
            secs: Seconds until the deadline.
            idle_secs: Seconds without a sign of the agent after which time is over, too.
            output: Returns another value after the agent has printed more, which is a sign.
        """
        self.was_idle = False
        """It is over because there was no sign for too long."""
        self._idle_secs = idle_secs
        self._output = output
        self._printed = output()
        self._lock = threading.Lock()
        self._began = time.monotonic()
        self._ends = self._began + secs
        self._seen_at = self._began
        self._pauses = 0
        self._paused_at = self._began
        self._may_wait_secs = MAX_WAITS * secs

    def left_secs(self) -> float:
        """Return the seconds that are left; 0 if it is over."""
        with self._lock:
            if self.was_idle:
                return 0.0
            if not self._pauses:
                left = max(0.0, self._ends - time.monotonic())
                return left if self._idle_secs is None else min(left, self._idle_left(left))
            left = self._ends - self._paused_at
            return max(left, RECHECK_SECS) if left > 0 else 0.0

    def seen(self) -> None:
        """Note a sign of the agent."""
        with self._lock:
            self._seen_at = time.monotonic()

    def _idle_left(self, left: float) -> float:
        """Return the seconds until the next sign or look; 0 if none came in time."""
        now, printed = time.monotonic(), self._output()
        if printed != self._printed:
            self._printed, self._seen_at = printed, now
        idle_left = self._seen_at + (self._idle_secs or 0) - now
        self.was_idle = idle_left <= 0 < left
        return min(max(0.0, idle_left), OUTPUT_POLL_SECS)

    def spent_secs(self) -> float:
        """Return the time that has passed, without the time of pauses."""
        with self._lock:
            return (self._paused_at if self._pauses else time.monotonic()) - self._began

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the clock while the block lasts; several blocks may overlap."""
        with self._lock:
            self._pause()
        try:
            yield
        finally:
            with self._lock:
                self._go_on()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Stop the clock while the agent waits for a turn, up to `MAX_WAITS`."""
        began = time.monotonic()
        with self._lock:
            counts = self._may_wait_secs > 0
            if counts:
                self._pause()
        try:
            yield
        finally:
            with self._lock:
                self._may_wait_secs -= time.monotonic() - began
                if counts:
                    self._go_on()

    def _pause(self) -> None:
        if not self._pauses:
            self._paused_at = time.monotonic()
        self._pauses += 1

    def _go_on(self) -> None:
        self._pauses -= 1
        self._seen_at = time.monotonic()
        if not self._pauses:
            took = time.monotonic() - self._paused_at
            self._began += took
            self._ends += took
