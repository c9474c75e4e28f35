"""Reads the rows of a run: all queries of its timeline, in parallel."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from tracegrade_explorer.parallel import parallel
from tracegrade_explorer.responses import PageRequest
from tracegrade_explorer.snapshots.rows import FoundRun
from tracegrade_explorer.snapshots.snapshot import Row
from tracegrade_scoring.rendering.rows import read_rows
from tracegrade_scoring.timeline.model import Timeline
from tracegrade_scoring.timeline.read import OF_LAKE, Window, timeline_of, timeline_queries


def read_run(request: PageRequest, found: FoundRun, window: Window) -> Timeline:
    """Return a run as the lake has it."""
    rows = parallel(timeline_rows(request, found, window))
    return timeline_of(request.site.lake, rows, found.trajectory_id)


def timeline_rows(
    request: PageRequest, found: FoundRun, window: Window, metrics: Sequence[str] = ()
) -> dict[str, Callable[[], Any]]:
    """Return what reads the rows of each query of the timeline; all scores without `metrics`."""

    def rows(name: str, given: Mapping[str, object]) -> list[Row]:
        con = request.cursor_of_lake() if name in OF_LAKE else request.cursor_of(found.date)
        return read_rows(con, name, **given)

    queries = timeline_queries(found.trajectory_id, found.date, window, metrics)
    return {name: partial(rows, name, given) for name, given in queries.items()}
