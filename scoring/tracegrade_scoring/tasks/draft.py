"""Successful runs of a lake → a task file to correct (`tracegrade tasks draft`).

The actions of agents are not a standard for judging them; the draft is a start for a person to
correct. Facts that the runs lack, such as the effect of a tool that no span declares, are
comments.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import duckdb
import yaml

from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_queries.engine.relations import make_table
from tracegrade_scoring.errors import NothingToDraft
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.sql import RELATIONS, query
from tracegrade_scoring.tasks.expected_value import as_key, literally
from tracegrade_scoring.tasks.proposed import Proposed, ToolUse, fewest_calls, proposed, unused

UNKNOWN_EFFECT: Final = "    # effect: read | write | destructive"

UNKNOWN_CALLS: Final = "        # serves: [which tools?]"


@dataclass(frozen=True)
class DraftedFrom:
    """The runs that a draft reads."""

    agent_name: str | None = None
    """Only runs of this agent; None for all."""
    any_outcome: bool = False
    """Runs that are not known to have succeeded, too."""
    trajectories: Sequence[str] = ()
    """Only these runs, however they ended; empty for all."""

    @property
    def runs(self) -> str:
        """The name of these runs in comments."""
        return "runs" if self.any_outcome or self.trajectories else "successful runs"


class Declared(NamedTuple):
    """Declarations of a tool on spans; a row of `declared_tools.sql`."""

    name: str
    effect: str | None
    cost: float | None

    def tool(self) -> dict[str, Any]:
        """Return it as a tool of a task file."""
        known = {"effect": self.effect, "cost": None if self.cost is None else _number(self.cost)}
        return {key: value for key, value in known.items() if value is not None}


class CallSequence(NamedTuple):
    """The most common way in which runs did a task, and what all of them propose.

    A row of `successful_paths.sql`.
    """

    agent_name: str | None
    task_id: str | None
    tools: Sequence[str]
    runs: int
    all_runs: int
    all_calls: str
    constants: str
    sub_goals: str
    least_calls: int = 0
    """The fewest that any of the same runs needed."""
    proposed: Sequence[Proposed] = ()
    """Sub-goals of the runs of the task (1,000 at most); none if their spans declare sub-goals."""

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The calls as decision points, with the arguments that every one of the runs gave."""
        points: list[dict[str, Any]] = [{"tool": tool} for tool in self.tools]
        for constant in json.loads(self.constants):
            given = points[constant["position"] - 1].setdefault("arguments", {})
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
        goals |= {each.name: each.sub_goal() for each in self.proposed}
        return {**task, "sub_goals": goals} if goals else task


def successful_paths(con: duckdb.DuckDBPyConnection, chosen: DraftedFrom) -> list[CallSequence]:
    """Return the most common way in which runs did each task, and what they propose.

    Args:
        con: Connected to a lake, with its score tables.
        chosen: Which runs.
    """
    RELATIONS.make(con, "attempt_members")
    make_table(
        con, "called_agents", "SELECT trajectory_id, step_index, tool_name FROM steps LIMIT 0"
    )
    RELATIONS.make(con, "attempt_order")
    parameters = {
        "agent_name": chosen.agent_name,
        "any_outcome": chosen.any_outcome,
        "runs": [*chosen.trajectories] or None,
    }
    rows = con.execute(query("successful_paths"), parameters).fetchall()
    effects = {each.name: each.effect for each in declared_tools(con)}
    return [_with_proposals(CallSequence(*row), effects) for row in rows]


def _with_proposals(path: CallSequence, effects: Mapping[str, str | None]) -> CallSequence:
    runs = [[ToolUse(**call) for call in run] for run in json.loads(path.all_calls)]
    goals = [] if json.loads(path.sub_goals) else proposed(runs, effects)
    return path._replace(least_calls=fewest_calls(runs, effects), proposed=goals)


def declared_tools(con: duckdb.DuckDBPyConnection) -> list[Declared]:
    """Return what spans declare of each tool that was called."""
    return [Declared(*row) for row in con.sql(query("declared_tools")).fetchall()]


