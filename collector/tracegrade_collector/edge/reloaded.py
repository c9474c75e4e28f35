"""The content of files, reloaded when they change; the previous content while they are broken.

A change counts once two looks find the same: some editors empty a file before they write it.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, TypeVar

Content = TypeVar("Content")


class Reloaded(Generic[Content]):
    """The content of some files when they were last valid."""

    def __init__(self, files: Sequence[Path], read: Callable[[], Content]) -> None:
        """Read the files for the first time.

        Raises:
            CollectorError: Raised by `read`; there is no previous content to continue with.
        """
        self._files = files
        self._read = read
        self._read_at = self._last_seen = _signature(files)
        self.current = read()

    def refresh(self) -> bool:
        """Reload the files if they have changed and settled; return whether they were reloaded.

        Raises:
            CollectorError: They are broken; raised once for each change, and `current` stays.
        """
        seen = _signature(self._files)
        rests = seen == self._last_seen
        self._last_seen = seen
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
