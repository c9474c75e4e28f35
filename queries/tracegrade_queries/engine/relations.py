"""Makes relations of a connection: from the text of a query, or from an Arrow table."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import duckdb
import pyarrow as pa

from tracegrade_queries.engine.statements import found, run
from tracegrade_queries.engine.table_views import duckdb_type


def make_table(
    con: duckdb.DuckDBPyConnection,
    name: str,
    rows: str,
    parameters: Mapping[str, object] | None = None,
) -> None:
    """Store the rows of a query as the temporary table of that name; replaces an existing one."""
    run(con, f"CREATE OR REPLACE TEMP TABLE {name} AS {rows}", parameters)


def make_empty(
    con: duckdb.DuckDBPyConnection, name: str, columns: Iterable[tuple[str, str]]
) -> None:
    """Make a temporary table without rows; columns are names and types."""
    typed = ", ".join(f'"{column}" {kind}' for column, kind in columns)
    run(con, f"CREATE OR REPLACE TEMP TABLE {name} ({typed})")


def has_rows(con: duckdb.DuckDBPyConnection, rows: str) -> bool:
    """Return whether there are any; `rows` is the text after FROM, the same in all buckets."""
    return bool(found(con, f"SELECT 1 FROM {rows} LIMIT 1"))


def make_view(con: duckdb.DuckDBPyConnection, name: str, rows: str) -> None:
    """Make a query readable under a name; it runs each time it is read."""
    run(con, f"CREATE OR REPLACE TEMP VIEW {name} AS {rows}")


@contextmanager
def only(
    con: duckdb.DuckDBPyConnection, names: Sequence[str], condition: str, columns: str = "*"
) -> Iterator[None]:
    """Let tables of the lake hold only the rows of a condition, also in views of them.

    The condition may read temporary tables; a view of the table's name hides the table. Within
    another `only` of the same table, both conditions apply. `columns` is the text after SELECT.
    """
    outer = {name: _name_aside(con, name) for name in names if _is_temporary(con, name)}
    for name, aside in outer.items():
        con.execute(f"ALTER VIEW temp.{name} RENAME TO {aside}")
    for name in names:
        source = f"temp.{outer[name]}" if name in outer else f"memory.main.{name}"
        con.execute(f"CREATE TEMP VIEW {name} AS SELECT {columns} FROM {source} WHERE {condition}")
    try:
        yield
    finally:
        for name in names:
            con.execute(f"DROP VIEW temp.{name}")
        for name, aside in outer.items():
            con.execute(f"ALTER VIEW temp.{aside} RENAME TO {name}")


def _name_aside(con: duckdb.DuckDBPyConnection, name: str) -> str:
    aside = f"{name}_outside"
    return _name_aside(con, aside) if _is_temporary(con, aside) else aside


def _is_temporary(con: duckdb.DuckDBPyConnection, name: str) -> bool:
    found = con.execute(
        "SELECT 1 FROM duckdb_views() WHERE database_name = 'temp' AND view_name = $name",
        {"name": name},
    )
    return bool(found.fetchall())


@contextmanager
def copies(con: duckdb.DuckDBPyConnection, conditions: Mapping[str, str]) -> Iterator[None]:
    """Let tables of the lake hold only copies of some rows, also in views of them.

    Like `only`, for relations that are read many times: the files are read once.

    Args:
        con: The connection.
        conditions: By table, which rows.
    """
    for name, condition in conditions.items():
        rows = f"SELECT * FROM memory.main.{name} WHERE {condition}"
        con.execute(f"CREATE TEMP TABLE {name} AS {rows}")
    try:
        yield
    finally:
        for name in conditions:
            con.execute(f"DROP TABLE IF EXISTS temp.{name}")


@contextmanager
def given(con: duckdb.DuckDBPyConnection, name: str, rows: pa.Table) -> Iterator[None]:
    """Let SQL read the rows under that name for as long as this lasts."""
    con.register(name, rows)
    try:
        yield
    finally:
        con.unregister(name)


def put(con: duckdb.DuckDBPyConnection, name: str, rows: pa.Table) -> None:
    """Keep the rows as the temporary table of that name."""
    if not rows.num_rows:
        make_empty(con, name, ((field.name, duckdb_type(field.type)) for field in rows.schema))
        return
    with given(con, "_incoming", rows):
        make_table(con, name, "FROM _incoming")


def append(con: duckdb.DuckDBPyConnection, name: str, rows: pa.Table, columns: str = "*") -> None:
    """Add rows to the table of that name, by the column names in the SQL."""
    with given(con, "_incoming", rows):
        con.execute(f"INSERT INTO {name} BY NAME SELECT {columns} FROM _incoming")


def table(schema: pa.Schema, rows: Iterable[tuple[object, ...]]) -> pa.Table:
    """Return rows as a table of that schema; an empty one for no rows."""
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [pa.array(values, f.type) for values, f in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def count(con: duckdb.DuckDBPyConnection, rows: str) -> int:
    """Return the number of rows of a relation; `rows` is the text after FROM."""
    number: int = con.execute(f"SELECT count(*) FROM {rows}").fetchall()[0][0]
    return number
