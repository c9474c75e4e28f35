"""Locks that are released when their process ends, however it ends."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tracegrade_lake.files import FILE_MODE

LANDER_LOCK_NAME = "lander.lock"
"""In a log's folder; held by the process that lands it."""


class FolderLock:
    """An exclusive lock on a file, held until it is closed or the process ends."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)

    def try_acquire(self) -> bool:
        """Return whether the lock is now ours."""
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def acquire(self) -> None:
        """Wait until the lock is ours."""
        fcntl.flock(self._fd, fcntl.LOCK_EX)

    def check(self) -> None:
        """Do nothing: the lock is ours until it is closed."""

    def close(self) -> None:
        """Give the lock back."""
        os.close(self._fd)


TURN_SECS = 10.0
"""How long a writer waits for its turn: a commit takes 0.1 s, or seconds on a loaded machine."""

ASK_AGAIN_SECS = 0.01
"""While it is another's turn."""


@contextmanager
def in_turn(folder: Path) -> Iterator[None]:
    """Let one process or thread of this machine at a time through the block, as a courtesy.

    Whoever waits in vain goes on without: a writer that was stopped in its turn holds up nobody
    for long. The same holds where a file system locks no folders. So nothing may be left to
    this lock that has to be right.
    """
    folder_fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):
            _wait_for_lock(folder_fd, time.monotonic() + TURN_SECS)
        yield
    finally:
        os.close(folder_fd)


def _wait_for_lock(fd: int, gives_up_at: float) -> None:
    while True:
        with suppress(BlockingIOError):
            return fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if time.monotonic() >= gives_up_at:
            return None
        time.sleep(ASK_AGAIN_SECS)
