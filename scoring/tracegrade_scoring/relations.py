"""Makes relations of the scoring job: from the query of the same name, or from an Arrow table."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import duckdb
import pyarrow as pa
from duckdb import (
    CaseExpression,
    ColumnExpression,
    ConstantExpression,
    Expression,
    FunctionExpression,
    StarExpression,
)

from tracegrade_queries.sql import unordered


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


def matches(con: duckdb.DuckDBPyConnection, name: str, text: str) -> pa.Table:
    """Return the rows of a relation and `fits`: whether its `pattern` (RE2) is found in its text.

    Args:
        con: Holds the relation.
        name: Its name.
        text: The column of the text, which is left out of the result.
    """
    found = con.sql(f"SELECT DISTINCT pattern FROM {name} ORDER BY pattern").fetchall()
    cases = {
        pattern: FunctionExpression(
            "regexp_matches", ColumnExpression(text), ConstantExpression(pattern)
        )
        for (pattern,) in found
    }
    fits = by_value("pattern", cases, ConstantExpression(False)).alias("fits")
    return con.table(name).select(StarExpression(exclude=[text]), fits).to_arrow_table()


def by_value(column: str, cases: Mapping[str, Expression], nothing: Expression) -> Expression:
    """Return the expression of a row by what its column holds, so that each has its constants.

    A pattern that is read from a row would be compiled for every row.

    Args:
        column: Its name.
        cases: By value of the column; a row of another value has NULL.
        nothing: Of the type of all, for no cases; never asked.
    """
    chosen = CaseExpression(ConstantExpression(False), nothing)
    for value, expression in cases.items():
        chosen = chosen.when(ColumnExpression(column) == ConstantExpression(value), expression)
    return chosen
