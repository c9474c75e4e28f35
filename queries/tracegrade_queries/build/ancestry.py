"""Follows chains of spans in DuckDB by pointer doubling: as many rounds as the depth has digits.

A recursive query costs one round for each level, and a trace of ten thousand nested agents would
take ten thousand of them. Here each round lets every pointer jump to where its target points.
"""

from typing import Final

import duckdb

_DOUBLED: Final = """
CREATE OR REPLACE TEMP TABLE _doubled AS
SELECT hops.key, coalesce(onward.next, hops.next) AS next, onward.next IS NOT NULL AS moved
FROM _hops AS hops
LEFT JOIN _hops AS onward ON hops.next = onward.key
"""

_CYCLE_EDGES: Final = """
CREATE OR REPLACE TEMP TABLE tree AS
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
    con.execute("CREATE OR REPLACE TEMP TABLE _hops AS SELECT key, next FROM cycle_candidates")
    for _ in range(_count(con, "_hops").bit_length()):
        con.execute(
            "CREATE OR REPLACE TEMP TABLE _hops AS SELECT hops.key, onward.next "
            "FROM _hops AS hops INNER JOIN _hops AS onward ON hops.next = onward.key"
        )
    # After so many jumps only what leads into a cycle is left, and it points into the cycle.
    con.execute(_CYCLE_EDGES)


def follow(con: duckdb.DuckDBPyConnection, edges: str, ends: str) -> None:
    """Make the table `ends` (key, last): where each chain of `edges` (key, next) ends.

    Args:
        con: The connection that holds `edges`; at most one row per key, no cycles.
        edges: Name of the relation to follow. What has no row there is an end.
        ends: Name of the table to make: one row for each row of `edges`.
    """
    con.execute(f"CREATE OR REPLACE TEMP TABLE _hops AS SELECT key, next FROM {edges}")
    while True:
        con.execute(_DOUBLED)
        con.execute("CREATE OR REPLACE TEMP TABLE _hops AS SELECT key, next FROM _doubled")
        if not con.sql("SELECT bool_or(moved) FROM _doubled").fetchall()[0][0]:
            break
    con.execute(f"CREATE OR REPLACE TEMP TABLE {ends} AS SELECT key, next AS last FROM _hops")


def _count(con: duckdb.DuckDBPyConnection, table: str) -> int:
    rows: int = con.sql(f"SELECT count(*) FROM {table}").fetchall()[0][0]
    return rows
