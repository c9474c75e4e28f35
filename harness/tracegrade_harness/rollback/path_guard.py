"""Resolves paths from an agent within a folder and never out of it.

It allows no `..` and no link on the way, because an agent's files may point anywhere.
"""

import os
import stat
from pathlib import Path
from typing import Final

MAX_BYTES: Final = 8_000_000
"""Largest file that is read; a record of 100,000 entries is smaller."""


class PathOutside(Exception):
    """A path leads out of its folder, or cannot be read; the text says why."""


def names_of(path: str) -> list[str]:
    """Return the names of a relative path.

    Raises:
        PathOutside: It is absolute, has a `..`, or is none.
    """
    names = [name for name in path.split("/") if name not in ("", ".")]
    if path.startswith("/") or ".." in names or not names or "\0" in path:
        msg = f"path '{path[:200]}' is not one within the environment"
        raise PathOutside(msg)
    return names


def inside(folder: Path, path: str) -> Path:
    """Return a path below a folder; the file there may be a link, or missing.

    Raises:
        PathOutside: It leads out, or a folder on the way is a link.
    """
    *parents, last = names_of(path)
    found = folder
    for name in parents:
        found /= name
        if found.is_symlink():
            msg = f"path '{path[:200]}' leads through a link"
            raise PathOutside(msg)
    return found / last


def read_inside(folder: Path, path: str) -> bytes | None:
    """Return the content of a file in a folder; None if there is none.

    This follows no link and waits for no process, even if a living process changes the folder.

    Raises:
        PathOutside: The path leads out, or its file is not regular, too long or unreadable.
    """
    try:
        number = _open(folder, names_of(path))
    except FileNotFoundError:
        return None
    except OSError as error:
        msg = f"it cannot be read: {error.strerror}"
        raise PathOutside(msg) from error
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        msg = "it is not a regular file"
        raise PathOutside(msg)
    with open(number, "rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        msg = f"it has more than {MAX_BYTES:,} bytes"
        raise PathOutside(msg)
    return content


def _open(folder: Path, names: list[str]) -> int:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for index, name in enumerate(names):
        is_last = index == len(names) - 1
        more = os.O_NONBLOCK if is_last else os.O_DIRECTORY
        try:
            below = os.open(name, flags | more, dir_fd=number)
        finally:
            os.close(number)
        number = below
    return number
