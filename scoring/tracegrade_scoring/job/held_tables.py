"""Tables of a lake that an engine holds in memory."""

from collections.abc import Mapping

import duckdb
import pyarrow as pa

from tracegrade_lake import Table
from tracegrade_queries.engine.relations import given
from tracegrade_queries.engine.staged import typed


def hold(con: duckdb.DuckDBPyConnection, tables: Mapping[Table, pa.Table]) -> None:
    """Make these the tables of the engine, which all of its cursors read."""
    for table, rows in tables.items():
        with given(con, "_incoming", typed(table, rows)):
            con.execute(f"CREATE TABLE {table.name} AS FROM _incoming")
