"""Selects the runs that become cases, and reads their steps, tools and model calls.

Makes:
    chosen_traces (from drafted_runs): the traces of those runs
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

import duckdb

from tracegrade_harness.conversations.conversation import (
    ModelTurn,
    Part,
    Reasoning,
    Result,
    Text,
    ToolRequest,
)
from tracegrade_harness.errors import SuiteUnusable
from tracegrade_harness.landed.traces import split_traces
from tracegrade_harness.sql import QUERIES
from tracegrade_queries.engine.relations import make_table, make_view
from tracegrade_scoring.sql import RELATIONS

READ: Final = frozenset({"text", "reasoning", "tool_call", "tool_call_response"})
"""Parts of messages that become parts of conversations."""


OURS: Final = "tracegrade"
"""The dialect of tracegrade's own spans."""


@dataclass(frozen=True)
class ChosenRuns:
    """The choice of runs that become cases."""

    failed: bool = False
    """Only runs that failed."""
    tasks: Sequence[str] = ()
    """Only runs of these tasks; empty for all tasks."""
    trajectories: Sequence[str] = ()
    """These runs; if empty, one run of each task and failure mode."""


class DraftedRun(NamedTuple):
    """A row of `drafted_runs.sql`."""

    trajectory_id: str
    trace_id: str
    agent_name: str | None
    release: str | None
    task_id: str | None
    mode: str | None
    success: bool | None
    user_input: str | None
    start_time: datetime | None


class CapturedStep(NamedTuple):
    """A row of `drafted_steps.sql`."""

    attempt_id: str
    trajectory_id: str
    step_index: int
    kind: str
    tool_name: str | None
    arguments: str | None
    result: str | None
    content: str | None
    status: str | None
    flags: Sequence[str]

    def name(self) -> str:
        """Return its name in messages."""
        return _step_name(self.step_index, self.kind, self.tool_name)


class CapturedTool(NamedTuple):
    """A row of `drafted_tools.sql`."""

    attempt_id: str
    trajectory_id: str
    step_index: int
    call: int
    on_tape: str | None
    tool_name: str
    arguments: str | None
    result: str | None
    failed: bool
    error_type: str | None
    error_message: str | None
    effect: str | None
    flags: Sequence[str]

    def name(self) -> str:
        """Return its name in messages."""
        return _step_name(self.step_index, "tool_call", self.tool_name)


def _step_name(step_index: int, kind: str, tool_name: str | None) -> str:
    tool = f" {tool_name}" if tool_name else ""
    return f"step {step_index} ({kind}{tool})"


class ModelCall(NamedTuple):
    """One call of a model: its messages and its answer."""

    messages: tuple[Part, ...]
    answer: ModelTurn
    flags: Sequence[str]
    """The content that its spans lack."""
    unread: tuple[str, ...]
    """Kinds of parts in its messages that are not text."""
    failed: bool = False
    """The model gave no answer, or an error."""


@dataclass(frozen=True)
class CapturedRun:
    """A run, and its content in the lake."""

    run: DraftedRun
    calls: Sequence[ModelCall]
    """Calls of models, in order."""
    steps: Sequence[CapturedStep]

    tools: Sequence[CapturedTool]

    @property
    def tool_calls(self) -> list[CapturedTool]:
        """Calls that a tape answers, without calls that such a call made itself."""
        return [tool for tool in self.tools if tool.on_tape == "whole"]

    @property
    def called_tools(self) -> set[str]:
        """The names of called tools, in steps and in functions."""
        steps = {step.tool_name for step in self.steps if step.kind == "tool_call"}
        return {name for name in (*steps, *(tool.tool_name for tool in self.tools)) if name}

    @property
    def running_steps(self) -> list[CapturedStep]:
        """Steps that are not on a tape: they are executed again."""
        taped = {(tool.trajectory_id, tool.step_index) for tool in self.tools if tool.on_tape}
        return [step for step in self.steps if (step.trajectory_id, step.step_index) not in taped]

    @property
    def running_tools(self) -> int:
        """Number of tool calls that are not on a tape: they run as usual."""
        called = [step for step in self.running_steps if step.kind == "tool_call"]
        return sum(step.status != "not_executed" for step in called)


