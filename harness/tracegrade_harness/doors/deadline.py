"""The time that an agent has, which stands still while it waits for the harness."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

MAX_WAITS: Final = 9
"""How many times its own time an agent may wait for turns: one that asks for ever ends, too."""
LOOK_AGAIN_SECS: Final = 0.05
"""What is left at least while the time stands still, so that nobody looks without a pause."""


class Deadline:
    """A time from now on at which something is over; by the monotonic clock, from any thread."""

    def __init__(self, secs: float) -> None:
        self._lock = threading.Lock()
        self._began = time.monotonic()
        self._ends = self._began + secs
        self._pauses = 0
        self._paused_at = self._began
        self._may_wait_secs = MAX_WAITS * secs

    def left_secs(self) -> float:
        """Return how long it is until then; 0 if it is over."""
        with self._lock:
            if not self._pauses:
                return max(0.0, self._ends - time.monotonic())
            left = self._ends - self._paused_at
            return max(left, LOOK_AGAIN_SECS) if left > 0 else 0.0

    def spent_secs(self) -> float:
        """Return how much time has passed, without that in which it stood still."""
        with self._lock:
            return (self._paused_at if self._pauses else time.monotonic()) - self._began

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let no time pass for as long as the block lasts; several blocks may last at once."""
        with self._lock:
            self._pause()
        try:
            yield
        finally:
            with self._lock:
                self._go_on()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Do the same while a turn is waited for, unless that was so for too long already."""
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
        if not self._pauses:
            took = time.monotonic() - self._paused_at
            self._began += took
            self._ends += took
