"""Which runs of a lake become cases, and what their spans hold of them.

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
from tracegrade_scoring.relations import materialise

READ: Final = frozenset({"text", "reasoning", "tool_call", "tool_call_response"})
"""Parts of messages that become parts of conversations."""


OURS: Final = "tracegrade"
"""The dialect of our own spans."""


@dataclass(frozen=True)
class ChosenRuns:
    """Which runs become cases."""

    failed: bool = False
    """Only runs that failed."""
    tasks: Sequence[str] = ()
    """Only runs of these; none for all."""
    trajectories: Sequence[str] = ()
    """These runs; none for one of each task and failure mode."""


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
    error_type: str | None
    error_message: str | None
    effect: str | None
    dialect: str
    span_id: str
    parent_span_id: str | None

    @property
    def is_tool_of_ours(self) -> bool:
        """Whether it is a call of a function under `tracegrade.tool`, which tapes can answer."""
        called = self.kind == "tool_call" and self.status in {"ok", "error"}
        return called and self.dialect == OURS and bool(self.tool_name)

    def name(self) -> str:
        """Return how it is called in messages."""
        tool = f" {self.tool_name}" if self.tool_name else ""
        return f"step {self.step_index} ({self.kind}{tool})"


class ModelCall(NamedTuple):
    """What a model was told once, and what it answered."""

    told: tuple[Part, ...]
    answer: ModelTurn
    flags: Sequence[str]
    """What its spans lack."""
    unread: tuple[str, ...]
    """Kinds of parts in its messages that are not text."""
    failed: bool = False
    """The model gave no answer, or an error."""


@dataclass(frozen=True)
class CapturedRun:
    """A run, and what the lake holds of it."""

    run: DraftedRun
    calls: Sequence[ModelCall]
    """Of models, in order."""
    steps: Sequence[CapturedStep]

    @property
    def tool_calls(self) -> list[CapturedStep]:
        """Calls that a tape can answer, without those that such a call has made itself."""
        ours = [step for step in self.steps if step.is_tool_of_ours]
        spans = {step.span_id for step in ours}
        return [step for step in ours if step.parent_span_id not in spans]

    @property
    def running_tools(self) -> int:
        """How many calls of tools no tape can answer: they run as they are."""
        called = [step for step in self.steps if step.kind == "tool_call"]
        return sum(not step.is_tool_of_ours for step in called)


def captured_runs(con: duckdb.DuckDBPyConnection, chosen: ChosenRuns) -> list[CapturedRun]:
    """Return the chosen runs of a lake, with what it holds of them.

    Args:
        con: Connected to the lake, with its score tables.
        chosen: Which.

    Raises:
        SuiteUnusable: There is none, or one that is named is not there.
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
    split_traces(con)
    materialise(con, "attempt_members")
    steps: dict[str, list[CapturedStep]] = defaultdict(list)
    for row in con.sql(QUERIES.text("drafted_steps")).fetchall():
        steps[row[0]].append(CapturedStep(*row))
    calls = _calls(con)
    return [CapturedRun(run, calls[run.trajectory_id], steps[run.trajectory_id]) for run in runs]


def _refuse_absent(runs: Sequence[DraftedRun], chosen: ChosenRuns) -> None:
    """Refuse names of tasks and runs that are not there.

    Raises:
        SuiteUnusable: One is not, or no run is.
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
    told: dict[int, list[Part]] = defaultdict(list)
    said: dict[int, list[Part]] = defaultdict(list)
    unread: dict[int, dict[str, None]] = defaultdict(dict)
    for key, direction, *part in con.sql(QUERIES.text("drafted_parts")).fetchall():
        if part[1] in READ:
            (told if direction == "in" else said)[key].append(_part(*part))
        else:
            unread[key][str(part[1])] = None
    calls: dict[str, list[ModelCall]] = defaultdict(list)
    rows = con.sql(QUERIES.text("drafted_calls")).fetchall()
    for trajectory_id, key, model, read, written, flags, failed in rows:
        answer = ModelTurn(tuple(_as_said(said[key])), model, read, written)
        call = ModelCall(tuple(told[key]), answer, flags, (*unread[key],), failed)
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


def _as_said(parts: Iterable[Part]) -> list[Part]:
    """Return what a model said as APIs have it: thoughts, texts, calls; nothing empty."""
    some = [part for part in parts if isinstance(part, ToolRequest) or part.text]
    return [
        part for kind in (Reasoning, Text, ToolRequest) for part in some if isinstance(part, kind)
    ]
