"""Locks that are released when their process ends, however it ends."""

import fcntl
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tracegrade_lake.files import FILE_MODE

LANDER_LOCK_NAME = "lander.lock"
"""In a log's folder; held by the process that lands it."""

HOLDER_BYTES = 400
"""Longest name of a holder that is read; the file belongs to the lake, which others may write."""


def holder_words(host: str, pid: int) -> str:
    """Return how a lock names a process that has it."""
    return f"process {pid} on {host}"


class FolderLock:
    """An exclusive lock on a file, held until it is closed or the process ends."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)

    def try_acquire(self) -> bool:
        """Return whether this process now holds the lock."""
        return _try_lock(self._fd)

    def acquire(self) -> None:
        """Wait until this process holds the lock."""
        fcntl.flock(self._fd, fcntl.LOCK_EX)

    def sign(self) -> None:
        """Note the machine and the process in the file; a full disk has no room for it."""
        with suppress(OSError):
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, holder_words(platform.node(), os.getpid()).encode(), 0)

    def holder(self) -> str:
        """Return who signed last, in words; '' if none did."""
        return os.pread(self._fd, HOLDER_BYTES, 0).decode("utf-8", "replace")

    def check(self) -> None:
        """Do nothing: this process holds the lock until it is closed."""

    def close(self) -> None:
        """Give the lock back."""
        os.close(self._fd)


TURN_SECS = 10.0
"""Longest wait for a writer's turn: a commit takes 0.1 s, or seconds on a loaded machine."""

ASK_AGAIN_SECS = 0.01
"""While it is another's turn."""


@contextmanager
def in_turn(folder: Path) -> Iterator[None]:
    """Let one process or thread of this machine at a time through the block, as a courtesy.

    A writer that has waited for `TURN_SECS` continues without a turn, so a writer that was stopped
    in its turn delays the others only briefly. If the file system cannot lock folders, writers do
    not wait at all. So the block must be safe without a turn.
    """
    folder_fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):
            _wait_for_turn(folder_fd)
        yield
    finally:
        os.close(folder_fd)


def _wait_for_turn(fd: int) -> None:
    gives_up_at = time.monotonic() + TURN_SECS
    while not _try_lock(fd) and time.monotonic() < gives_up_at:
        time.sleep(ASK_AGAIN_SECS)


def _try_lock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
