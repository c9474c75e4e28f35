"""Reads an agent's files without being led out of their folder.

No link is followed, at the end of a path or on the way. Only regular files are opened: a FIFO
would wait forever, and opening a device may have effects.
"""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final, NamedTuple

from tracegrade_harness.errors import VerifierFailed
from tracegrade_harness.parts.verifying.result import printable

MAX_PATHS: Final = 1_000_000
"""Most paths below one folder that are read."""

MAX_DEPTH: Final = 200
"""Depth of folders; deeper entries are neither read nor copied."""

_KINDS: Final[tuple[tuple[Callable[[int], bool], str], ...]] = (
    (stat.S_ISREG, "file"),
    (stat.S_ISDIR, "folder"),
    (stat.S_ISLNK, "link"),
    (stat.S_ISFIFO, "FIFO"),
    (stat.S_ISSOCK, "socket"),
)


class NotReadable(Exception):
    """A path cannot be read in the requested way; the text says why."""


class TreeFile(NamedTuple):
    """An entry at a path."""

    kind: str
    """file | folder | link | FIFO | socket | device | unreadable path."""
    size: int = 0
    """Bytes of a file."""
    target: str = ""
    """Target of a link."""


def found(path: str) -> TreeFile:
    """Return the entry at a path; for a link, the link itself."""
    try:
        status = os.lstat(path)
        kind = _kind(status)
        target = os.readlink(path) if kind == "link" else ""
    except OSError:
        return TreeFile("unreadable path")
    return TreeFile(kind, status.st_size if kind == "file" else 0, target)


def _kind(status: os.stat_result) -> str:
    return next((kind for is_kind, kind in _KINDS if is_kind(status.st_mode)), "device")


def walk(folder: Path) -> Iterator[tuple[str, TreeFile]]:
    """Yield entries below a folder with their relative paths, each folder before its content.

    A folder that cannot be read, or is nested too deeply, is an unreadable path, too.

    Raises:
        VerifierFailed: There are more than `MAX_PATHS` paths.
    """
    waiting, number = [""], 0
    while waiting:
        inside = waiting.pop()
        try:
            names = _names(folder, inside)
        except OSError:
            yield inside or ".", TreeFile("unreadable path")
            continue
        number += len(names)
        if number > MAX_PATHS:
            msg = f"'{folder.name}' holds more than {MAX_PATHS:,} paths; verify a part of them"
            raise VerifierFailed(msg)
        for name in names:
            path = f"{inside}/{name}" if inside else name
            each = found(f"{folder}/{path}")
            yield path, each
            waiting += [path] if each.kind == "folder" else []


def _names(folder: Path, inside: str) -> list[str]:
    if inside.count("/") >= MAX_DEPTH:
        msg = "nested too deeply"
        raise OSError(msg)
    return sorted(os.listdir(folder / inside))


@contextmanager
def opened(root: Path, path: str) -> Iterator[BinaryIO]:
    """Open a regular file below a folder.

    Raises:
        NotReadable: There is none, or a link leads there.
    """
    with open(_descriptor(root, path, "file"), "rb") as file:
        yield file


def read(root: Path, path: str, limit: int) -> bytes:
    """Return the content of a regular file below a folder.

    Raises:
        NotReadable: There is none, a link leads there, or it has more bytes than the limit.
    """
    with opened(root, path) as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        msg = f"'{printable(path)}' has more than {limit:,} bytes"
        raise NotReadable(msg)
    return content


def folder(root: Path, path: str) -> Path:
    """Return a folder below another.

    Raises:
        NotReadable: There is none, or a link leads there.
    """
    os.close(_descriptor(root, path, "folder"))
    return root / path


def _descriptor(root: Path, path: str, kind: str) -> int:
    """Open the entry at a path below a folder, name by name and without following links."""
    names = PurePosixPath(path).parts
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    for i, name in enumerate(names, 1):
        outer = descriptor
        try:
            _require(name, outer, kind if i == len(names) else "folder")
            descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=outer)
        except NotReadable as error:
            msg = f"'{printable(path)}' {error}"
            raise NotReadable(msg) from None
        except OSError as error:
            missing = isinstance(error, FileNotFoundError)
            reason = "is not there" if missing else f"cannot be read: {error.strerror}"
            msg = f"'{printable(path)}' {reason}"
            raise NotReadable(msg) from error
        finally:
            os.close(outer)
    return descriptor


def _require(name: str, outer: int, kind: str) -> None:
    there = _kind(os.stat(name, dir_fd=outer, follow_symlinks=False))
    if there != kind:
        msg = "leads through a link" if there == "link" else f"leads to a {there}, not to a {kind}"
        raise NotReadable(msg)
