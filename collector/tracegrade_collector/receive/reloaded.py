"""What files say, read anew when they change; while they are broken, what they said before.

A change counts when two looks find the same: some editors empty a file before they write it.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, TypeVar

Content = TypeVar("Content")


class Reloaded(Generic[Content]):
    """What some files said when they were last well-formed."""

    def __init__(self, files: Sequence[Path], read: Callable[[], Content]) -> None:
        """Read the files for the first time.

        Raises:
            CollectorError: What `read` raises; there is nothing old to go on with.
        """
        self._files = files
        self._read = read
        self._read_at = self._last_look = _signature(files)
        self.current = read()

    def refresh(self) -> bool:
        """Read the files if they have changed and rest; return whether that could be used.

        Raises:
            CollectorError: It could not, said once for each change; `current` is as before.
        """
        seen = _signature(self._files)
        rests = seen == self._last_look
        self._last_look = seen
        if seen == self._read_at or not rests:
            return False
        self._read_at = seen
        self.current = self._read()
        return True


def _signature(files: Sequence[Path]) -> list[tuple[int, ...] | None]:
    """Return something that differs whenever a file was written or replaced."""
    return [_file_signature(file) for file in files]


def _file_signature(file: Path) -> tuple[int, ...] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
