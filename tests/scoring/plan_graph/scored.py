"""Scores small attempts by the real job: rows in memory in, metrics and sub-goal rows out."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import duckdb

from tracegrade_scoring import plan_graph, replanning

from ..build import Row, connection, prepared, specification


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

    con: duckdb.DuckDBPyConnection
    scores: Mapping[tuple[str, str], Score]
    sub_goals: Mapping[tuple[str, str], Mapping[str, Any]]

    def __getitem__(self, metric: str) -> Score:
        """Return a metric of attempt t1."""
        return self.scores["t1", metric]

    def sub_goal(self, name: str) -> Mapping[str, Any]:
        """Return the row of a sub-goal of attempt t1."""
        return self.sub_goals["t1", name]


def score(tasks: str, steps: Sequence[Row], trajectories: Sequence[Row]) -> Scored:
    """Return the scores of these trajectories against a task file's text."""
    con = prepared(connection(steps, trajectories), specification(tasks))
    plan_graph.score(con)
    replanning.score(con)
    scores = con.sql(
        "FROM plan_graph_scores UNION ALL BY NAME FROM replanning_scores ORDER BY ALL"
    ).to_arrow_table()
    rows = con.sql("FROM sub_goal_rows ORDER BY ALL").to_arrow_table().to_pylist()
    return Scored(
        con,
        {
            (row["trajectory_id"], row["metric"]): Score(*(row[name] for name in Score._fields))
            for row in scores.to_pylist()
        },
        {(row["trajectory_id"], row["sub_goal"]): row for row in rows},
    )


def plan(trajectory_id: str, step_index: int, steps: object) -> Row:
    """Return one plan step; None: its content was not captured."""
    return {
        "trajectory_id": trajectory_id,
        "step_index": step_index,
        "kind": "plan",
        "plan": None if steps is None else json.dumps(steps),
    }
