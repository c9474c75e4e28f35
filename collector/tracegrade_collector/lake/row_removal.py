"""Files of a table without some of their rows: found, written anew, and the old ones removed.

Nothing is held in memory but a batch of rows. Files never change, so one that was found to hold
none of the rows is not read again.
"""

import json
import uuid
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tracegrade_collector.crash_points import reach
from tracegrade_collector.errors import FilesReplaced, LakeDamaged
from tracegrade_collector.lake.commit import LiveFile
from tracegrade_collector.lake.condition import Condition
from tracegrade_collector.lake.lake import Lake
from tracegrade_collector.lake.removals import collectors, recording
from tracegrade_collector.lake.rewriting import LINEAGE
from tracegrade_collector.lake.schema import Column, Table
from tracegrade_collector.lake.snapshot import Snapshot, snapshot
from tracegrade_collector.lake.staging import StagedFile
from tracegrade_collector.lake.storage import LOG_FOLDER, PUT_ASIDE_FOLDER

BATCH_ROWS: Final = 8_192
FILES_PER_COMMIT: Final = 64
ATTEMPTS: Final = 20
"""Times that a table is begun anew because other writers replaced its files meanwhile."""

TRACE_ID_DIGITS: Final = 32
ID_COLUMNS: Final = ("trace_id", "trajectory_id")
"""Columns that begin with the id of a row's trace; the first one that a table has counts."""

ERASED_FROM: Final = b"tracegrade.erased_from"
"""In a footer: JSON list of the files whose rows these were, one after the other; all are gone."""

_UNREADABLE: Final = (OSError, pa.ArrowException)


class Doomed(NamedTuple):
    """Which rows of one table have to go."""

    expression: Any
    """True for such a row, false for any other; never NULL."""

    columns: pa.Schema
    """What the expression reads."""

    trace_ids: tuple[str, ...] | None
    """Sorted; rows of no other traces are doomed. None: any row may be."""


@dataclass
class Removed:
    """What was, or in a dry run would be, removed from one table."""

    rows: int = 0
    files: int = 0
    """Files written anew without the rows, or dropped for having no other."""

    leftovers: int = 0
    """Files that are no part of the table any more and held such rows."""

    unreadable: list[str] = field(default_factory=list)
    """Leftovers that cannot be read, so nobody knows what they hold."""


def rows_of_traces(
    table: Table, trace_ids: Sequence[str], also: Condition | None = None
) -> Doomed | None:
    """Return the rows of some traces; None if the table has no column that says whose they are.

    Args:
        table: It.
        trace_ids: Sorted, lower case.
        also: A condition for rows that belong to no trace.
    """
    schema, ids = table.arrow(), pa.array(trace_ids, pa.string())
    column = next((name for name in ID_COLUMNS if name in schema.names), None)
    if column is None:
        return None
    trace_id = pc.utf8_slice_codeunits(pc.field(column), start=0, stop=TRACE_ID_DIGITS)
    expression = _surely(trace_id.isin(ids))
    if also is None:
        return Doomed(expression, pa.schema([schema.field(column)]), tuple(trace_ids))
    expression |= trace_id.is_null() & _surely(also.expression)
    return Doomed(expression, pa.schema(map(schema.field, {column, *also.columns})), None)


def matching_values(lake: Lake, table: Table, condition: Condition, column: str) -> set[str]:
    """Return what rows that fulfil a condition have in a text column; NULL left out.

    Rows of files that are no part of the table any more count, too.

    Raises:
        LakeDamaged: A file of the table cannot be read.
    """
    schema = table.arrow()
    columns = pa.schema(map(schema.field, sorted({column, *condition.columns})))
    wanted = Doomed(_surely(condition.expression), columns, None)
    now = snapshot(lake, table.name)
    live = {file.path for file in now.files} if now else set()
    found: set[str] = set()
    for path in {*live, *_stored(lake, table.name)}:
        try:
            with _reading(lake, table.name, path):
                for rows in _matches(lake.open_parquet(table.name, path), wanted):
                    found.update(pc.unique(rows[column].drop_null()).to_pylist())
        except LakeDamaged:
            if path in live:
                raise
    return found


def _stored(lake: Lake, name: str) -> Iterator[str]:
    for file in lake.stored_files(name):
        if _is_parquet(file.path):
            yield file.path


def remove_rows(
    lake: Lake, name: str, doomed: Doomed, note: Callable[[str], None], *, dry_run: bool = False
) -> Removed:
    """Rewrite the files of a table that hold doomed rows, and remove what they were before.

    Safe beside anybody who adds, compacts or expires files, and beside readers of these files,
    which find them gone. May be cut off anywhere and called again.

    Raises:
        CommitFailed: Other writers won each time.
        LakeDamaged: A file of the table cannot be read.
        LakeUnwritable: The disk refused.
    """
    removed = Removed()
    clean: set[str] = set()
    for _ in range(ATTEMPTS):
        try:
            _remove_live(lake, name, doomed, _Progress(clean, removed, note, dry_run))
        except FilesReplaced:
            continue
        return removed
    msg = f"table {name} changed {ATTEMPTS} times while rows were removed; try again when it rests"
    raise FilesReplaced(msg)


