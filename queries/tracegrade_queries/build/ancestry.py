"""Follows chains of spans in DuckDB by pointer doubling: as many rounds as the depth has digits.

A recursive query costs one round for each level, and a trace of ten thousand nested agents would
take ten thousand of them. Here each round lets every pointer jump to where its target points.

Makes:
    tree (from cycle_candidates, span_parents): parents of spans, without the edges that close
        a cycle
"""

from typing import Final

import duckdb

from tracegrade_queries.engine.relations import count, has_rows, make_table

_DOUBLED: Final = """
SELECT hops.key, coalesce(onward.last, hops.last) AS last
FROM {ends} AS hops
LEFT JOIN {ends} AS onward ON hops.last = onward.key
"""

_MOVING: Final = "{ends} AS hops SEMI JOIN {ends} AS onward ON hops.last = onward.key"

_JUMPED: Final = """
SELECT hops.key, onward.next
FROM _hops AS hops
INNER JOIN _hops AS onward ON hops.next = onward.key
"""

_CYCLE_EDGES: Final = """
SELECT key, next
FROM span_parents
WHERE rises OR key NOT IN (SELECT next FROM _hops)
"""


def break_cycles(con: duckdb.DuckDBPyConnection) -> None:
    """Make `tree`: `span_parents` without the edges that close a cycle.

    In a cycle every edge whose parent does not start before its child is cut, so that the earliest
    span becomes a root. Reads `span_parents` and `cycle_candidates`, the edges of traces where one
    is possible.
    """
    make_table(con, "_hops", "SELECT key, next FROM cycle_candidates")
    for _ in range(count(con, "_hops").bit_length()):
        make_table(con, "_hops", _JUMPED)
    # After so many jumps only what leads into a cycle is left, and it points into the cycle.
    make_table(con, "tree", _CYCLE_EDGES)


def follow(con: duckdb.DuckDBPyConnection, edges: str, ends: str) -> None:
    """Make the table `ends` (key, last): where each chain of `edges` (key, next) ends.

    Args:
        con: The connection that holds `edges`; at most one row per key, no cycles.
        edges: Name of the relation to follow. What has no row there is an end.
        ends: Name of the table to make: one row for each row of `edges`.
    """
    make_table(con, ends, f"SELECT key, next AS last FROM {edges}")
    while has_rows(con, _MOVING.format(ends=ends)):
        make_table(con, ends, _DOUBLED.format(ends=ends))
