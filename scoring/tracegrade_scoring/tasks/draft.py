"""Successful runs of a lake → a task file to correct (`tracegrade tasks draft`).

What agents did is not a standard to judge them by; it is a start for a person to correct. What
the runs cannot say, such as the effect of a tool that no span declares, stands as a comment.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import duckdb
import yaml

from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.errors import NothingToDraft
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.relations import materialise, start
from tracegrade_scoring.sql import query
from tracegrade_scoring.tasks.expected_value import as_key, literally

UNKNOWN_EFFECT: Final = "    # effect: read | write | destructive"

UNKNOWN_CALLS: Final = "        # serves: [which tools?]"


class Declared(NamedTuple):
    """What spans declare of a tool; a row of `declared_tools.sql`."""

    name: str
    effect: str | None
    cost: float | None

    def tool(self) -> dict[str, Any]:
        """Return it as a tool of a task file."""
        known = {"effect": self.effect, "cost": None if self.cost is None else _number(self.cost)}
        return {key: value for key, value in known.items() if value is not None}


class Path(NamedTuple):
    """One way in which runs of a task succeeded; a row of `successful_paths.sql`."""

    agent_name: str | None
    task_id: str | None
    tools: Sequence[str]
    runs: int
    all_runs: int
    place: int
    least_calls: int
    constants: str
    sub_goals: str

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The calls as decision points, with the arguments that every one of the runs gave."""
        points: list[dict[str, Any]] = [{"tool": tool} for tool in self.tools]
        for constant in json.loads(self.constants):
            given = points[constant["place"] - 1].setdefault("arguments", {})
            given[as_key(constant["name"])] = literally(constant["value"])
        return points

    def task(self) -> dict[str, Any]:
        """Return the path as a task of a task file."""
        served = {each["name"]: each["tools"] for each in json.loads(self.sub_goals)}
        task = {
            "expected": self.calls,
            "expected_complete": True,
            "optimal_steps": self.least_calls,
        }
        goals = {name: {"serves": tools} if tools else {} for name, tools in served.items()}
        return {**task, "sub_goals": goals} if goals else task


def successful_paths(con: duckdb.DuckDBPyConnection, agent_name: str | None) -> list[Path]:
    """Return the ways in which runs succeeded, of each task the most common first.

    Args:
        con: Connected to a lake, with its score tables.
        agent_name: Only runs of this agent; None for all.
    """
    materialise(con, "attempt_members")
    start(con, "called_agents", "SELECT trajectory_id, step_index, tool_name FROM steps")
    materialise(con, "attempt_order")
    rows = con.execute(query("successful_paths"), {"agent_name": agent_name}).fetchall()
    return [Path(*row) for row in rows]


def declared_tools(con: duckdb.DuckDBPyConnection) -> list[Declared]:
    """Return what spans declare of each tool that was called."""
    return [Declared(*row) for row in con.sql(query("declared_tools")).fetchall()]


def draft_file(lake: Lake, agent_name: str | None, note: Callable[[str], object]) -> str:
    """Return a task file with each task's most common successful path, as YAML with comments.

    Args:
        lake: The lake; a run succeeded if its scores, or else its trace, say so.
        agent_name: Only runs of this agent; None for all.
        note: Gets a line about what was found.

    Raises:
        NothingToDraft: No run is known to have succeeded.
    """
    with connect(lake, layers=(SCORES,)) as con:
        paths = successful_paths(con, agent_name)
        declared = declared_tools(con)
    if not paths:
        msg = "no run is known to have succeeded; import verdicts, or score with a task file"
        raise NothingToDraft(msg)
    best = [path for path in paths if path.place == 1]
    runs = sum(path.all_runs for path in best)
    note(f"tasks: {len(best)}, from successful runs: {runs}")
    used = {tool for path in best for tool in path.tools}
    tools = [tool for tool in declared if tool.name in used]
    return "\n".join([*_HEAD, *_tool_lines(tools), "tasks:", *_task_lines(best)]) + "\n"


_HEAD: Final = (
    "# Drafted from successful runs: say what is right, not what was done. Arguments are those",
    "# that all runs of a path gave alike; strike the ones that need not be so.",
    "version: 1",
)


def _tool_lines(tools: Sequence[Declared]) -> Iterator[str]:
    if tools:
        yield "tools:"
    for tool in tools:
        yield f"  {_yaml(tool.name)}: {_yaml(tool.tool())}"
        if tool.effect is None:
            yield UNKNOWN_EFFECT


def _task_lines(paths: Sequence[Path]) -> Iterator[str]:
    taken: set[str] = set()
    for path in paths:
        name = _unused(path.task_id or _slug(path.agent_name), taken)
        yield f"  {_yaml(name)}:"
        if path.task_id is None and path.agent_name is not None:
            yield f"    match: {{agent_name: {_yaml(path.agent_name)}}}"
        yield f"    # {path.runs} of {path.all_runs} successful runs took this path."
        yield "    expected:" if path.tools else "    expected: []"
        yield from (f"      - {_yaml(call)}" for call in path.calls)
        yield "    expected_complete: true"
        yield f"    optimal_steps: {path.least_calls}"
        yield from _sub_goal_lines(json.loads(path.sub_goals))


def _sub_goal_lines(sub_goals: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if sub_goals:
        yield "    sub_goals:"
    for sub_goal in sub_goals:
        served = {"serves": sub_goal["tools"]} if sub_goal["tools"] else {}
        yield f"      {_yaml(sub_goal['name'])}: {_yaml(served)}"
        if not served:
            yield UNKNOWN_CALLS


def _number(value: float) -> float:
    """Return a number as one writes it: 2.0 as 2."""
    return int(value) if value.is_integer() else value


def _slug(agent_name: str | None) -> str:
    return re.sub(r"[^a-z0-9]+", "-", (agent_name or "").casefold()).strip("-") or "task"


def _unused(name: str, taken: set[str]) -> str:
    """Return the name, with a number if another task has it: agents may share a task."""
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name}-{number}"
    taken.add(found)
    return found


def _yaml(value: Any) -> str:
    """Return a value as it stands in a flow mapping of YAML, on one line."""
    text: str = yaml.safe_dump(
        [value], default_flow_style=True, allow_unicode=True, width=10**9, sort_keys=False
    )
    return text.strip()[1:-1]
