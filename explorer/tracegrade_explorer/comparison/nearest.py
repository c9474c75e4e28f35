"""Finds the successful run that is most similar to another one.

Makes:
    call_counts (from run_index, steps): `call_counts`, as a table that all cursors see
"""

from typing import Final

from duckdb import DuckDBPyConnection

from tracegrade_explorer.responses import PageRequest
from tracegrade_explorer.snapshots.rows import FoundRun
from tracegrade_explorer.snapshots.snapshot import Row, read
from tracegrade_explorer.sql import QUERIES

CALL_COUNTS: Final = "call_counts"


def nearest_success(request: PageRequest, found: FoundRun) -> Row | None:
    """Return the most similar successful run of the run's task; None without one.

    The first reader of a snapshot waits for the calls of all runs to be counted.
    """
    request.snapshot.cached(CALL_COUNTS, lambda: _count_calls(request))
    rows = read(request.con, "nearest_success", seq=found.seq, rows=1)
    return rows[0] if rows else None


def fill_call_counts(con: DuckDBPyConnection) -> None:
    """Create `call_counts`.

    Args:
        con: Holds the tables of a lake and `run_index`.
    """
    con.execute(f"CREATE OR REPLACE TABLE {CALL_COUNTS} AS {QUERIES.text(CALL_COUNTS)}")


def _count_calls(request: PageRequest) -> None:
    with request.cursor_of_lake() as con:
        fill_call_counts(con)
