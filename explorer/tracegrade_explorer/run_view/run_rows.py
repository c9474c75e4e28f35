"""Reads the rows of a run: all queries of its timeline, in parallel.

Makes:
    judged_runs (from run_index, trajectories, verdicts): `judged_runs`, as a table that all
        cursors see
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from duckdb import DuckDBPyConnection

from tracegrade_explorer.parallel import parallel
from tracegrade_explorer.responses import PageRequest
from tracegrade_explorer.snapshots.rows import FoundRun
from tracegrade_explorer.snapshots.snapshot import Row
from tracegrade_explorer.sql import QUERIES
from tracegrade_scoring.rendering.rows import read_rows
from tracegrade_scoring.timeline.model import Timeline
from tracegrade_scoring.timeline.read import (
    OF_LAKE,
    VERDICTS,
    Window,
    timeline_of,
    timeline_queries,
)

JUDGED_RUNS: Final = "judged_runs"


def read_run(request: PageRequest, found: FoundRun, window: Window) -> Timeline:
    """Return a run as the lake has it."""
    rows = parallel(timeline_rows(request, found, window))
    return timeline_of(request.site.lake, rows, found.trajectory_id)


def timeline_rows(
    request: PageRequest, found: FoundRun, window: Window
) -> dict[str, Callable[[], Any]]:
    """Return what reads the rows of each query of the timeline."""

    def rows(name: str, given: Mapping[str, object]) -> list[Row]:
        if name == VERDICTS and not _is_judged(request, found):
            return []
        con = request.cursor_of_lake() if name in OF_LAKE else request.cursor_of(found.date)
        return read_rows(con, name, **given)

    queries = timeline_queries(found.trajectory_id, found.date, window)
    return {name: partial(rows, name, given) for name, given in queries.items()}


def fill_judged_runs(con: DuckDBPyConnection) -> None:
    """Create `judged_runs`.

    Args:
        con: Holds the tables of a lake and `run_index`.
    """
    con.execute(f"CREATE OR REPLACE TABLE {JUDGED_RUNS} AS {QUERIES.text(JUDGED_RUNS)}")


def _is_judged(request: PageRequest, found: FoundRun) -> bool:
    """Return whether a run may have verdicts; planning to read them takes 20 times as long."""
    with request.cursor_of_lake() as con:
        request.snapshot.cached(JUDGED_RUNS, lambda: fill_judged_runs(con))
        row = con.execute(f"SELECT 1 FROM {JUDGED_RUNS} WHERE seq = $seq", {"seq": found.seq})
        return bool(row.fetchall())
