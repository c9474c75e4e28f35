"""A baseline: what a comparison reads of a release, in a folder without any text of its runs.

Caches and artifacts of CI are readable by everyone who reads the repository, so texts of users,
models and tools stay in the lake.
"""

import datetime
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tracegrade.terminal.visible import visible
from tracegrade_ci.errors import CheckRefused
from tracegrade_ci.release_rows import COMPARED, ReleaseRows, ScoredBy, without_texts
from tracegrade_lake import Table
from tracegrade_queries.engine.staged import typed

NOTES: Final = "baseline.json"
VERSION: Final = 1
"""Rises where a baseline gets another form."""
MOST_NOTES_BYTES: Final = 8 * 1024**2

FILES: Final = (NOTES, *(f"{table.name}.parquet" for table in COMPARED))
"""Names of the files of a baseline."""

ShortText = Annotated[str, Field(max_length=4096)]


class BaselineNotes(BaseModel):
    """The contents of `baseline.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = VERSION
    release: ShortText
    commit: ShortText | None
    """The commit that the release was made from; None if it was not given."""
    created: datetime.datetime
    """Time of the export, UTC."""
    runs: int
    scorer_version: ShortText
    task_hashes: Mapping[ShortText, tuple[ShortText, ...]]
    """Of each known task."""
    prices: ShortText | None = None
    """Digest of the prices that costs are based on; None of an earlier version."""


@dataclass(frozen=True)
class StoredBaseline:
    """A baseline that was read."""

    notes: BaselineNotes
    rows: ReleaseRows

    def age(self, now: datetime.datetime) -> datetime.timedelta:
        """Return the time since it was exported."""
        return now - self.notes.created


@dataclass(frozen=True)
class NoBaseline:
    """There is none that can be used."""

    reason: str
    """Ends a sentence."""


def write_baseline(
    folder: Path, rows: ReleaseRows, scored: ScoredBy, release: str, commit: str | None
) -> BaselineNotes:
    """Write a baseline, in place of the one that the folder has.

    Raises:
        CheckRefused: The folder cannot be written, or holds other files.
    """
    notes = BaselineNotes(
        release=release,
        commit=commit,
        created=datetime.datetime.now(datetime.UTC).replace(microsecond=0),
        runs=scored.runs,
        scorer_version=scored.scorer_version,
        task_hashes=scored.task_hashes,
        prices=scored.prices,
    )
    files = {
        f"{table.name}.parquet": _as_parquet(found) for table, found in without_texts(rows).items()
    }
    text = json.dumps(notes.model_dump(mode="json"), indent=2) + "\n"
    store_files(folder, {**files, NOTES: text.encode()})
    return notes


def _as_parquet(rows: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink, compression="zstd")
    return bytes(sink.getvalue())


def store_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files of a baseline in place of those that a folder has, its notes last.

    Args:
        folder: The folder; it is created if it is missing.
        files: Contents by name, of the names in `FILES`.

    Raises:
        CheckRefused: The folder cannot be written, or holds other files.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _check_own(folder)
        (folder / NOTES).unlink(missing_ok=True)
        for name in reversed(FILES):
            if name in files:
                (folder / name).write_bytes(files[name])
    except OSError as error:
        msg = f"cannot write the baseline to {folder}: {error.strerror}; name another folder"
        raise CheckRefused(msg) from error


def _check_own(folder: Path) -> None:
    """Do nothing if a folder holds a baseline or nothing.

    Raises:
        CheckRefused: It holds something else.
    """
    others = sorted(path.name for path in folder.iterdir() if path.name not in FILES)
    if others:
        msg = f"{folder} holds '{visible(others[0])}', which no baseline has; name a new folder"
        raise CheckRefused(msg)


def read_baseline(folder: Path) -> StoredBaseline | NoBaseline:
    """Return the baseline in a folder.

    Raises:
        CheckRefused: Its files are damaged.
    """
    try:
        with (folder / NOTES).open("rb") as file:
            text = file.read(MOST_NOTES_BYTES)
    except FileNotFoundError:
        return NoBaseline(f"{visible(str(folder))} has no {NOTES}")
    except OSError as error:
        raise _damaged(folder, error.strerror or "it cannot be read") from error
    try:
        values = json.loads(text)
        if isinstance(values, dict) and values.get("version") != VERSION:
            return NoBaseline("another version of tracegrade wrote it")
        notes = BaselineNotes.model_validate(values)
    except (ValueError, ValidationError, RecursionError) as error:
        raise _damaged(folder, f"{NOTES} is not as it was written") from error
    if notes.created.tzinfo is None:
        raise _damaged(folder, f"{NOTES} has a time without a zone")
    tables = {table: _read(folder, table) for table in COMPARED}
    rows = {table: found for table, found in tables.items() if found is not None}
    if len(rows) < len(tables):
        return NoBaseline("another version of tracegrade wrote its tables")
    return StoredBaseline(notes, rows)


def _read(folder: Path, table: Table) -> pa.Table | None:
    """Return the rows of a table; None if it has other columns.

    Raises:
        CheckRefused: The file is damaged.
    """
    try:
        rows = pq.read_table(folder / f"{table.name}.parquet")
        if rows.column_names != table.arrow().names:
            return None
        return typed(table, rows)
    except (OSError, pa.ArrowException) as error:
        raise _damaged(folder, str(error).splitlines()[0]) from error


def _damaged(folder: Path, cause: str) -> CheckRefused:
    return CheckRefused(
        f"the baseline {visible(str(folder))} cannot be read: {visible(cause)}; delete it, and "
        "write it again with `tracegrade ci baseline`"
    )
