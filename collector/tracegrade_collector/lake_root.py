"""The folder that is a lake: which paths it may have, making it, and what to say if it fails.

Apart from `lake/` because the receiver needs no tables, and starts in half the time without them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

from tracegrade_collector.errors import BadLakePath, LakeMissing, LakeUnwritable
from tracegrade_collector.files import make_folder


def existing_root(root: str | Path) -> Path:
    """Return the absolute path of a lake.

    Raises:
        BadLakePath: The Delta library would read the path as another one.
        LakeMissing: There is no such folder.
    """
    path = _checked(root)
    if not path.is_dir():
        msg = f"there is no lake at {root}; `tracegrade collect --lake {root}` makes one"
        raise LakeMissing(msg)
    return path


def made_root(root: str | Path) -> Path:
    """Return the absolute path of a lake, which is made if absent, for its owner alone.

    Raises:
        BadLakePath: A file has this path, or the Delta library would read it as another one.
        LakeUnwritable: The folder cannot be made.
    """
    path = _checked(root)
    with writing_to(path):
        try:
            make_folder(path)
        except (FileExistsError, NotADirectoryError) as error:
            msg = f"the lake must be a folder, and {error.filename} is a file; choose another path"
            raise BadLakePath(msg) from error
    return path


@contextmanager
def writing_to(root: Path) -> Iterator[None]:
    """Say in one line which lake the disk refused to change, and why.

    Raises:
        LakeUnwritable: The block raised an OSError.
    """
    try:
        yield
    except OSError as error:
        msg = f"cannot write to the lake {root}: {_cause(error)}; see to the disk, then try again"
        raise LakeUnwritable(msg) from error


def _cause(error: OSError) -> str:
    """Return one line; deltalake writes several, in colour, and the cause stands last."""
    if error.strerror:
        return f"{error.strerror} ({error.filename})" if error.filename else error.strerror
    return str(error).splitlines()[-1].rpartition("\x1b[0m")[2].strip()


def _checked(root: str | Path) -> Path:
    if unquote(str(root)) != str(root):
        msg = f"the lake's path must hold no escape such as %20, got {root}"
        raise BadLakePath(msg)
    return Path(root).absolute()
