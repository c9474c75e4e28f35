"""Writes the entries of layers into a folder, and never outside of it.

Each folder is opened from its parent, and no link is followed. So no link of an image leads a
later entry anywhere. The user who unpacks owns all files. Devices, owners and extended attributes
are not written, and neither are the bits that change a program's user.
"""

import contextlib
import os
import stat
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Final

from tracegrade_harness.errors import ImageRefused
from tracegrade_harness.images.limits import ImageLimits
from tracegrade_harness.parts.folders.folders import remove
from tracegrade_harness.parts.folders.walk import folder_at

_BLOCK: Final = 1 << 20
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LONGEST_LINK: Final = 4095
_LONGEST_NAME: Final = 255
_ALLOWED_MODE: Final = 0o1777
_PARENT_MODE: Final = 0o755
_WHILE_UNPACKING: Final = 0o700


class Tree:
    """A folder into which layers are written, the lowest first."""

    def __init__(self, root: Path, limits: ImageLimits) -> None:
        """Take an empty folder."""
        self._root = root
        self._limits = limits
        self._left_bytes = limits.total_bytes
        self._left_entries = limits.entries
        self._folders: dict[tuple[str, ...], tuple[int, float]] = {(): (_PARENT_MODE, 0)}

    def add(self, member: tarfile.TarInfo, parts: tuple[str, ...], layer: IO[bytes]) -> None:
        """Write an entry, in the place of an entry of a lower layer.

        Raises:
            ImageRefused: It is a device, or a link or a file is on the way to it.
            OSError: It could not be written.
        """
        self._count()
        if member.isdir():
            self._folders[parts] = (member.mode, member.mtime)
        if not parts:
            return
        with self._parent(parts) as parent:
            if member.isdir():
                self._folder(parent, parts[-1])
                return
            _clear(parent, parts[-1])
            if member.issym():
                os.symlink(_link_text(member), parts[-1], dir_fd=parent)
            elif member.islnk():
                self._hard_link(parent, parts[-1], parts_of(member.linkname, self._limits))
            elif member.isfifo():
                os.mkfifo(parts[-1], member.mode & _ALLOWED_MODE, dir_fd=parent)
            else:
                self._file(parent, parts[-1], member, layer)

    def remove(self, parts: tuple[str, ...]) -> None:
        """Remove an entry of lower layers, if it exists."""
        with contextlib.suppress(FileNotFoundError), self._existing(parts[:-1]) as parent:
            _clear(parent, parts[-1])

    def empty(self, parts: tuple[str, ...]) -> None:
        """Remove all entries of a folder of lower layers, if it exists."""
        with contextlib.suppress(FileNotFoundError), self._existing(parts) as folder:
            for name in os.listdir(folder):
                _clear(folder, name)

    def finish(self) -> None:
        """Set the modes and times of all folders, the deepest first."""
        for parts in sorted(self._folders, key=len, reverse=True):
            mode, changed_at = self._folders[parts]
            with (
                contextlib.suppress(FileNotFoundError, NotADirectoryError),
                folder_at(self._root, PurePosixPath(*parts)) as folder,
            ):
                os.fchmod(folder, mode & _ALLOWED_MODE)
                _set_time(folder, changed_at)

    def _count(self) -> None:
        self._left_entries -= 1
        if self._left_entries < 0:
            msg = f"the image has more than {self._limits.entries} entries; make it smaller"
            raise ImageRefused(msg)

    @contextmanager
    def _existing(self, parts: tuple[str, ...]) -> Iterator[int]:
        """Open an existing folder.

        Raises:
            FileNotFoundError: It is missing.
            ImageRefused: It is a link or a file, or one is on the way to it.
        """
        with ExitStack() as stack:
            try:
                folder = stack.enter_context(folder_at(self._root, PurePosixPath(*parts)))
            except NotADirectoryError as error:
                shown = "/".join(parts)
                msg = f"'{shown}' leads through a link or a file; make the image without it"
                raise ImageRefused(msg) from error
            yield folder

    @contextmanager
    def _parent(self, parts: tuple[str, ...]) -> Iterator[int]:
        """Open the folder of an entry; make missing folders on the way."""
        with ExitStack() as stack:
            try:
                folder = stack.enter_context(self._existing(parts[:-1]))
            except FileNotFoundError:
                self._make(parts[:-1])
                folder = stack.enter_context(self._existing(parts[:-1]))
            yield folder

    def _make(self, parts: tuple[str, ...]) -> None:
        for length in range(1, len(parts) + 1):
            with self._existing(parts[: length - 1]) as folder:
                try:
                    os.mkdir(parts[length - 1], _WHILE_UNPACKING, dir_fd=folder)
                except FileExistsError:
                    continue
            self._count()
            self._folders.setdefault(parts[:length], (_PARENT_MODE, 0))

    def _folder(self, parent: int, name: str) -> None:
        if not _is_folder(parent, name):
            _clear(parent, name)
            os.mkdir(name, _WHILE_UNPACKING, dir_fd=parent)

    def _hard_link(self, parent: int, name: str, target: tuple[str, ...]) -> None:
        shown = "/".join(target)
        try:
            with self._existing(target[:-1]) as folder:
                mode = os.lstat(target[-1], dir_fd=folder).st_mode if target else stat.S_IFDIR
                if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
                    msg = f"hard link '{name}' to '{shown}', not a file; make the image again"
                    raise ImageRefused(msg)
                os.link(
                    target[-1], name, src_dir_fd=folder, dst_dir_fd=parent, follow_symlinks=False
                )
        except FileNotFoundError as error:
            msg = f"hard link '{name}' to '{shown}', which does not exist; make the image again"
            raise ImageRefused(msg) from error

    def _file(self, parent: int, name: str, member: tarfile.TarInfo, layer: IO[bytes]) -> None:
        extents = [*(member.sparse or [(0, member.size)])]
        self._left_bytes -= sum(size for _, size in extents)
        wrong = any(at < 0 or size < 0 or at + size > member.size for at, size in extents)
        if wrong or not 0 <= member.size <= self._limits.total_bytes or self._left_bytes < 0:
            msg = f"file '{member.name}' of {member.size} bytes is too large or broken; make it "
            raise ImageRefused(msg + "smaller")
        target = os.open(name, _NEW, 0o600, dir_fd=parent)
        try:
            layer.seek(member.offset_data)
            for at, size in extents:
                _copy(layer, target, at, size, member.name)
            os.ftruncate(target, member.size)
            os.fchmod(target, member.mode & _ALLOWED_MODE)
            _set_time(target, member.mtime)
        finally:
            os.close(target)


