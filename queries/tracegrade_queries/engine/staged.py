"""Stages rows as files of a table with its declared types: at once, or in parts that fit memory.

Their names are new each time, so that files that were never committed do no harm.
"""

import itertools
import uuid
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from typing import Final

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from tracegrade_lake import Lake, StagedFile, Table

PART_ROWS: Final = 50_000
"""Rows that are held at a time of those that a date keeps: a row group of the new file."""


def stage_rows(lake: Lake, table: Table, rows: pa.Table) -> list[StagedFile]:
    """Write rows that fit into memory, one file for each date, one after the other.

    Args:
        lake: The lake of the table.
        table: Rows have its columns, in any order; values may be dictionary-encoded.
        rows: The rows; may be empty.
    """
    name = uuid.uuid4().hex
    staged = (lake.stage(table, typed(table, part), name) for part in _by_date(rows))
    return list(itertools.chain.from_iterable(staged))


def _by_date(rows: pa.Table) -> Iterator[pa.Table]:
    """Yield the rows of each date; they are small while they are dictionary-encoded."""
    if len(pc.unique(rows["date"])) > 1:
        rows = rows.take(pc.sort_indices(rows["date"]))
    ends = pc.run_end_encode(rows["date"].combine_chunks()).run_ends.to_pylist()
    for start, end in itertools.pairwise([0, *ends]):
        yield rows.slice(start, end - start)


def stage_dates(
    lake: Lake,
    table: Table,
    dates: Iterable[date],
    rows_of: Callable[[date], duckdb.DuckDBPyRelation],
) -> list[StagedFile]:
    """Write the rows of each of these dates in parts, as one file for each date."""
    files = (
        lake.stage_batches(
            table, {"date": str(day)}, _parts(table, rows_of(day)), uuid.uuid4().hex
        )
        for day in dates
    )
    return [file for file in files if file]


def stage_other_traces(
    lake: Lake, con: duckdb.DuckDBPyConnection, table: Table, dates: Iterable[date], traces: str
) -> list[StagedFile]:
    """Write the rows of these dates that are of no trace in the relation `traces`."""
    rows = f"SELECT * FROM {table.name} WHERE date = $date AND NOT {of_traces(table, traces)}"
    return stage_dates(lake, table, dates, lambda day: con.sql(rows, params={"date": day}))


def of_traces(table: Table, traces: str) -> str:
    """Return the SQL condition for rows of a table whose trace is in the relation `traces`."""
    named = any(column.name == "trace_id" for column in table.columns)
    trace_id = "trace_id" if named else "split_part(trajectory_id, '-', 1)"
    return f"{trace_id} IN (SELECT trace_id FROM {traces})"


def typed(table: Table, rows: pa.Table) -> pa.Table:
    """Return the rows with the columns and types of the table, none of them as dictionaries."""
    names = table.arrow().names
    return pa.table([in_full(rows[name]) for name in names], names=names).cast(table.arrow())


def in_full(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the values of a column that may be dictionary-encoded."""
    if not pa.types.is_dictionary(column.type):
        return column
    chunks = [chunk.dictionary_decode() for chunk in column.chunks]
    return pa.chunked_array(chunks, column.type.value_type)


def _parts(table: Table, rows: duckdb.DuckDBPyRelation) -> Iterator[pa.Table]:
    """Yield the rows of one date, without it."""
    for batch in rows.to_arrow_reader(PART_ROWS):
        yield typed(table, pa.Table.from_batches([batch])).drop_columns(["date"])
