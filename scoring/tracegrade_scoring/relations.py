"""Makes relations of the scoring job: from the query of the same name, or from an Arrow table."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import duckdb
import pyarrow as pa

from tracegrade_scoring.sql import unordered


def materialise(con: duckdb.DuckDBPyConnection, name: str, source: str | None = None) -> None:
    """Keep the rows of a query as a temporary table; the query has its name, or `source`."""
    con.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {unordered(source or name)}")


def start(con: duckdb.DuckDBPyConnection, name: str, rows: str) -> None:
    """Make an empty temporary table with the columns of a query, which need not be run for it."""
    con.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {rows} LIMIT 0")


def define(con: duckdb.DuckDBPyConnection, name: str) -> None:
    """Let a query be read under its name; it runs when it is read, so once is cheapest."""
    con.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {unordered(name)}")


@contextmanager
def only(con: duckdb.DuckDBPyConnection, names: Sequence[str], condition: str) -> Iterator[None]:
    """Let tables of the lake hold only the rows of a condition, also in views of them.

    The condition may read temporary tables; a view of the table's name stands before it.
    """
    for name in names:
        con.execute(
            f"CREATE TEMP VIEW {name} AS SELECT * FROM memory.main.{name} WHERE {condition}"
        )
    try:
        yield
    finally:
        for name in names:
            con.execute(f"DROP VIEW temp.{name}")


def put(con: duckdb.DuckDBPyConnection, name: str, rows: pa.Table) -> None:
    """Keep the rows as the temporary table of that name."""
    con.register("_incoming", rows)
    con.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS FROM _incoming")
    con.unregister("_incoming")


def append(con: duckdb.DuckDBPyConnection, name: str, rows: pa.Table, columns: str = "*") -> None:
    """Add rows to the table of that name, by the names of the columns that SQL makes of them."""
    con.register("_incoming", rows)
    con.execute(f"INSERT INTO {name} BY NAME SELECT {columns} FROM _incoming")
    con.unregister("_incoming")


def table(schema: pa.Schema, rows: Iterable[tuple[object, ...]]) -> pa.Table:
    """Return rows as a table of that schema; an empty one for no rows."""
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [pa.array(values, f.type) for values, f in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)
