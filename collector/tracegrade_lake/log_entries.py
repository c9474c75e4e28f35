"""Reads entries of a table's log without trusting them.

A hostile writer or a flipped bit cannot make a reader open files elsewhere or fail with an error
of the Delta library.
"""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Final
from urllib.parse import unquote

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from tracegrade_lake.errors import LakeDamaged

ENTRY_NAME: Final = re.compile(r"(\d{20})\.json")
CHECKPOINT_NAME: Final = re.compile(r"(\d{20})\.checkpoint\.parquet")
"""Names of files of a log; the group is the version."""


def transaction_version(delta: DeltaTable, app_id: str) -> int | None:
    """Return the highest version that an application noted in the table; None if it never did.

    Raises:
        LakeDamaged: An entry of the log is not as entries are.
    """
    with reading_log(delta):
        return delta.transaction_version(app_id)


def entries_after_checkpoint(log: Path) -> int:
    """Return how many entries of a log in a folder come after its last checkpoint."""
    names = os.listdir(log)
    checkpoint = max(_versions(names, CHECKPOINT_NAME), default=-1)
    return sum(version > checkpoint for version in _versions(names, ENTRY_NAME))


def _versions(names: Iterable[str], form: re.Pattern[str]) -> Iterator[int]:
    """Return the versions of the files whose names have a form."""
    return (int(found[1]) for found in map(form.fullmatch, names) if found)


@contextmanager
def reading_log(delta: DeltaTable) -> Iterator[None]:
    """Say in one line which table's log could not be read in the block.

    Raises:
        LakeDamaged: It could not.
    """
    try:
        yield
    except (DeltaError, ValueError) as error:
        location = unquote(delta.table_uri.removeprefix("file://")).rstrip("/")
        fact = (str(error).splitlines() or [type(error).__name__])[0]
        msg = f"the log of {location} cannot be read ({fact}); see `tracegrade lake repair`"
        raise LakeDamaged(msg) from error


def path_inside(path: str, delta: DeltaTable) -> str:
    """Return a file's path as the log has it, if it is inside the table's folder.

    Raises:
        LakeDamaged: The path is absolute, a URL, or contains `..`; tracegrade never writes such
            names.
    """
    is_elsewhere = "://" in path or path.startswith("/") or "\0" in path
    if is_elsewhere or {"..", ""} & {*PurePosixPath(unquote(path)).parts, path}:
        with reading_log(delta):
            msg = f"it names the file '{path}', which is not inside the table"
            raise ValueError(msg)
    return path