def remove_leftovers(
    lake: Lake, name: str, doomed: Doomed, before_ms: int, *, dry_run: bool = False
) -> Removed:
    """Remove files below a table's folder that are no part of it and hold doomed rows.

    Args:
        lake: The table's.
        name: The table's.
        doomed: The rows.
        before_ms: Only files that are older (ms since 1970 UTC): newer ones may be about to be
            committed by somebody.
        dry_run: Whether to count only.

    Returns:
        `rows` and `files` are 0.
    """
    removed = Removed()
    stored = [each for each in lake.stored_files(name) if each.modified_ms < before_ms]
    live = {file.path for file in lake.live_files(name)}
    paths = [each.path for each in stored if each.path not in live and _is_parquet(each.path)]
    for path in paths:
        _remove_leftover(lake, name, path, doomed, removed, dry_run=dry_run)
    return removed


def _remove_leftover(
    lake: Lake, name: str, path: str, doomed: Doomed, removed: Removed, *, dry_run: bool
) -> None:
    try:
        found = count_rows(lake, name, path, doomed)
    except LakeDamaged:
        removed.unreadable.append(f"{lake.place}/{name}/{path}")
        return
    removed.leftovers += bool(found)
    if found and not dry_run:
        lake.remove_files(name, [path])


def remove_staged(
    lake: Lake, name: str, doomed: Doomed, before_ms: int, *, dry_run: bool = False
) -> int:
    """Remove staged files of a table on an object store that hold doomed rows, or are torn.

    Staged files of a local table lie below its folder: `remove_leftovers` finds them.
    """
    storage = lake.storage.table(name)
    old = [
        path
        for path in storage.stage_folder.glob("*.parquet")
        if path.stat().st_mtime_ns // 1_000_000 < before_ms
    ]
    doomed_files = [path for path in old if _is_torn_or_holds(path, doomed)]
    for path in doomed_files:
        if not dry_run:
            path.unlink(missing_ok=True)
    return len(doomed_files)


def put_aside(lake: Lake, trace_ids: Sequence[str]) -> list[Path]:
    """Return files of tables that a repair put aside, if they hold rows of the traces or are torn.

    Such tables are built ones, which are built again from the rows that are left.
    """
    return [
        path
        for path in sorted((lake.state / PUT_ASIDE_FOLDER).rglob("*.parquet"))
        if path.parent.name != LOG_FOLDER and _is_of_traces(path, trace_ids)
    ]


def _is_of_traces(path: Path, trace_ids: Sequence[str]) -> bool:
    try:
        columns = [Column(each.name, each.type, "") for each in pq.read_schema(path)]
    except _UNREADABLE:
        return True
    doomed = rows_of_traces(Table(path.name, "", tuple(columns)), trace_ids)
    return doomed is not None and _is_torn_or_holds(path, doomed)


def _is_torn_or_holds(path: Path, doomed: Doomed) -> bool:
    try:
        return any(rows.num_rows for rows in _matches(pq.ParquetFile(path), doomed))
    except _UNREADABLE:
        return True


def _is_parquet(path: str) -> bool:
    return path.endswith(".parquet")


def count_rows(lake: Lake, name: str, path: str, doomed: Doomed) -> int:
    """Return how many doomed rows a file has.

    Raises:
        LakeDamaged: It cannot be read.
    """
    with _reading(lake, name, path):
        return sum(rows.num_rows for rows in _matches(lake.open_parquet(name, path), doomed))


class _Progress(NamedTuple):
    clean: set[str]
    """Paths of files known to hold no doomed row."""

    removed: Removed
    note: Callable[[str], None]
    dry_run: bool


def _remove_live(lake: Lake, name: str, doomed: Doomed, progress: _Progress) -> None:
    now = snapshot(lake, name)
    if now is None:
        return
    lot: list[LiveFile] = []
    for number, file in enumerate(now.files, start=1):
        if file.path in progress.clean:
            continue
        found = count_rows(lake, name, file.path, doomed)
        progress.note(f"{name}: {number} of {len(now.files)} files, {found} rows in this one")
        if not found:
            progress.clean.add(file.path)
        elif progress.dry_run:
            progress.removed.rows += found
            progress.removed.files += 1
        else:
            lot.append(file)
        if len(lot) == FILES_PER_COMMIT:
            _rewrite(lake, now, lot, doomed, progress.removed)
            lot = []
    if lot:
        _rewrite(lake, now, lot, doomed, progress.removed)


