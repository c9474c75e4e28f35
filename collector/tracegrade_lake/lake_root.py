"""The location of a lake: valid paths and URLs, creation of its folder, and disk errors.

Kept apart from `lake.py`, because the receiver needs no tables and starts in half the time
without them.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from urllib.parse import unquote

from tracegrade_lake.errors import BadLakePath, LakeForbidden, LakeMissing, LakeUnwritable
from tracegrade_lake.files import make_folder
from tracegrade_lake.lake_version import note_version

URL = re.compile(
    r"(s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"
    r"|gs://[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]"
    r"|az://[a-z0-9][a-z0-9-]{1,61}[a-z0-9]"
    r"|abfss://[a-z0-9][a-z0-9-]{1,61}[a-z0-9]@[a-z0-9]{3,24}\.dfs\.core\.windows\.net)"
    r"(/[A-Za-z0-9!_.*'()=-]+)*"
)
"""Bucket and prefix; what needs no escape, so that every client reads it alike."""

URL_FORMS = (
    "s3://BUCKET/PREFIX, az://CONTAINER/PREFIX, "
    "abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/PREFIX or gs://BUCKET/PREFIX"
)

STATE_VARIABLE = "TRACEGRADE_STATE"
TENANTS_FOLDER = "tenants"
"""In a lake; holds a whole lake for each tenant."""


def lake_url(lake: str | Path) -> str | None:
    """Return a lake's URL without a final slash; None for a path.

    Raises:
        BadLakePath: It is a URL of another kind.
    """
    text = str(lake)
    if "://" not in text:
        return None
    url = text.rstrip("/")
    if not URL.fullmatch(url) or {".", ".."} & set(url.split("/")):
        msg = f"a lake is a folder or {URL_FORMS}, in plain letters and digits, got {lake}"
        raise BadLakePath(msg)
    return url


def state_folder(lake: str | Path, state: str | Path | None = None) -> Path:
    """Return the absolute path of what a lake keeps on this machine: log, quarantine, locks.

    Args:
        lake: Its path or URL.
        state: The folder, if it was chosen; else `TRACEGRADE_STATE`. A lake in a folder is its
            own state.

    Raises:
        BadLakePath: The lake cannot have this path.
    """
    url = lake_url(lake)
    if url is None:
        return _checked(lake)
    chosen = state or os.environ.get(STATE_VARIABLE)
    if chosen:
        return Path(chosen).absolute()
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    readable = re.sub(r"[^A-Za-z0-9]+", "-", url)
    return Path(home) / "tracegrade" / f"{readable}-{hashlib.sha256(url.encode()).hexdigest()[:8]}"


def existing_root(root: str | Path) -> Path:
    """Return the absolute path of a lake.

    Raises:
        BadLakePath: A file has this path, or the Delta library would read it as another one.
        LakeMissing: There is no such folder.
        LakeForbidden: Its owner keeps it from this user.
    """
    path = _checked(root)
    if path.is_file():
        raise BadLakePath(_no_folder(root))
    if not path.is_dir():
        command = f"tracegrade collect --lake {quote(str(root))}"
        msg = f"there is no lake at {root}; `{command}` creates one"
        raise LakeMissing(msg)
    if not os.access(path, os.R_OK | os.X_OK):
        msg = f"the lake {root} may not be read by this user; run this as its owner"
        raise LakeForbidden(msg)
    return path


def made_root(root: str | Path) -> Path:
    """Return the absolute path of a lake, which is made if absent, for its owner alone.

    Raises:
        BadLakePath: A file has this path, or the Delta library would read it as another one.
        LakeNewer: It has a later version than this code knows.
        LakeUnwritable: The folder cannot be made.
    """
    path = _checked(root)
    with writing_to(path):
        try:
            make_folder(path)
        except (FileExistsError, NotADirectoryError) as error:
            raise BadLakePath(_no_folder(error.filename)) from error
        note_version(path)
    return path


def _no_folder(path: str | Path) -> str:
    return f"the lake must be a folder, and {path} is a file; choose another path"


@contextmanager
def writing_to(root: Path) -> Iterator[None]:
    """Say in one line which lake the disk refused to change, and why.

    Raises:
        LakeUnwritable: The block raised an OSError.
    """
    try:
        yield
    except OSError as error:
        msg = f"cannot write to the lake {root}: {_cause(error)}; check the disk, then try again"
        raise LakeUnwritable(msg) from error


def _cause(error: OSError) -> str:
    """Return one line; deltalake writes several, in color, and the cause stands last."""
    if error.strerror:
        return f"{error.strerror} ({error.filename})" if error.filename else error.strerror
    return str(error).splitlines()[-1].rpartition("\x1b[0m")[2].strip()


def _checked(root: str | Path) -> Path:
    if not str(root):  # `--lake "$UNSET"`
        msg = "the lake's path is empty; name a folder, such as lake, or . for this one"
        raise BadLakePath(msg)
    if unquote(str(root)) != str(root):
        msg = f"the lake's path must hold no escape such as %20, got {root}"
        raise BadLakePath(msg)
    return Path(root).absolute()
