"""Selects rows of a table, by trace or by condition, and finds them in its files.

It holds only one batch of rows in memory, and skips row groups whose range of ids contains none of
the traces.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tracegrade_lake.columns import Table, with_columns
from tracegrade_lake.errors import LakeDamaged
from tracegrade_lake.lake import Lake
from tracegrade_lake.maintenance.condition import RowCondition
from tracegrade_lake.snapshot import snapshot
from tracegrade_lake.storage import StoredFile

BATCH_ROWS: Final = 8_192
TRACE_ID_DIGITS: Final = 32
ID_COLUMNS: Final = ("trace_id", "trajectory_id")
"""Columns that begin with a row's trace id; a table's first one counts."""

UNREADABLE: Final = (OSError, pa.ArrowException)


class RowSelection(NamedTuple):
    """The rows of one table that an operation is about."""

    expression: Any
    """True for such a row, false for any other; never NULL."""

    columns: pa.Schema
    """What is read of a row; the column of ids first if `trace_ids` are given."""

    trace_ids: tuple[str, ...] | None
    """Sorted; rows of no other traces are selected. None: any row may be."""


def rows_of_traces(
    table: Table,
    trace_ids: Sequence[str],
    also: RowCondition | None = None,
    records: RowCondition | None = None,
) -> RowSelection | None:
    """Return the rows of some traces; None if the table has no column for trace ids.

    Args:
        table: The table.
        trace_ids: Sorted, lower case.
        also: A condition for rows that belong to no trace.
        records: A condition for rows of any trace or none.
    """
    schema, ids = table.arrow(), pa.array(trace_ids, pa.string())
    column = next((name for name in ID_COLUMNS if name in schema.names), None)
    if column is None:
        return None
    trace_id = pc.utf8_slice_codeunits(pc.field(column), start=0, stop=TRACE_ID_DIGITS)
    expression = _surely(trace_id.isin(ids))
    read = {column}
    if also is not None:
        expression |= trace_id.is_null() & _surely(also.expression)
        read |= also.columns
    if records is not None:
        expression |= _surely(records.expression)
        read |= records.columns
    only = tuple(trace_ids) if also is records is None else None
    return RowSelection(expression, pa.schema(map(schema.field, sorted(read))), only)


def matching_values(lake: Lake, table: Table, condition: RowCondition, column: str) -> set[str]:
    """Return what rows that fulfill a condition have in a text column; NULL left out.

    Rows of files that no longer belong to the table count, too.

    Raises:
        LakeDamaged: A file of the table cannot be read.
    """
    schema = table.arrow()
    columns = pa.schema(map(schema.field, sorted({column, *condition.columns})))
    selection = RowSelection(_surely(condition.expression), columns, None)
    found: set[str] = set()
    for rows in selected_rows(lake, table.name, selection):
        found.update(pc.unique(rows[column].drop_null()).to_pylist())
    return found


def selected_rows(lake: Lake, name: str, selection: RowSelection) -> Iterator[pa.Table]:
    """Yield the selected rows of a table batch by batch, also of files that left the table.

    Raises:
        LakeDamaged: A file of the table cannot be read.
    """
    now = snapshot(lake, name)
    live = {file.path for file in now.files} if now else set()
    for path in live | {file.path for file in stored_parquet(lake, name)}:
        try:
            with reading(lake, name, path):
                yield from matches(lake.open_parquet(name, path), selection)
        except LakeDamaged:
            if path in live:
                raise


def count_rows(lake: Lake, name: str, path: str, selection: RowSelection) -> int:
    """Return how many selected rows a file has.

    Raises:
        LakeDamaged: It cannot be read.
    """
    with reading(lake, name, path):
        return sum(rows.num_rows for rows in matches(lake.open_parquet(name, path), selection))


def is_torn_or_holds(path: Path, selection: RowSelection) -> bool:
    """Return whether a local file holds selected rows, or cannot be read."""
    try:
        return any(rows.num_rows for rows in matches(pq.ParquetFile(path), selection))
    except UNREADABLE:
        return True


def stored_parquet(lake: Lake, name: str) -> Iterator[StoredFile]:
    """Yield the Parquet files below a table's folder, live or not."""
    return (each for each in lake.stored_files(name) if each.path.endswith(".parquet"))


def matches(file: pq.ParquetFile, selection: RowSelection) -> Iterator[pa.Table]:
    """Yield the selected rows of a file batch by batch, with the columns of the selection."""
    groups = _possible_groups(file, selection)
    present = [name for name in selection.columns.names if name in file.schema_arrow.names]
    if groups and present:
        for batch in file.iter_batches(BATCH_ROWS, row_groups=groups, columns=present):
            rows = with_columns(pa.Table.from_batches([batch]), selection.columns)
            yield rows.filter(selection.expression)


@contextmanager
def reading(lake: Lake, name: str, path: str) -> Iterator[None]:
    """Say in one line which file cannot be read.

    Raises:
        LakeDamaged: The block could not read it.
    """
    try:
        yield
    except UNREADABLE as error:
        fact = str(error).splitlines()[0]
        msg = (
            f"{lake.location}/{name}/{path} cannot be read ({fact}); see `tracegrade lake repair`"
        )
        raise LakeDamaged(msg) from error


def _possible_groups(file: pq.ParquetFile, selection: RowSelection) -> list[int]:
    """Return the row groups whose range of ids includes one of the traces."""
    every = range(file.metadata.num_row_groups)
    if selection.trace_ids is None:
        return list(every)
    column = selection.columns.names[0]
    paths = {file.metadata.schema.column(n).path: n for n in range(file.metadata.num_columns)}
    if column not in paths:
        return []
    return [
        number
        for number in every
        if _may_hold(file.metadata.row_group(number).column(paths[column]), selection.trace_ids)
    ]


def _may_hold(column: pq.ColumnChunkMetaData, trace_ids: Sequence[str]) -> bool:
    stats = column.statistics
    if stats is None or not stats.has_min_max:
        return True
    first = bisect_left(trace_ids, stats.min[:TRACE_ID_DIGITS])
    return first < len(trace_ids) and trace_ids[first] <= stats.max[:TRACE_ID_DIGITS]


def _surely(expression: Any) -> Any:
    return pc.coalesce(expression, pa.scalar(False))
