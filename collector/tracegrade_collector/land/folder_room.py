"""Limits the disk space of a folder that several processes and collectors write to.

Each counts all of them, again and again. A file counts in whole blocks, and one more for its name:
many files of one byte fill a disk, too.
"""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

BLOCK_BYTES = 4096
COUNT_EVERY_SECS = 1.0  # and at most a twentieth of the time, if there are very many files


class FolderRoom:
    """A folder up to a total size."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._bytes = 0
        self._count_at = 0.0

    def has_room_for(self, size: int) -> bool:
        """Return whether a file of so many bytes fits."""
        return self._used_bytes() + on_disk(size) <= self._max_bytes

    def free_bytes(self) -> int:
        """Return how long one more file may be; less than 0 if it may not be."""
        free = self._max_bytes - self._used_bytes()
        return free // BLOCK_BYTES * BLOCK_BYTES - BLOCK_BYTES

    def add(self, size: int) -> None:
        """Count a file that was written."""
        self._bytes += on_disk(size)

    def files(self) -> Iterator[tuple[Path, os.stat_result]]:
        """Yield the files of the folder."""
        with contextlib.suppress(FileNotFoundError):  # the folder
            for path in self._path.iterdir():
                with contextlib.suppress(FileNotFoundError):  # another process removed it
                    yield path, path.stat()

    def _used_bytes(self) -> int:
        started = time.monotonic()
        if started >= self._count_at:
            self._bytes = sum(on_disk(status.st_size) for _, status in self.files())
            ended = time.monotonic()
            self._count_at = ended + max(COUNT_EVERY_SECS, 20 * (ended - started))
        return self._bytes


def on_disk(size: int) -> int:
    """Return the disk space of a file of so many bytes, including its name."""
    return (-(-size // BLOCK_BYTES) + 1) * BLOCK_BYTES
