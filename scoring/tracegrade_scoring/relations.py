"""Relations made of this package's queries; those made of anything else are the engine's."""

from typing import Final

import duckdb

from tracegrade_queries.engine.relations import (
    append,
    has_rows,
    make_relation,
    make_view,
    only,
    put,
    start,
    table,
)
from tracegrade_queries.engine.sql import QUERIES
from tracegrade_queries.engine.statements import found, run
from tracegrade_scoring.sql import query, unordered

__all__ = [
    "append",
    "create_macro",
    "create_shared_macro",
    "define",
    "has_rows",
    "materialise",
    "only",
    "put",
    "start",
    "table",
]

_RUNS: Final = ("attempt_id", "trajectory_id", "step_trajectory_id", "example")
"""Columns that say of which run a row is: by its number in a bucket, by its id in a lake."""


def materialise(con: duckdb.DuckDBPyConnection, name: str, source: str | None = None) -> None:
    """Keep the rows of a query as a temporary table; the query has its name, or `source`."""

    def types() -> dict[str, str]:
        ids = found(con, "SELECT typeof(attempt_id) FROM attempt_members LIMIT 1")
        return {column: kind for column in _RUNS for (kind,) in ids}

    make_relation(con, name, unordered(source or name), types)


def create_macro(con: duckdb.DuckDBPyConnection, name: str) -> None:
    """Create the macro that the file of this name defines."""
    run(con, query(name))


def create_shared_macro(con: duckdb.DuckDBPyConnection, name: str) -> None:
    """Create the macros of this name by which steps were made."""
    run(con, QUERIES.text(name))


def define(con: duckdb.DuckDBPyConnection, name: str) -> None:
    """Let a query be read under its name; it runs each time it is read, so once is cheapest."""
    make_view(con, name, unordered(name))