def draft_file(lake: Lake, chosen: DraftedFrom, note: Callable[[str], object]) -> str:
    """Return a task file with each task's most common path and sub-goals, as YAML with comments.

    Args:
        lake: The lake; a run succeeded if its scores, or else its trace, mark it as successful.
        chosen: The runs to read.
        note: Gets a line about the result.

    Raises:
        NothingToDraft: There is no such run.
    """
    with connect(lake, layers=(SCORES,)) as con:
        paths = successful_paths(con, chosen)
        declared = declared_tools(con)
        _refuse_absent(con, chosen)
    if not paths:
        msg = "no run is known to have succeeded; import verdicts, score with a task file, or "
        msg += "give --any or --run to draft from other runs"
        raise NothingToDraft(msg)
    runs = sum(path.all_runs for path in paths)
    note(f"tasks: {len(paths)}, from {chosen.runs}: {runs}")
    used = {tool for path in paths for tool in path.tools}
    tools = [tool for tool in declared if tool.name in used]
    lines = [*_head(chosen), *_tool_lines(tools), "tasks:", *_task_lines(paths, chosen.runs)]
    return "\n".join(lines) + "\n"


def _refuse_absent(con: duckdb.DuckDBPyConnection, chosen: DraftedFrom) -> None:
    """Refuse ids of runs that are not there.

    Raises:
        NothingToDraft: One is not.
    """
    roots = "SELECT trajectory_id FROM trajectories WHERE parent_trajectory_id IS NULL"
    found = {run for (run,) in con.sql(roots).fetchall()}
    absent = [run for run in chosen.trajectories if run not in found]
    if absent:
        msg = f"no run '{absent[0]}' that could be drafted; the table `trajectories` has their ids"
        raise NothingToDraft(msg)


def _head(chosen: DraftedFrom) -> list[str]:
    return [
        f"# Drafted from {chosen.runs}: say what is right, not what was done. Arguments are those",
        "# that all runs of a path gave alike; strike the ones that need not be so. Sub-goals are",
        "# calls that most runs of a task made; those that were made in all of them, of these the",
        "# writes where effects are known, are critical. They depend on what came before them in",
        "# every run.",
        "version: 1",
    ]


def _tool_lines(tools: Sequence[Declared]) -> Iterator[str]:
    if tools:
        yield "tools:"
    for tool in tools:
        yield f"  {_yaml(tool.name)}: {_yaml(tool.tool())}"
        if tool.effect is None:
            yield UNKNOWN_EFFECT


def _task_lines(paths: Sequence[CallSequence], runs: str) -> Iterator[str]:
    taken: set[str] = set()
    for path in paths:
        name = unused(path.task_id or _slug(path.agent_name), taken)
        yield f"  {_yaml(name)}:"
        if path.task_id is None and path.agent_name is not None:
            yield f"    match: {{agent_name: {_yaml(path.agent_name)}}}"
        yield f"    # {path.runs} of {path.all_runs} {runs} took this path."
        yield "    expected:" if path.tools else "    expected: []"
        yield from (f"      - {_yaml(call)}" for call in path.calls)
        yield "    expected_complete: true"
        yield f"    optimal_steps: {path.least_calls}"
        yield from _sub_goal_lines(json.loads(path.sub_goals))
        yield from _proposed_lines(path.proposed)


def _sub_goal_lines(sub_goals: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if sub_goals:
        yield "    sub_goals:"
    for sub_goal in sub_goals:
        served = {"serves": sub_goal["tools"]} if sub_goal["tools"] else {}
        yield f"      {_yaml(sub_goal['name'])}: {_yaml(served)}"
        if not served:
            yield UNKNOWN_CALLS


def _proposed_lines(goals: Sequence[Proposed]) -> Iterator[str]:
    if goals:
        yield "    sub_goals:"
    for goal in goals:
        yield f"      # {goal.runs} of {goal.all_runs} runs made this call."
        yield f"      {_yaml(goal.name)}: {_yaml(goal.sub_goal())}"


def _number(value: float) -> float:
    """Return a number as one writes it: 2.0 as 2."""
    return int(value) if value.is_integer() else value


def _slug(agent_name: str | None) -> str:
    return re.sub(r"[^a-z0-9]+", "-", (agent_name or "").casefold()).strip("-") or "task"


def _yaml(value: Any) -> str:
    """Return a value in the form of a flow mapping of YAML, on one line."""
    text: str = yaml.safe_dump(
        [value], default_flow_style=True, allow_unicode=True, width=10**9, sort_keys=False
    )
    return text.strip()[1:-1]
