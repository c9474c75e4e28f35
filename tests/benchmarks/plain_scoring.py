"""Sub-goals and replans of trajectories in plain Python: a loop over the steps of each one.

What a hand-written scorer does, as published descriptions of sub-goal completion sketch it: walk
the steps, note which sub-goals were attempted, ask each one's check of the final state, count the
plans that differ from the one before. Four numbers a trajectory, for trajectories whose task is
told; beside it stands what `score` needs for all of its metrics.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect

NUMBERS: Final = 4
"""Said of each trajectory."""

SAMPLE: Final = 20_000
"""Most trajectories that are scored; all would take too long."""

State = Mapping[str, list[Any]]
"""By tool: its results that went well, as JSON."""


@dataclass(frozen=True)
class SubGoal:
    """A node of a task's graph."""

    critical: bool
    check: Callable[[State], bool]
    """Whether it holds in the final state."""


class Found(NamedTuple):
    """What is said of one trajectory."""

    attempted: set[str]
    completed: set[str]
    skipped_critical: set[str]
    replans: int


@dataclass(frozen=True)
class Task:
    """A task's graph, and which of its sub-goals each tool serves."""

    sub_goals: Mapping[str, SubGoal]
    served_by: Mapping[str, str]


def tasks_of(path: Path) -> dict[str, Task]:
    """Return the tasks of a file, each sub-goal done if a call of a serving tool went well."""
    described = yaml.safe_load(path.read_text())["tasks"]
    return {name: _task(task["sub_goals"]) for name, task in described.items()}


def _task(sub_goals: Mapping[str, Any]) -> Task:
    return Task(
        {
            name: SubGoal(goal["critical"], partial(_went_well, goal["serves"]))
            for name, goal in sub_goals.items()
        },
        {tool: name for name, goal in sub_goals.items() for tool in goal["serves"]},
    )


def _went_well(tools: list[str], state: State) -> bool:
    return any(tool in state for tool in tools)


def score_steps(steps: list[dict[str, Any]], task: Task) -> Found:
    """Return what the steps of one trajectory, in their order, show of its task's sub-goals."""
    state = final_state(steps)
    attempted, completed = set(), set()
    last_plan: list[Any] = []
    replans = 0
    for step in steps:
        plan = json.loads(step["plan"]) if step["plan"] else []
        if last_plan and plan and plan != last_plan:
            replans += 1
        last_plan = plan or last_plan
        name = task.served_by.get(step["tool_name"]) if step["kind"] == "tool_call" else None
        if name is not None:
            attempted.add(name)
            if task.sub_goals[name].check(state):
                completed.add(name)
    critical = {name for name, sub_goal in task.sub_goals.items() if sub_goal.critical}
    return Found(attempted, completed, critical - attempted, replans)


def final_state(steps: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return what the calls that went well left, by tool."""
    state: dict[str, list[Any]] = {}
    for step in steps:
        if step["kind"] == "tool_call" and step["status"] == "ok":
            state.setdefault(step["tool_name"], []).append(json.loads(step["result"]))
    return state


def score_plainly(place: Path) -> int:
    """Return how many trajectories of the first date were scored, of those whose task is told."""
    tasks = tasks_of(place / "tasks.yaml")
    with connect(Lake.open(place)) as con:
        (first,) = con.sql("SELECT min(date) FROM trajectories").fetchall()[0]
        found = con.sql(_SAMPLE, params={"runs": SAMPLE, "date": first})
        rows = [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]
    runs = (list(steps) for _, steps in groupby(rows, itemgetter("trajectory_id")))
    return sum(1 for steps in runs if score_steps(steps, tasks[steps[0]["task_id"]]))


_SAMPLE: Final = """
  SELECT trajectory_id, task_id, kind, tool_name, status, result, plan
  FROM steps
  INNER JOIN (
    SELECT trajectory_id, task_id FROM trajectories
    WHERE task_id IS NOT NULL AND date = $date ORDER BY trajectory_id LIMIT $runs
  ) USING (trajectory_id)
  WHERE date = $date
  ORDER BY trajectory_id, step_index
"""
