"""Reads one run from a lake."""

from datetime import date
from typing import Final, NamedTuple

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


class Window(NamedTuple):
    """Which steps of a run are read, and how much of them."""

    first: int = 0
    """Index of the first step."""
    rows: int = STEP_ROWS
    """Steps at most."""
    characters: int = CHARACTERS
    """Of each text at most."""


PAGE: Final = Window()


def read_timeline(
    con: DuckDBPyConnection, lake: str, name: str, window: Window = PAGE
) -> Timeline:
    """Return the steps of one trajectory with what scoring found at them.

    Args:
        con: Holds the tables of a lake.
        lake: The lake's name for the reader.
        name: Id of the trajectory, or enough of its beginning to identify it.
        window: What to read of it.

    Raises:
        TrajectoryUnknown: No trajectory has this id, or several begin so.
    """
    return read_dated_timeline(con, lake, *_identified(con, name), window)


def read_dated_timeline(
    con: DuckDBPyConnection, lake: str, trajectory_id: str, day: date, window: Window = PAGE
) -> Timeline:
    """Return the steps of one trajectory as `read_timeline` does, where its date is known.

    Args:
        con: Holds the tables of a lake.
        lake: The lake's name for the reader.
        trajectory_id: Its whole id.
        day: Date its trace was first received, in whose files alone it is looked for.
        window: What to read of it.

    Raises:
        TrajectoryUnknown: There is none of this date.
    """
    run_key = {"trajectory_id": trajectory_id, "date": day}
    runs = read_rows(con, "timeline_run", **run_key, characters=window.characters)
    if not runs:
        msg = f"no trajectory of {day} has the id '{trajectory_id}'"
        raise TrajectoryUnknown(msg)
    steps = read_rows(con, "timeline_steps", **run_key, **window._asdict())
    total = steps[0]["total"] if steps else 0
    marks = read_rows(con, "timeline_marks", **run_key)
    return Timeline(
        lake,
        TimelineRun(**runs[0]),
        tuple(Step(**{k: v for k, v in step.items() if k != "total"}) for step in steps),
        total,
        tuple(Mark(**{k: v for k, v in mark.items() if k != "place"}) for mark in marks),
        tuple(RunScore(**row) for row in read_rows(con, "timeline_scores", **run_key)),
        tuple(RunSubGoal(**row) for row in read_rows(con, "timeline_sub_goals", **run_key)),
    )


def _identified(con: DuckDBPyConnection, name: str) -> tuple[str, date]:
    """Return the whole id of the trajectory that a name means, and its date."""
    rows = read_rows(con, "named_trajectories", name=name)
    found = {row["trajectory_id"]: row["date"] for row in rows}
    if name in found or len(found) == 1:
        return next(iter(found.items()))
    if found:
        msg = f"several trajectories begin with '{name}': {', '.join(found)}; give one whole id"
    else:
        msg = (
            f"no trajectory has the id '{name}'; "
            'tracegrade sql "SELECT trajectory_id FROM trajectories" has them all'
        )
    raise TrajectoryUnknown(msg)
