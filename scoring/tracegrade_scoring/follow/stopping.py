"""Ends a process that scores continuously in an orderly way, by SIGTERM or Ctrl-C."""

import os
import select
import signal
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from types import FrameType
from typing import Final

from tracegrade_queries.engine.bucket_work import end_open

GRACE_SECS: Final = 20.0
"""For the buckets that are being scored, after which their work is cut off."""


class StopSignal:
    """Whether the process was asked to end; a wait for it can be interrupted by a signal."""

    def __init__(self) -> None:
        """Nobody has asked."""
        self.is_set = False
        self.interrupts = False
        self._read, self._write = os.pipe()

    def set(self) -> None:
        """Ask the process to end; a signal handler may call this at any point."""
        self.is_set = True
        os.write(self._write, b".")

    def wait(self, secs: float) -> None:
        """Return after so many seconds, or once the process is asked to end."""
        select.select([self._read], [], [], max(secs, 0.0))

    @contextmanager
    def interrupting(self) -> Iterator[None]:
        """End the work of the block at once when the process is asked to end."""
        self.interrupts = True
        try:
            yield
        finally:
            self.interrupts = False

    def close(self) -> None:
        """Free the pipe."""
        os.close(self._read)
        os.close(self._write)


@contextmanager
def stopping() -> Iterator[StopSignal]:
    """Yield what SIGTERM and Ctrl-C set; the main thread alone can call this."""
    with closing(StopSignal()) as stop:
        cut_off = threading.Timer(GRACE_SECS, end_open)
        cut_off.daemon = True

        def on_signal(_: int, __: FrameType | None) -> None:
            if not stop.is_set:
                cut_off.start()
            stop.set()
            if stop.interrupts:
                raise KeyboardInterrupt

        numbers = (signal.SIGTERM, signal.SIGINT)
        before = {number: signal.signal(number, on_signal) for number in numbers}
        try:
            yield stop
        finally:
            cut_off.cancel()
            for number, handler in before.items():
                signal.signal(number, handler)
