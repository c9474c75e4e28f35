"""The variables, folder and user with which programs of an image are started."""

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from pydantic import BaseModel

from tracegrade_harness.errors import ImageRefused
from tracegrade_harness.images.description import ProcessSettings
from tracegrade_harness.parts.folders.walk import folder_at, regular_file

USUAL_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Folders of programs in an image that names none."""
_MOST_ID: Final = 2**32 - 2
_MOST_BYTES: Final = 1 << 20


class ImageSettings(BaseModel):
    """The settings of an image, with its user's numbers."""

    environment: dict[str, str]
    folder: str
    """Absolute path of the working folder."""
    user: int
    group: int


def settings_of(declared: ProcessSettings, root: Path) -> ImageSettings:
    """Return the settings of an unpacked image.

    Raises:
        ImageRefused: Its working folder or its user is broken or unknown.
    """
    folder = declared.WorkingDir or "/"
    if not folder.startswith("/") or ".." in PurePosixPath(folder).parts or "\0" in folder:
        msg = f"the image's working folder '{folder}' is not an absolute path without '..'; "
        raise ImageRefused(msg + "make the image again")
    user, group, home = _user(declared.User or "0", root)
    environment = {"PATH": USUAL_PATH, "HOME": home}
    for each in declared.Env or ():
        name, equals, value = each.partition("=")
        if not name or not equals or "\0" in each:
            msg = f"the image's variable {each!r} has no name or no value; make the image again"
            raise ImageRefused(msg)
        environment[name] = value
    return ImageSettings(environment=environment, folder=folder, user=user, group=group)


def _user(text: str, root: Path) -> tuple[int, int, str]:
    """Return the user's number, its group's number, and its home."""
    name, _, group_name = text.partition(":")
    rows = [*_rows(root, "passwd", 7)]
    row = next((row for row in rows if name in (row[0], row[2])), None)
    user = _number(row[2] if row else name, f"user '{name}'")
    group = _number(row[3], f"group of user '{name}'") if row else 0
    if group_name:
        groups = _rows(root, "group", 4)
        found = next((row for row in groups if group_name in (row[0], row[2])), None)
        group = _number(found[2] if found else group_name, f"group '{group_name}'")
    return user, group, (row[5] if row else "") or "/"


def _number(text: str, what: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and int(text) <= _MOST_ID):
        msg = f"the image has no {what}; name one of its users, or a number"
        raise ImageRefused(msg)
    return int(text)


def _rows(root: Path, name: str, columns: int) -> Iterator[list[str]]:
    """Yield the rows of a file in the image's `/etc`; none if it is missing or a link."""
    try:
        with folder_at(root, PurePosixPath("etc")) as folder, regular_file(folder, name) as file:
            text = os.read(file, _MOST_BYTES).decode(errors="replace")
    except OSError:
        return
    rows = (line.split(":") for line in text.splitlines())
    yield from (row for row in rows if len(row) == columns)
