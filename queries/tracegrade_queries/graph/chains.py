"""Follows chains in DuckDB by pointer doubling: as many rounds as the length has digits.

A recursive query costs one round for each link, and a trace of ten thousand nested agents would
take ten thousand of them. Here each round lets every pointer jump to where its target points.
"""

from typing import Final

import duckdb

from tracegrade_queries.engine.relations import has_rows
from tracegrade_queries.engine.statements import found

_DOUBLED: Final = """
SELECT hops.key, coalesce(onward.last, hops.last) AS last
FROM {ends} AS hops
LEFT JOIN {ends} AS onward ON hops.last = onward.key
"""

_MOVING: Final = "{ends} AS hops SEMI JOIN {ends} AS onward ON hops.last = onward.key"


def follow(con: duckdb.DuckDBPyConnection, edges: str, ends: str) -> int:
    """Make the table `ends` (key, last): where each chain of `edges` (key, next) ends.

    Args:
        con: The connection that holds `edges`; at most one row per key, no cycles.
        edges: Name of the relation to follow. What has no row there is an end.
        ends: Name of the table to make: one row for each row of `edges`.

    Returns:
        How many rows that is.
    """
    rows = _made(con, ends, f"SELECT key, next AS last FROM {edges}")
    while has_rows(con, _MOVING.format(ends=ends)):
        _made(con, ends, _DOUBLED.format(ends=ends))
    return rows


def _made(con: duckdb.DuckDBPyConnection, name: str, rows: str) -> int:
    count: int = found(con, f"CREATE OR REPLACE TEMP TABLE {name} AS {rows}")[0][0]
    return count
