"""What files say, read anew when they change; while they are broken, what they said before."""

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
        self._seen = _signature(files)
        self.current = read()

    def refresh(self) -> bool:
        """Read the files again if they have changed; return whether a change could be used.

        Raises:
            CollectorError: It could not, said once for each change; `current` is as before.
        """
        seen = _signature(self._files)
        if seen == self._seen:
            return False
        self._seen = seen
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
