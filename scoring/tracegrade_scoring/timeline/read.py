"""Reads one run from a lake."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final, NamedTuple

from duckdb import DuckDBPyConnection

from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_scoring.errors import TrajectoryUnknown
from tracegrade_scoring.rendering.own_metrics import OWN_METRICS, own_metrics
from tracegrade_scoring.rendering.rows import read_rows
from tracegrade_scoring.timeline.agents import attempt_agents
from tracegrade_scoring.timeline.model import (
    DeclaredPlan,
    Mark,
    RunAgent,
    RunReason,
    RunScore,
    RunSubGoal,
    RunVerdict,
    Step,
    Timeline,
    TimelineRun,
)

STEP_ROWS = 2_000
"""Steps of a page: as many as it still scrolls well."""
STEPS: Final = "timeline_steps"
VERDICTS: Final = "timeline_verdicts"
OF_LAKE: Final = frozenset({VERDICTS, OWN_METRICS})
"""Queries of tables that have no dates, or others than those of traces."""
VERDICT_ROWS: Final = 500
"""Verdicts of a page: those on success first."""
CHARACTERS = 20_000
"""Limit of one text on a page: more than a person reads, and no burden for a browser."""


class Window(NamedTuple):
    """The steps of a run to read, and the length of their texts."""

    first: int = 0
    """Index of the first step."""
    rows: int = STEP_ROWS
    """Steps at most."""
    characters: int = CHARACTERS
    """Limit of the characters of each text."""


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
    return read_dated_timeline(con, lake, *identified(con, name), window)


def read_dated_timeline(
    con: DuckDBPyConnection, lake: str, trajectory_id: str, day: date, window: Window = PAGE
) -> Timeline:
    """Return the steps of one trajectory as `read_timeline` does, where its date is known.

    Args:
        con: Holds the tables of a lake.
        lake: The lake's name for the reader.
        trajectory_id: Its whole id.
        day: Date its trace was first received, so that only files of that date are read.
        window: The steps to read.

    Raises:
        TrajectoryUnknown: There is none of this date.
    """
    queries = timeline_queries(trajectory_id, day, window)
    rows = {name: read_rows(con, name, **given) for name, given in queries.items()}
    return timeline_of(lake, rows, trajectory_id)


def timeline_queries(
    trajectory_id: str, day: date, window: Window = PAGE, metrics: Sequence[str] = ()
) -> dict[str, dict[str, object]]:
    """Return the queries of a timeline by name, each with its parameters, the longest first.

    Args:
        trajectory_id: Its whole id.
        day: Date its trace was first received.
        window: The steps to read.
        metrics: The scores to read; all if empty. It takes long to read them all.
    """
    run_key: dict[str, object] = {"trajectory_id": trajectory_id, "date": day}
    return {
        "timeline_scores": {**run_key, "metrics": [*metrics]},
        VERDICTS: {**run_key, "characters": window.characters, "rows": VERDICT_ROWS},
        STEPS: {**run_key, **window._asdict()},
        "timeline_marks": run_key,
        "timeline_run": {**run_key, "characters": window.characters},
        "timeline_reasons": run_key,
        "timeline_sub_goals": run_key,
        "timeline_plans": run_key,
        "timeline_agents": run_key,
        OWN_METRICS: {},
    }


def timeline_of(
    lake: str, rows: Mapping[str, Sequence[ResultRow]], trajectory_id: str
) -> Timeline:
    """Return the timeline that the rows of these queries make.

    Args:
        lake: The lake's name for the reader.
        rows: Rows of `timeline_queries`, by name.
        trajectory_id: The trajectory.

    Raises:
        TrajectoryUnknown: There is none of this date.
    """
    if not rows["timeline_run"]:
        msg = f"no trajectory has the id '{trajectory_id}' on its date; it may have been deleted"
        raise TrajectoryUnknown(msg)
    steps, scores, verdicts = (rows[name] for name in (STEPS, "timeline_scores", VERDICTS))
    return Timeline(
        lake,
        _run(rows["timeline_run"][0], scores),
        _steps(steps),
        steps[0]["total"] if steps else 0,
        tuple(Mark(**_without(mark, "position")) for mark in rows["timeline_marks"]),
        tuple(RunScore(**_without(score, "task_id")) for score in scores),
        tuple(RunSubGoal(**row) for row in rows["timeline_sub_goals"]),
        tuple(RunVerdict(**_without(verdict, "total")) for verdict in verdicts),
        verdicts[0]["total"] if verdicts else 0,
        tuple(RunReason(**row) for row in rows["timeline_reasons"]),
        own_metrics(rows[OWN_METRICS]),
        attempt_agents([RunAgent(**row) for row in rows["timeline_agents"]], trajectory_id),
        tuple(DeclaredPlan(**row) for row in rows["timeline_plans"]),
    )


def read_steps(
    con: DuckDBPyConnection, trajectory_id: str, day: date, window: Window = PAGE
) -> tuple[Step, ...]:
    """Return the steps of a trajectory alone, as its timeline has them.

    Args:
        con: Holds the tables of a lake.
        trajectory_id: Its whole id.
        day: Date its trace was first received.
        window: The steps to read.
    """
    given = timeline_queries(trajectory_id, day, window)[STEPS]
    return _steps(read_rows(con, STEPS, **given))


def _steps(rows: Sequence[ResultRow]) -> tuple[Step, ...]:
    return tuple(Step(**_without(row, "total")) for row in rows)


def _run(run: ResultRow, scores: Sequence[ResultRow]) -> TimelineRun:
    """Return the run; its task is the task that it was scored by, else the trace's."""
    task_id = scores[0]["task_id"] if scores else None
    known = run["task_id"] if task_id is None else task_id
    return TimelineRun(**{**run, "task_id": known})


def _without(row: ResultRow, name: str) -> ResultRow:
    return {key: value for key, value in row.items() if key != name}


def identified(con: DuckDBPyConnection, name: str) -> tuple[str, date]:
    """Return the whole id of the trajectory that a name means, and its date.

    Args:
        con: Holds the tables of a lake.
        name: Id of the trajectory, or enough of its beginning to identify it.

    Raises:
        TrajectoryUnknown: No trajectory has this id, or several begin so.
    """
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
