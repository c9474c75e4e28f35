"""Scores small attempts by the real job: rows in memory in, metrics and sub-goal rows out."""

import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import duckdb
from tests.scoring.build import (
    Row,
    call,
    connection,
    prepared,
    score_rows,
    specification,
    trajectory,
)

from tracegrade_scoring.tasks import Specification


class Score(NamedTuple):
    """One metric of one attempt."""

    value: float | None
    numerator: float | None
    denominator: float | None
    status: str
    label: str | None
    reason: str | None


@dataclass(frozen=True)
class Scored:
    """All that was scored."""

    scores: Mapping[tuple[str, str], Score]
    sub_goals: Mapping[tuple[str, str], Mapping[str, Any]]

    def __getitem__(self, metric: str) -> Score:
        """Return a metric of attempt t1."""
        return self.scores["t1", metric]

    def sub_goal(self, name: str) -> Mapping[str, Any]:
        """Return the row of a sub-goal of attempt t1."""
        return self.sub_goals["t1", name]


def score(
    tasks: str,
    steps: Sequence[Row],
    trajectories: Sequence[Row],
    verdicts: Sequence[Row] = (),
) -> Scored:
    """Return the scores of these trajectories against a task file's text."""
    with connection(steps, trajectories, verdicts) as con:
        return graph_scores(con, specification(tasks))


def one(
    goals: str,
    calls: Sequence[str | Mapping[str, Any]],
    verdicts: Sequence[Row] = (),
    **columns: Any,
) -> Scored:
    """Score one attempt at one task; a call is its tool, or its columns."""
    tasks = f"tasks:\n  x:\n    sub_goals:\n{goals}"
    steps = []
    for i, made in enumerate(calls):
        given = {"tool_name": made} if isinstance(made, str) else made
        steps.append(call("t1", i, **given))
    return score(tasks, steps, [trajectory("t1", task_id="x", **columns)], verdicts)


class PlanCase(NamedTuple):
    """One attempt at one task, as `one` takes it."""

    goals: str
    calls: Sequence[str | Mapping[str, Any]]
    columns: Mapping[str, Any] = {}
    verdicts: Sequence[Row] = ()


Scene: TypeAlias = Generator[Sequence[PlanCase], list[Scored], None]
"""A test that yields attempts and goes on with their scores."""


def several(*attempts: PlanCase) -> list[Scored]:
    """Score attempts at tasks of their own at once, which is as good as one by one and faster."""
    tried = {f"x{i}": each for i, each in enumerate(attempts)}
    tasks = "".join(f"\n  {name}:\n    sub_goals:\n{each.goals}" for name, each in tried.items())
    steps = [
        call(name, i, **({"tool_name": made} if isinstance(made, str) else made))
        for name, each in tried.items()
        for i, made in enumerate(each.calls)
    ]
    runs = [trajectory(name, task_id=name, **each.columns) for name, each in tried.items()]
    verdicts = [
        {**verdict, "trajectory_id": name}
        for name, each in tried.items()
        for verdict in each.verdicts
    ]
    found = score(f"tasks:{tasks}", steps, runs, verdicts)
    return [
        Scored(
            {("t1", metric): score for (of, metric), score in found.scores.items() if of == name},
            {("t1", goal): row for (of, goal), row in found.sub_goals.items() if of == name},
        )
        for name in tried
    ]


def goal(**columns: Any) -> Mapping[str, Any]:
    """Return the columns of a call."""
    return columns


def graph_scores(con: duckdb.DuckDBPyConnection, spec: Specification) -> Scored:
    """Return the scores of attempts; the connection is as `connection` returns it."""
    prepared(con, spec, "plan_graph", "own_plan", "replanning")
    said = score_rows(con, "sub_goal_scores", "plan_scores", "replanning_scores")
    goal_rows = _rows(con, "FROM sub_goal_rows")
    return Scored(
        {(attempt, metric): Score(*score[:6]) for attempt, metric, score in said},
        {(row["trajectory_id"], row["sub_goal"]): row for row in goal_rows},
    )


def _rows(con: duckdb.DuckDBPyConnection, sql: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = con.sql(sql).to_arrow_table().to_pylist()
    return rows


def plan(trajectory_id: str, step_index: int, steps: object) -> Row:
    """Return one plan step; None: its content was not captured."""
    return {
        "trajectory_id": trajectory_id,
        "step_index": step_index,
        "kind": "plan",
        "plan": None if steps is None else json.dumps(steps),
    }
