"""Attempts whose tool selection is scored, and what is read of them."""

from collections.abc import Sequence
from typing import Any

import duckdb
import yaml
from tests.scoring.build import (
    Case,
    Row,
    Score,
    call,
    connection,
    scored,
    scored_at_once,
    specification,
    trajectory,
)

TOOLS = """
tools:
  list_all: {effect: read, cost: 20, alternatives: [is_empty]}
  is_empty: {effect: read, cost: 1}
  read: {effect: read, cost: 1}
  free_space: {effect: read, cost: 1}
  write: {effect: write, cost: 2, alternatives: [free_space]}
  archive: {effect: write, cost: 2}
  delete: {effect: destructive, cost: 1, alternatives: [archive]}
"""
REASON = "SELECT decision, picked_tool, correct, failed_criteria, reason FROM decision_rows"


def run(
    task: str,
    calls: Sequence[Row],
    *,
    tools: str = TOOLS,
    ended: str | None = None,
    **columns: Any,
) -> duckdb.DuckDBPyConnection:
    """Return the scored connection of one attempt of the task `t`."""
    spec = specification(f"{tools}\ntasks:\n  t: {task}")
    con = connection(calls, [trajectory("t1", **{"task_id": "t", **columns})])
    con.execute("CREATE TEMP TABLE endings (trajectory_id TEXT, ending TEXT)")
    if ended:
        con.execute("INSERT INTO endings VALUES ('t1', $ended)", {"ended": ended})
    return scored(con, spec, until="tool_correctness")


def attempt(task: str, calls: Sequence[Row], ended: str | None = None, **columns: Any) -> Case:
    """Return an attempt at a task, which is given in YAML."""
    return Case(calls, yaml.safe_load(task), columns, ended)


def at_once(cases: Sequence[Case], tools: str = TOOLS) -> list[dict[str, Score]]:
    """Return the scores of each case's attempt."""
    return scored_at_once(cases, tools, until="tool_correctness")


def picks(*names: str, **columns: Any) -> list[Row]:
    """Return one good call of each tool, in order."""
    return [call("t1", i, name, **columns) for i, name in enumerate(names)]


def failing(step_index: int, name: str, **columns: Any) -> Row:
    """Return a call that failed."""
    return call("t1", step_index, name, status="error", **columns)
