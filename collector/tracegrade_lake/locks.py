"""Locks that are released when their process ends, however it ends."""

import fcntl
import os
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
