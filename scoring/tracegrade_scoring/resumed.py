"""Joins a resumed run with its earlier parts, so that it counts once with all that they used.

Its own module because reports and comparisons count runs alike.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from duckdb import DuckDBPyConnection

from tracegrade_queries.engine.relations import has_rows, only
from tracegrade_scoring.sql import RELATIONS

_EARLIER: Final = (
    "trajectory_id IN (SELECT trajectory_id FROM superseded_runs WHERE continued_by IS NOT NULL)"
)
_CONTINUED_BY: Final = (
    "(SELECT arg_min(continued_by, trajectory_id) FROM superseded_runs AS earlier "
    "WHERE earlier.trajectory_id = trajectories.trajectory_id)"
)
# Its calls belong to the run that continues it, which received their results.
_AS_PARTS: Final = (
    f"* REPLACE (coalesce(parent_trajectory_id, {_CONTINUED_BY}) AS parent_trajectory_id, "
    + ", ".join(
        f"if({_EARLIER}, 0, {column}) AS {column}"
        for column in ("step_count", "tool_call_count", "error_count")
    )
    + ")"
)


@contextmanager
def counted_once(con: DuckDBPyConnection) -> Iterator[None]:
    """Make the earlier parts of a run parts of it in `trajectories`, like sub-agents' runs.

    So they are not runs, and their tokens and costs belong to the run. Their steps do not count,
    since the run that continues them has the relevant ones. It makes `superseded_runs`, for all
    runs of the tables.

    Args:
        con: Holds the tables of a scored lake.
    """
    RELATIONS.make(con, "superseded_runs")
    if not has_rows(con, "superseded_runs WHERE continued_by IS NOT NULL"):
        yield
        return
    with only(con, ("trajectories",), "TRUE", _AS_PARTS):
        yield
