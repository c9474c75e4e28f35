"""Relations made of this package's queries; those made of anything else are the engine's."""

import duckdb

from tracegrade_queries.engine.relations import (
    append,
    make_relation,
    make_view,
    only,
    put,
    start,
    table,
)
from tracegrade_queries.engine.statements import run
from tracegrade_scoring.sql import query, unordered

__all__ = ["append", "create_macro", "define", "materialise", "only", "put", "start", "table"]


def materialise(con: duckdb.DuckDBPyConnection, name: str, source: str | None = None) -> None:
    """Keep the rows of a query as a temporary table; the query has its name, or `source`."""
    make_relation(con, name, unordered(source or name))


def create_macro(con: duckdb.DuckDBPyConnection, name: str) -> None:
    """Create the macro that the file of this name defines."""
    run(con, query(name))


def define(con: duckdb.DuckDBPyConnection, name: str) -> None:
    """Let a query be read under its name; it runs each time it is read, so once is cheapest."""
    make_view(con, name, unordered(name))
