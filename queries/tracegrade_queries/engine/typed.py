"""Rows of a query, typed as a table declares them: at once, or in parts that fit into memory."""

from collections.abc import Iterator
from typing import Final

import duckdb
import pyarrow as pa

from tracegrade_lake import Table

PART_ROWS: Final = 50_000
"""Rows that are held at a time of those that a rewrite keeps."""


def at_once(table: Table, rows: duckdb.DuckDBPyRelation) -> pa.Table:
    """Return the rows with the columns and types of the table."""
    return _typed(table, rows.to_arrow_table())


def in_parts(table: Table, rows: duckdb.DuckDBPyRelation) -> Iterator[pa.Table]:
    """Yield the rows of one date, without it."""
    for batch in rows.to_arrow_reader(PART_ROWS):
        yield _typed(table, pa.Table.from_batches([batch])).drop_columns(["date"])


def _typed(table: Table, rows: pa.Table) -> pa.Table:
    return rows.select(table.arrow().names).cast(table.arrow())
