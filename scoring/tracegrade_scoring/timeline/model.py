"""The data of a timeline from the lake: numbers unrounded, texts as the traces spell them.

Texts may be cut to a length that a page can hold; `longest` is their original length.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from tracegrade_scoring.metrics import Metric


@dataclass(frozen=True)
class TimelineRun:
    """One trajectory as a whole."""

    trajectory_id: str
    parent_trajectory_id: str | None
    agent_name: str | None
    release: str | None
    run_mode: str | None
    conversation_id: str | None
    task_id: str | None
    trial: int | None
    user_input: str | None
    final_answer: str | None
    step_count: int | None
    tool_call_count: int | None
    error_count: int | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    start_time: datetime | None
    duration_ms: float | None
    complete: bool | None
    last_received: datetime | None
    """When the last of its trace was received, UTC; None if not known."""
    imported: bool
    """It came out of a file, so that nothing more of it is under way."""
    interrupted: bool
    continued_by: str | None
    """The run that continues it."""
    continues: list[str]
    """Runs that it continues."""
    flags: list[str]
    children: list[str]
    """Trajectories of its sub-agents."""


@dataclass(frozen=True)
class Step:
    """One step."""

    step_index: int
    turn: int | None
    kind: str
    role: str | None
    agent_name: str | None
    tool_name: str | None
    arguments: str | None
    result: str | None
    content: str | None
    call_step: int | None
    """The call of an observation."""
    status: str | None
    error: str | None
    """Class and message; '' without one."""
    sub_goal: str | None
    decision: str | None
    effect: str | None
    model: str | None
    input_tokens: int | None
    output_tokens: int | None
    offset_ms: float | None
    """Start, from the earliest step's."""
    duration_ms: float | None
    span_id: str | None
    flags: list[str]
    longest: int
    """Characters of its longest text before it was cut."""


class Mark(NamedTuple):
    """A finding of scoring at a step."""

    step_index: int | None
    """None where it belongs to no step, as a call that was not made."""
    step_trajectory_id: str | None
    """Whose step it is: the run's own, or a sub-agent's; None without one."""
    step_agent: str | None
    """Name of that sub-agent; None if it is the run's own, or has none."""
    what: str
    """wrong_decision | missed_decision | a failure mode."""
    name: str | None
    picked_tool: str | None
    expected_tool: str | None
    criteria: list[str]
    detail: str | None


class RunScore(NamedTuple):
    """One metric of the run."""

    metric: str
    value: float | None
    numerator: float | None
    denominator: float | None
    status: str
    label: str | None
    reason: str | None
    source: str | None


class RunVerdict(NamedTuple):
    """A verdict on the run or on a part of it."""

    subject: str | None
    """success | sub_goal | served | planning | rollback."""
    sub_goal: str | None
    step_index: int | None
    """Step of the call that serves the sub-goal or not; None unless subject is served."""
    question: str | None
    """Which question about the plan; None unless subject is planning."""
    kill_point: str | None
    source: str | None
    """human:NAME | judge:NAME | gen_ai.evaluation.result | a verifier's name."""
    value: float | None
    label: str | None
    evidence: str | None


class RunSubGoal(NamedTuple):
    """One sub-goal of the run's task."""

    sub_goal: str
    critical: bool | None
    deps: list[str]
    """Its direct prerequisites."""
    attempted: bool | None
    completed: bool | None
    regressed: bool | None
    dependency_violation: bool | None


class RunReason(NamedTuple):
    """One thing that went wrong in the run."""

    rank_in_run: int
    """From 1, which says most directly what it was."""
    kind: str
    object: str | None
    """What it is about; None if nothing in particular."""
    sentence: str
    step_trajectory_id: str | None
    step_index: int | None
    source: str
    key: str


@dataclass(frozen=True)
class RunAgent:
    """One agent of the run, of its callers or of its sub-agents, where several worked."""

    trajectory_id: str
    """The run whose steps include its own."""
    agent_span_id: str
    has_span: bool
    """Else that is the first span that names it."""
    agent_name: str | None
    parent_trajectory_id: str | None
    """Run of the agent that started it; None for an outermost one."""
    parent_agent_span_id: str | None
    tool_call_id: str | None
    """Call that started it."""
    start_time: datetime | None
    end_time: datetime | None
    duration_ms: float | None
    step_count: int
    step_indexes: list[int]
    """Its steps in the run."""
    tool_call_count: int
    error_count: int
    llm_call_count: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    model_calls: list[Mapping[str, datetime | None]]
    """`start_time` and `end_time` of each model call."""


class DeclaredPlan(NamedTuple):
    """A plan that the agent declared."""

    step_index: int
    plan: str
    """JSON, as it was sent."""


@dataclass(frozen=True)
class Timeline:
    """One run with everything that is shown of it."""

    lake: str
    run: TimelineRun
    steps: tuple[Step, ...]
    total_steps: int
    """Number of steps; `steps` holds the first of them."""
    marks: tuple[Mark, ...]
    scores: tuple[RunScore, ...]
    sub_goals: tuple[RunSubGoal, ...]
    verdicts: tuple[RunVerdict, ...]
    total_verdicts: int
    """Number of verdicts; `verdicts` holds the first of them."""
    reasons: tuple[RunReason, ...] = ()
    own_metrics: Mapping[str, Metric] = field(default_factory=dict)
    """Metrics of users' own, by name."""
    agents: tuple[RunAgent, ...] = ()
    """The agents of its attempt, in the order of their starts; empty for a single one."""
    plans: tuple[DeclaredPlan, ...] = ()

    @property
    def headline(self) -> tuple[RunReason, ...]:
        """The first reason and the next one of another kind; empty if nothing went wrong."""
        firsts = {reason.kind: reason for reason in reversed(self.reasons)}
        return tuple(sorted(firsts.values())[:2])

    def marks_at(self, step_index: int | None) -> list[Mark]:
        """Return what was found at one step of its own, or at none."""
        own = (None, self.run.trajectory_id)
        return [
            mark
            for mark in self.marks
            if mark.step_index == step_index and mark.step_trajectory_id in own
        ]

    def marks_of_sub_agents(self) -> list[Mark]:
        """Return what was found at steps of its sub-agents."""
        own = (None, self.run.trajectory_id)
        return [mark for mark in self.marks if mark.step_trajectory_id not in own]

    @property
    def has_several_agents(self) -> bool:
        """Whether its steps are of more than one agent, as far as they are named."""
        return len({step.agent_name for step in self.steps if step.agent_name}) > 1

    def score(self, metric: str) -> RunScore | None:
        """Return one score; None if the run has not been scored."""
        return next((score for score in self.scores if score.metric == metric), None)
