"""Reads folders that an agent has left, without being led out of them.

Each folder is opened from its parent and never by a whole path, and no symbolic link is followed.
So no exchange of a folder during the walk leads outside.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import NamedTuple

MAX_DEPTH = 100
"""Depth of folders that are read; each level costs an open file. No template is deeper, so deeper
entries are below a folder that is itself new."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class WalkedFile(NamedTuple):
    """An entry of a folder."""

    folder: int
    """The open folder that contains it; valid until the next entry is requested."""
    name: str
    path: str
    """The path from the start of the walk."""
    info: os.stat_result
    is_empty: bool = False
    """It is a folder without entries."""
    unread: str = ""
    """Why a folder's entries are not listed, if they are not."""


@contextmanager
def folder_at(root: Path, at: PurePosixPath) -> Iterator[int]:
    """Open the folder at a path below a trusted folder.

    Raises:
        OSError: The folder, or one on the way to it, is missing, a link, unreadable or another
            kind of file.
    """
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in at.parts:
            below = _open_folder(folder, name)
            os.close(folder)
            folder = below
        yield folder
    finally:
        os.close(folder)


@contextmanager
def subfolder(folder: int, name: str) -> Iterator[int]:
    """Open a folder inside an open folder."""
    below = _open_folder(folder, name)
    try:
        yield below
    finally:
        os.close(below)


@contextmanager
def regular_file(folder: int, name: str) -> Iterator[int]:
    """Open a file in an open folder to read it; never waits.

    Raises:
        FileNotFoundError: There is no such entry, or it is not a regular file.
        OSError: It cannot be opened.
    """
    try:
        file = os.open(name, _FILE, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # a link, a socket
            raise FileNotFoundError(name) from error
        raise
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise FileNotFoundError(name)
        yield file
    finally:
        os.close(file)


def walk(folder: int, below: str = "", depth: int = 1) -> Iterator[WalkedFile]:
    """Yield everything below an open folder, a folder's entries before the folder.

    Entries that are removed during the walk are left out.
    """
    for name in os.listdir(folder):
        try:
            info = os.lstat(name, dir_fd=folder)
        except FileNotFoundError:
            continue
        entry = WalkedFile(folder, name, below + name, info)
        if stat.S_ISDIR(info.st_mode):
            yield from _walk_folder(entry, depth)
        else:
            yield entry


def _open_folder(folder: int, name: str) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ELOOP:  # errno for a link; some systems give ENOTDIR
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from error
        raise


def _walk_folder(entry: WalkedFile, depth: int) -> Iterator[WalkedFile]:
    if depth >= MAX_DEPTH:
        yield entry._replace(unread="deeper than is read")
        return
    try:
        with subfolder(entry.folder, entry.name) as below:
            is_empty = not os.listdir(below)
            yield from walk(below, f"{entry.path}/", depth + 1)
    except PermissionError:
        yield entry._replace(unread="unreadable")
    except (FileNotFoundError, NotADirectoryError):
        return
    else:
        yield entry._replace(is_empty=is_empty)
