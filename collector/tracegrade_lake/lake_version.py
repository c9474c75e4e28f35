"""Version of a lake's layout, so that older code refuses a lake that it would misread.

`lake.json` states it: `{"version": 1, "written_by": "0.1.0"}`. The file is at the top of a lake,
and of the state folder of a lake with a URL. Every writer notes the version, with the release of
this package that noted it first. A lake without the file is older than these notes and has version
1.
"""

import json
import secrets
from importlib.metadata import version
from pathlib import Path
from typing import Final

from tracegrade_lake.errors import LakeDamaged, LakeNewer
from tracegrade_lake.files import sync_folder, write_synced

LAKE_VERSION: Final = 1
"""Raised when older code would misread, or damage, newly written data."""

VERSION_FILE: Final = "lake.json"


def is_noted(content: bytes | None, location: str | Path) -> bool:
    """Return whether a lake's note has this version; False if it is older or missing.

    Args:
        content: Content of `lake.json`; None if it does not exist.
        location: The lake's path or URL.

    Raises:
        LakeDamaged: The note cannot be read.
        LakeNewer: The lake has a later version than this code knows.
    """
    if content is None:
        return False
    found, written_by = _read(content, location)
    if found > LAKE_VERSION:
        msg = (
            f"the lake {location} has version {found}, written by tracegrade {written_by}, and "
            f"tracegrade {version('tracegrade')} knows versions up to {LAKE_VERSION}; "
            "upgrade tracegrade"
        )
        raise LakeNewer(msg)
    return found == LAKE_VERSION


def note() -> bytes:
    """Return the content of `lake.json` as this code writes it."""
    content = {"version": LAKE_VERSION, "written_by": version("tracegrade")}
    return json.dumps(content).encode() + b"\n"


def check_version(folder: Path) -> bool:
    """Return whether a folder's note says this version; raise as `is_noted` does."""
    try:
        content = (folder / VERSION_FILE).read_bytes()
    except FileNotFoundError:
        content = None
    except OSError as error:
        raise _unreadable(folder, error.strerror) from error
    return is_noted(content, folder)


def note_version(folder: Path) -> None:
    """Note this version in a folder unless it is there; raise as `is_noted` does.

    Several processes may do so at once: each writes a file of its own, the last name counts.

    Raises:
        OSError: The disk refused.
    """
    if check_version(folder):
        return
    unfinished = folder / f".{VERSION_FILE}.{secrets.token_hex(8)}.unfinished"
    write_synced(unfinished, lambda file: file.write(note()))
    unfinished.rename(folder / VERSION_FILE)
    sync_folder(folder)


def _read(content: bytes, location: str | Path) -> tuple[int, str]:
    """Return version and writer."""
    try:
        noted = json.loads(content)
        return int(noted["version"]), str(noted.get("written_by", "of unknown release"))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _unreadable(location, "it is not an object with a version") from error


def _unreadable(location: str | Path, fact: str | None) -> LakeDamaged:
    return LakeDamaged(
        f"{location}/{VERSION_FILE}, the lake's version, cannot be read ({fact}); restore it, or "
        "remove it if nothing later than this tracegrade wrote to the lake"
    )
