"""The files of an image: in a folder, or in a tar archive that is not unpacked."""

import io
import posixpath
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final, Protocol

from tracegrade_harness.errors import ImageRefused
from tracegrade_harness.images.limits import ImageLimits
from tracegrade_harness.images.tar_members import members
from tracegrade_harness.parts.folders.walk import folder_at, regular_file

MOST_FILES: Final = 10_000
"""Most files in an archive of images; each layer has at most three."""


class ArchiveFiles(Protocol):
    """The files of an image, by their path."""

    def has(self, path: str) -> bool:
        """Return whether there is a file."""

    def open(self, path: str) -> io.BufferedReader:
        """Open a file.

        Raises:
            ImageRefused: There is none, or the path leads out of the archive.
        """


@contextmanager
def archive_files(source: Path) -> Iterator[ArchiveFiles]:
    """Open the files of an image during a block.

    Args:
        source: A folder or a tar archive.

    Raises:
        ImageRefused: It is neither, or cannot be read.
    """
    try:
        if source.is_dir():
            yield _Folder(source)
            return
        with source.open("rb") as file:
            yield _Tar(source, file)
    except OSError as error:
        msg = f"image '{source}' cannot be read: {error.strerror or error}; see that it exists"
        raise ImageRefused(msg) from error


class _Folder:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def has(self, path: str) -> bool:
        return (self._folder / path).is_file()

    def open(self, path: str) -> io.BufferedReader:
        at = PurePosixPath(path)
        if at.is_absolute() or ".." in at.parts or not at.parts:
            raise _missing(path)
        try:
            with folder_at(self._folder, at.parent) as folder, regular_file(folder, at.name) as fd:
                return open(f"/proc/self/fd/{fd}", "rb")
        except OSError as error:
            raise _missing(path) from error


class _Tar:
    def __init__(self, source: Path, file: IO[bytes]) -> None:
        if file.read(2) == b"\x1f\x8b":
            msg = f"image '{source}' is compressed; unpack it with gunzip"
            raise ImageRefused(msg)
        self._file = file
        self._members: dict[str, tarfile.TarInfo] = {}
        for member in members(file, ImageLimits(entries=MOST_FILES)):
            name = posixpath.normpath(member.name)
            if name in self._members and not member.isdir():
                msg = f"the archive has two files '{name}'; save the image again"
                raise ImageRefused(msg)
            self._members[name] = member

    def has(self, path: str) -> bool:
        return path in self._members

    def open(self, path: str) -> io.BufferedReader:
        member = self._members.get(posixpath.normpath(path))
        if member is not None and member.issym():  # older versions of Docker link equal layers
            at = posixpath.join(posixpath.dirname(path), member.linkname)
            member = self._members.get(posixpath.normpath(at))
        if member is None or not member.isreg() or member.sparse:
            raise _missing(path)
        return io.BufferedReader(_Slice(self._file, member.offset_data, member.size))


class _Slice(io.RawIOBase):
    """A part of an open file."""

    def __init__(self, file: IO[bytes], start: int, size: int) -> None:
        super().__init__()
        self._file, self._at, self._end = file, start, start + size

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read the next bytes into a buffer; return their number."""
        self._file.seek(self._at)
        content = self._file.read(min(len(buffer), self._end - self._at))
        buffer[: len(content)] = content
        self._at += len(content)
        return len(content)


def _missing(path: str) -> ImageRefused:
    return ImageRefused(f"the image has no file '{path}'; save it again")