def _rewrite(
    lake: Lake, now: Snapshot, lot: Sequence[LiveFile], doomed: Doomed, removed: Removed
) -> None:
    """Put files without the doomed rows in the place of these, and remove these for good."""
    name, staged, gone = now.table.name, [], Counter[str]()
    for file in lot:
        survivor = _stage_survivors(lake, now.table, file, doomed, gone)
        staged += [survivor] if survivor else []
    paths = [file.path for file in lot]
    with recording(lake, name, gone, "delete") as transactions:
        lake.replace_files(now.table, paths, staged, transactions)
    reach("rows_replaced")
    lake.remove_files(name, paths)
    reach("files_removed")
    removed.rows += gone.total()
    removed.files += len(lot)


def _stage_survivors(
    lake: Lake, table: Table, file: LiveFile, doomed: Doomed, gone: Counter[str]
) -> StagedFile | None:
    """Write the other rows of a file as a new one; count the doomed.

    None if there are no others, unless the file's footer says which other files it stands for.
    """
    partition = {column: text for column, text in file.partition.items() if text is not None}
    with _reading(lake, table.name, file.path):
        source = lake.open_parquet(table.name, file.path)
        survivors = _survivors(source, table, doomed, gone)
        return lake.stage_batches(
            table, partition, survivors, uuid.uuid4().hex, _lineage(source, file.path)
        )


def _lineage(source: pq.ParquetFile, path: str) -> dict[bytes, bytes]:
    """Return a footer that stands for the same files as the source's, and for the source."""
    footer = source.metadata.metadata or {}
    if LINEAGE not in footer:
        return {}
    erased = [*json.loads(footer.get(ERASED_FROM, b"[]")), path]
    return {LINEAGE: footer[LINEAGE], ERASED_FROM: json.dumps(erased).encode()}


def _survivors(
    file: pq.ParquetFile, table: Table, doomed: Doomed, gone: Counter[str]
) -> Iterator[pa.Table]:
    columns = pa.schema([each for each in table.arrow() if each.name not in table.partition_by])
    for batch in file.iter_batches(BATCH_ROWS):
        rows = _with_columns(pa.Table.from_batches([batch]), columns)
        gone.update(collectors(rows.filter(doomed.expression)))
        yield rows.filter(~doomed.expression)


@contextmanager
def _reading(lake: Lake, name: str, path: str) -> Iterator[None]:
    """Say in one line which file cannot be read.

    Raises:
        LakeDamaged: The block could not read it.
    """
    try:
        yield
    except _UNREADABLE as error:
        fact = str(error).splitlines()[0]
        msg = f"{lake.place}/{name}/{path} cannot be read ({fact}); see `tracegrade lake repair`"
        raise LakeDamaged(msg) from error


def _matches(file: pq.ParquetFile, doomed: Doomed) -> Iterator[pa.Table]:
    """Yield the doomed rows of a file, with the columns that say so, batch by batch."""
    groups = _possible_groups(file, doomed)
    present = [name for name in doomed.columns.names if name in file.schema_arrow.names]
    if groups and present:
        for batch in file.iter_batches(BATCH_ROWS, row_groups=groups, columns=present):
            rows = _with_columns(pa.Table.from_batches([batch]), doomed.columns)
            yield rows.filter(doomed.expression)


def _with_columns(rows: pa.Table, columns: pa.Schema) -> pa.Table:
    """Return these columns, NULL in each that is younger than the file."""
    arrays = [
        rows[column.name] if column.name in rows.column_names else pa.nulls(len(rows), column.type)
        for column in columns
    ]
    return pa.table(arrays, names=columns.names)


def _possible_groups(file: pq.ParquetFile, doomed: Doomed) -> list[int]:
    """Return the row groups whose range of ids includes one of the traces."""
    every = range(file.metadata.num_row_groups)
    if doomed.trace_ids is None:
        return list(every)
    (column,) = doomed.columns.names
    paths = {file.metadata.schema.column(n).path: n for n in range(file.metadata.num_columns)}
    if column not in paths:
        return []
    return [
        number
        for number in every
        if _may_hold(file.metadata.row_group(number).column(paths[column]), doomed.trace_ids)
    ]


def _may_hold(column: pq.ColumnChunkMetaData, trace_ids: Sequence[str]) -> bool:
    stats = column.statistics
    if stats is None or not stats.has_min_max:
        return True
    first = bisect_left(trace_ids, stats.min[:TRACE_ID_DIGITS])
    return first < len(trace_ids) and trace_ids[first] <= stats.max[:TRACE_ID_DIGITS]


def _surely(expression: Any) -> Any:
    return pc.coalesce(expression, pa.scalar(False))