def parts_of(name: str, limits: ImageLimits) -> tuple[str, ...]:
    """Return the names on the path of an entry below the root; absolute paths start there, too.

    Raises:
        ImageRefused: The path leads upwards, or is too deep or too long.
    """
    parts = tuple(part for part in name.split("/") if part not in {"", "."})
    if ".." in parts or "\0" in name:
        msg = f"{name!r} has '..' or a NUL character in its path; make the image without it"
        raise ImageRefused(msg)
    if len(parts) > limits.depth or any(len(os.fsencode(part)) > _LONGEST_NAME for part in parts):
        msg = f"{name[:60]!r}… has more than {limits.depth} folders, or a name of more than "
        raise ImageRefused(msg + f"{_LONGEST_NAME} bytes; make the image without it")
    return parts


def _link_text(member: tarfile.TarInfo) -> str:
    """Return the content of a symbolic link.

    Raises:
        ImageRefused: No link can have it.
    """
    text = member.linkname
    if not text or "\0" in text or len(os.fsencode(text)) > _LONGEST_LINK:
        msg = f"link '{member.name}' is empty, too long, or has a NUL character; make it again"
        raise ImageRefused(msg)
    return text


def _copy(layer: IO[bytes], target: int, at: int, size: int, name: str) -> None:
    end = at + size
    while at < end:
        block = layer.read(min(_BLOCK, end - at))
        if not block:
            msg = f"the archive ends inside file '{name}'; save the image again"
            raise ImageRefused(msg)
        os.pwrite(target, block, at)
        at += len(block)


def _clear(folder: int, name: str) -> None:
    """Remove an entry of an open folder, of any kind, if it exists."""
    remove(Path(f"/proc/self/fd/{folder}/{name}"))


def _is_folder(folder: int, name: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(name, dir_fd=folder).st_mode)
    except FileNotFoundError:
        return False


def _set_time(opened: int, changed_at: float) -> None:
    with contextlib.suppress(OSError, OverflowError, ValueError):  # a time that none can have
        os.utime(opened, (changed_at, changed_at))
