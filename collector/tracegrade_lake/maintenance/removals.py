"""Counts exactly how many rows were removed from each table: `<state>/removals.json`.

Rows that landed and were removed must be accounted for; otherwise erased rows look like lost ones.
The count is written before the commit that removes them, with a number that the commit carries as
its application transaction. After a crash between the two, the table itself shows whether the rows
were removed. The file holds counts only: no ids, no content.
"""

import fcntl
import json
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tracegrade_lake.crash_points import reach
from tracegrade_lake.errors import LakeDamaged
from tracegrade_lake.files import private_opener, write_whole
from tracegrade_lake.lake import Lake

FILE_NAME: Final = "removals.json"
LOCK_NAME: Final = "removals.lock"
COLLECTOR_ID: Final = "collector_id"
NOBODY: Final = ""
"""Stands for the collector of rows that none received: those of built tables."""

MAX_HISTORY: Final = 1000
"""Most removals that are listed, newest last; the totals cover all."""


@contextmanager
def recording(
    lake: Lake, table: str, rows: Mapping[str, int], command: str
) -> Iterator[dict[str, int]]:
    """Count rows by collector id as removed if the commit made in the block lands.

    Yields the transactions that this commit must carry. One removal at a time.

    Raises:
        LakeDamaged: The counts so far cannot be read.
    """
    with _locked(lake.state):
        book = _resolved(lake, _read(lake.state))
        book["number"] += 1
        book["pending"] = _removal(book["number"], table, rows, command)
        _write(lake.state, book)
        reach("removal_counted")
        try:
            yield {_app_id(book): book["number"]}
        finally:
            _write(lake.state, _resolved(lake, book))


def note_removal(lake: Lake, name: str, counts: Mapping[str, int], command: str) -> None:
    """Count items that are about to be removed from outside the tables, such as dead letters.

    Raises:
        LakeDamaged: The counts so far cannot be read.
    """
    with _locked(lake.state):
        book = _resolved(lake, _read(lake.state))
        _write(lake.state, _with(book, _removal(book["number"], name, counts, command)))


def noted_removals(lake: Lake, name: str) -> Counter[str]:
    """Return what `note_removal` counted under a name."""
    return Counter(_read(lake.state)["removed"].get(name, {}))


def removed_rows(
    lake: Lake, table: str, transaction_version: Callable[[str], int | None]
) -> Counter[str]:
    """Return the rows removed from one version of a table, by collector id.

    Args:
        lake: Whose counts.
        table: Its name.
        transaction_version: That of the table's handle; it tells whether a removal that is
            under way, or was cut off, is in this version.

    Raises:
        LakeDamaged: The counts cannot be read.
    """
    book = _read(lake.state)
    counts = Counter(book["removed"].get(table, {}))
    pending = book["pending"]
    if pending and pending["table"] == table and _landed(book, transaction_version):
        counts.update(pending["rows"])
    return counts


def removals_so_far(state: Path, table: str) -> dict[str, int]:
    """Return the transaction that a table's log must carry when it is rebuilt."""
    book = _read(state)
    pending = book["pending"]
    if not book["number"]:
        return {}
    is_open = bool(pending) and pending["table"] == table
    return {_app_id(book): book["number"] - is_open}


def has_lost_removal(
    state: Path, table: str, transaction_version: Callable[[str], int | None]
) -> bool:
    """Return whether rows count as removed by a commit that a table's log no longer has.

    Args:
        state: The folder with the counts.
        table: The table's name.
        transaction_version: That of the table's handle.
    """
    book = _read(state)
    counted = [each["number"] for each in book["history"] if each["table"] == table]
    return bool(counted) and (transaction_version(_app_id(book)) or 0) < max(counted)


def rows_by_collector(file: pq.ParquetFile) -> Counter[str]:
    """Return the number of rows per collector in a file; `NOBODY` for a built table's."""
    names = file.schema_arrow.names
    if COLLECTOR_ID not in names:
        return Counter({NOBODY: file.metadata.num_rows})
    counts: Counter[str] = Counter()
    column = next(
        number
        for number in range(file.metadata.num_columns)
        if file.metadata.schema.column(number).path == COLLECTOR_ID
    )
    for number in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(number)
        range_ = group.column(column).statistics
        if range_ and range_.has_min_max and range_.min == range_.max and not range_.null_count:
            counts[range_.min] += group.num_rows
        else:
            counts += collectors(file.read_row_group(number, columns=[COLLECTOR_ID]))
    return counts


def collectors(rows: pa.Table) -> Counter[str]:
    """Return how many of the rows are of each collector."""
    if COLLECTOR_ID not in rows.column_names:
        return Counter({NOBODY: rows.num_rows})
    found = pc.value_counts(rows[COLLECTOR_ID].combine_chunks())
    pairs = zip(found.field("values").to_pylist(), found.field("counts").to_pylist(), strict=True)
    return Counter({name or NOBODY: count for name, count in pairs})


@contextmanager
def _locked(state: Path) -> Iterator[None]:
    with open(state / LOCK_NAME, "ab", opener=private_opener) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _app_id(book: Mapping[str, Any]) -> str:
    return f"removals/{book['id']}"


def _landed(book: Mapping[str, Any], version_of: Callable[[str], int | None]) -> bool:
    number: int = book["pending"]["number"]
    return (version_of(_app_id(book)) or 0) >= number


def _resolved(lake: Lake, book: dict[str, Any]) -> dict[str, Any]:
    """Return the counts with the pending removal added if it is in its table, else without it."""
    pending = book["pending"]
    if pending is None:
        return book
    table = pending["table"]
    resolved = book | {"pending": None}
    landed = _landed(book, lambda app_id: lake.transaction_version(table, app_id))
    return _with(resolved, pending) if landed else resolved


def _removal(number: int, table: str, rows: Mapping[str, int], command: str) -> dict[str, Any]:
    at = datetime.now(UTC).isoformat(timespec="seconds")
    return {"number": number, "table": table, "rows": dict(rows), "command": command, "at": at}


def _with(book: dict[str, Any], removal: dict[str, Any]) -> dict[str, Any]:
    """Return the counts with those of a removal added."""
    totals = Counter(book["removed"].get(removal["table"], {}))
    totals.update(removal["rows"])
    return book | {
        "removed": book["removed"] | {removal["table"]: dict(totals)},
        "history": [*book["history"], removal][-MAX_HISTORY:],
    }


def _read(state: Path) -> dict[str, Any]:
    path = state / FILE_NAME
    try:
        book: dict[str, Any] = json.loads(path.read_bytes())
    except FileNotFoundError:
        new_id = uuid.uuid4().hex[:12]
        return {"id": new_id, "number": 0, "removed": {}, "pending": None, "history": []}
    except ValueError as error:
        msg = f"{path} cannot be read ({error}); put a copy back, or remove it and its counts"
        raise LakeDamaged(msg) from error
    return book


def _write(state: Path, book: Mapping[str, Any]) -> None:
    write_whole(state / FILE_NAME, json.dumps(book, indent=1).encode())