def captured_runs(con: duckdb.DuckDBPyConnection, chosen: ChosenRuns) -> list[CapturedRun]:
    """Return the chosen runs of a lake, with their content.

    Args:
        con: Connected to the lake, with its score tables.
        chosen: The choice of runs.

    Raises:
        SuiteUnusable: No run is chosen, or a named run does not exist.
    """
    parameters = {
        "failed": chosen.failed,
        "tasks": [*chosen.tasks] or None,
        "trajectories": [*chosen.trajectories] or None,
    }
    make_table(con, "drafted_runs", QUERIES.unordered("drafted_runs"), parameters)
    found = con.sql("FROM drafted_runs ORDER BY agent_name, task_id, mode, trajectory_id")
    runs = [DraftedRun(*row) for row in found.fetchall()]
    _refuse_absent(runs, chosen)
    make_view(con, "chosen_traces", "SELECT DISTINCT trace_id FROM drafted_runs")
    split_traces(con, "drafted_calls", "drafted_parts", "drafted_tools")
    RELATIONS.make(con, "attempt_members")
    steps: dict[str, list[CapturedStep]] = defaultdict(list)
    for row in con.sql(QUERIES.text("drafted_steps")).fetchall():
        steps[row[0]].append(CapturedStep(*row))
    tools: dict[str, list[CapturedTool]] = defaultdict(list)
    for row in con.execute(QUERIES.text("drafted_tools"), {"ours": OURS}).fetchall():
        tools[row[0]].append(CapturedTool(*row))
    calls = _calls(con)
    ids = ((run, run.trajectory_id) for run in runs)
    return [CapturedRun(run, calls[key], steps[key], tools[key]) for run, key in ids]


def _refuse_absent(runs: Sequence[DraftedRun], chosen: ChosenRuns) -> None:
    """Refuse names of tasks and runs that do not exist.

    Raises:
        SuiteUnusable: A task or a run does not exist.
    """
    failed = "failed " if chosen.failed else ""
    for kind, names, there in (
        ("task", chosen.tasks, {run.task_id for run in runs}),
        ("trajectory", chosen.trajectories, {run.trajectory_id for run in runs}),
    ):
        absent = [name for name in names if name not in there]
        if absent:
            msg = (
                f"the lake has no {failed}run of {kind} '{absent[0]}' that could be a case; "
                "the tables `trajectories` and `trajectory_scores` show what it has"
            )
            raise SuiteUnusable(msg)
    if not runs:
        msg = f"the lake has no {failed}run that could be a case; collect and score some"
        raise SuiteUnusable(msg)


def _calls(con: duckdb.DuckDBPyConnection) -> Mapping[str, list[ModelCall]]:
    """Return the model calls of each run, in order."""
    messages: dict[int, list[Part]] = defaultdict(list)
    parts_by_call: dict[int, list[Part]] = defaultdict(list)
    unread: dict[int, dict[str, None]] = defaultdict(dict)
    for key, direction, *part in con.sql(QUERIES.text("drafted_parts")).fetchall():
        if part[1] in READ:
            (messages if direction == "in" else parts_by_call)[key].append(_part(*part))
        else:
            unread[key][str(part[1])] = None
    calls: dict[str, list[ModelCall]] = defaultdict(list)
    rows = con.sql(QUERIES.text("drafted_calls")).fetchall()
    for trajectory_id, key, model, read, written, flags, failed in rows:
        answer = ModelTurn(tuple(_in_api_order(parts_by_call[key])), model, read, written)
        call = ModelCall(tuple(messages[key]), answer, flags, (*unread[key],), failed)
        calls[trajectory_id].append(call)
    return calls


def _part(  # noqa: PLR0913, PLR0917 - the columns of a row
    role: str | None,
    kind: str,
    text: str | None,
    tool_name: str | None,
    call_id: str | None,
    arguments: str | None,
    result: str | None,
) -> Part:
    match kind:
        case "tool_call":
            return ToolRequest(tool_name or "", arguments or "{}", call_id)
        case "tool_call_response":
            return Result(result or "", call_id)
        case "reasoning":
            return Reasoning(text or "")
        case _:
            return Text(role or "user", text or "")


def _in_api_order(parts: Iterable[Part]) -> list[Part]:
    """Return a model's reply in the order of APIs: thoughts, texts, calls; nothing empty."""
    some = [part for part in parts if isinstance(part, ToolRequest) or part.text]
    return [
        part for kind in (Reasoning, Text, ToolRequest) for part in some if isinstance(part, kind)
    ]
