"""Reads one run from a lake."""

from duckdb import DuckDBPyConnection

from tracegrade_scoring.errors import TrajectoryUnknown
from tracegrade_scoring.rendering.rows import read_rows
from tracegrade_scoring.timeline.model import (
    Mark,
    RunScore,
    RunSubGoal,
    Step,
    Timeline,
    TimelineRun,
)

STEP_ROWS = 2_000
"""Steps of a page: as many as it still scrolls well."""
CHARACTERS = 20_000
"""Of one text on a page: more than anybody reads, less than a browser minds."""


def read_timeline(
    con: DuckDBPyConnection,
    lake: str,
    name: str,
    *,
    rows: int = STEP_ROWS,
    characters: int = CHARACTERS,
) -> Timeline:
    """Return the steps of one trajectory with what scoring found at them.

    Args:
        con: Holds the tables of a lake.
        lake: The lake's name for the reader.
        name: Id of the trajectory, or enough of its beginning to identify it.
        rows: Steps to read at most.
        characters: Characters of each text to read at most.

    Raises:
        TrajectoryUnknown: No trajectory has this id, or several begin so.
    """
    trajectory_id = _trajectory_id(con, name)
    of_run = {"trajectory_id": trajectory_id}
    (run,) = read_rows(con, "timeline_run", **of_run, characters=characters)
    steps = read_rows(con, "timeline_steps", **of_run, rows=rows, characters=characters)
    total = steps[0]["total"] if steps else 0
    marks = read_rows(con, "timeline_marks", **of_run)
    return Timeline(
        lake,
        TimelineRun(**run),
        tuple(Step(**{k: v for k, v in step.items() if k != "total"}) for step in steps),
        total,
        tuple(Mark(**{k: v for k, v in mark.items() if k != "place"}) for mark in marks),
        tuple(RunScore(**row) for row in read_rows(con, "timeline_scores", **of_run)),
        tuple(RunSubGoal(**row) for row in read_rows(con, "timeline_sub_goals", **of_run)),
    )


def _trajectory_id(con: DuckDBPyConnection, name: str) -> str:
    found: list[str] = [
        row["trajectory_id"] for row in read_rows(con, "named_trajectories", name=name)
    ]
    if name in found or len(found) == 1:
        return found[0]
    if found:
        msg = f"several trajectories begin with '{name}': {', '.join(found)}; give one whole id"
    else:
        msg = (
            f"no trajectory has the id '{name}'; "
            'tracegrade sql "SELECT trajectory_id FROM trajectories" has them all'
        )
    raise TrajectoryUnknown(msg)
