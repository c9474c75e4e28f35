"""Copies folders with everything in them: modes, times, links, FIFOs, holes.

It makes no hard links: an agent that writes into a file in place would change the original.
"""

import contextlib
import fcntl
import os
import stat
import sys
from pathlib import Path, PurePosixPath

from tracegrade_harness.parts.folders.contents import data_ranges
from tracegrade_harness.parts.folders.walk import MAX_DEPTH, folder_at, regular_file, subfolder

_HERE = PurePosixPath()
_BLOCK = 1 << 20
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FICLONE = 0x40049409  # linux/fs.h: share the blocks of another file until one of them is written


def copy_folder(source: Path, target: Path, leave_out: frozenset[str] = frozenset()) -> None:
    """Copy the content of a folder into another one, which is created if it is missing.

    Args:
        source: A folder at a trusted path; its content is not trusted.
        target: A folder that no other process changes.
        leave_out: Paths below `source` that are not copied.

    Raises:
        OSError: An entry could not be read or written.
    """
    target.mkdir(parents=True, exist_ok=True)
    with folder_at(source, _HERE) as old, folder_at(target, _HERE) as new:
        copy_entries(old, new, leave_out)


def copy_entries(old: int, new: int, leave_out: frozenset[str] = frozenset()) -> None:
    """Copy the content of an open folder into another open folder; see `copy_folder`."""
    _Copy(leave_out).entries(old, new)


def copy_entry(old: int, new: int, name: str) -> None:
    """Copy the entry with a name, if it exists, from one open folder into another."""
    with contextlib.suppress(FileNotFoundError):
        _Copy(frozenset()).entry(old, new, name)


def copy_content(source: int, target: int) -> None:
    """Copy the content of one open file into an empty one; holes stay holes."""
    for start, end in data_ranges(source):
        for at in range(start, end, _BLOCK):
            os.pwrite(target, os.pread(source, min(_BLOCK, end - at), at), at)
    os.ftruncate(target, os.fstat(source).st_size)


class _Copy:
    """A copy in which unreadable files have no content, but their size and their permissions."""

    def __init__(self, leave_out: frozenset[str]) -> None:
        self._leave_out = leave_out

    def entries(self, old: int, new: int, below: str = "", depth: int = 1) -> None:
        for name in os.listdir(old):
            if below + name not in self._leave_out:
                with contextlib.suppress(FileNotFoundError):  # removed by now
                    self.entry(old, new, name, below, depth)
        copy_attributes(old, new)

    def entry(self, old: int, new: int, name: str, below: str = "", depth: int = 1) -> None:
        info = os.lstat(name, dir_fd=old)
        if stat.S_ISDIR(info.st_mode):
            self._folder(old, new, name, below, depth)
        elif stat.S_ISREG(info.st_mode):
            _copy_file(old, new, name, info)
        elif stat.S_ISLNK(info.st_mode):
            os.symlink(os.readlink(name, dir_fd=old), name, dir_fd=new)
            os.utime(name, ns=_times(info), dir_fd=new, follow_symlinks=False)
        elif stat.S_ISFIFO(info.st_mode) or stat.S_ISSOCK(info.st_mode):
            os.mknod(name, info.st_mode, dir_fd=new)
            os.chmod(name, stat.S_IMODE(info.st_mode), dir_fd=new)

    def _folder(self, old: int, new: int, name: str, below: str, depth: int) -> None:
        os.mkdir(name, 0o700, dir_fd=new)
        try:
            with subfolder(old, name) as below_old, subfolder(new, name) as below_new:
                if depth < MAX_DEPTH:
                    self.entries(below_old, below_new, f"{below}{name}/", depth + 1)
        except PermissionError:
            mode = os.lstat(name, dir_fd=old).st_mode
            os.chmod(name, stat.S_IMODE(mode), dir_fd=new)


def _copy_file(old: int, new: int, name: str, info: os.stat_result) -> None:
    target = os.open(name, _NEW, 0o600, dir_fd=new)
    try:
        with regular_file(old, name) as source:
            if not _share_blocks(source, target):
                copy_content(source, target)
            copy_attributes(source, target)
    except PermissionError:
        os.ftruncate(target, info.st_size)
        os.fchmod(target, stat.S_IMODE(info.st_mode))
    finally:
        os.close(target)


def _share_blocks(source: int, target: int) -> bool:
    """Return whether the file system could make a copy that uses no space yet."""
    if sys.platform != "linux":
        return False
    try:
        fcntl.ioctl(target, _FICLONE, source)
    except OSError:
        return False
    return True


def copy_attributes(old: int, new: int) -> None:
    """Copy the mode, the times, and extended attributes if the system has them."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # some file systems and some users cannot set them
            for name in os.listxattr(old):
                os.setxattr(new, name, os.getxattr(old, name))
    info = os.fstat(old)
    os.fchmod(new, stat.S_IMODE(info.st_mode))
    os.utime(new, ns=_times(info))


def _times(info: os.stat_result) -> tuple[int, int]:
    return info.st_atime_ns, info.st_mtime_ns
