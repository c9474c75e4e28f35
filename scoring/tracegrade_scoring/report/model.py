"""What a report holds, as read from the lake and before anything is put into words.

Numbers are unrounded, names are as the traces spell them: whoever writes them somewhere escapes
them there. Orders are those of the queries under `tracegrade_queries/report`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from tracegrade_scoring.reliability import Pass


class Key(NamedTuple):
    """Which release of which agent; None where the traces do not say."""

    agent_name: str | None
    release: str | None


class Unscored(NamedTuple):
    """Trajectories that have no value of a metric, for one reason."""

    status: str
    """not_applicable | error."""
    reason: str | None
    trajectories: int


@dataclass(frozen=True)
class Score:
    """One metric of one release of one agent."""

    metric: str
    value: float | None
    """None if nothing could be scored."""
    numerator: float | None
    denominator: float | None
    low: float | None
    """Lower end of the 95% interval; None without one."""
    high: float | None
    interval_method: str | None
    scored: int
    """Trajectories scored."""
    not_applicable: int
    error: int
    trajectories: int
    """The three together."""
    flags: tuple[str, ...] = ()
    unscored: tuple[Unscored, ...] = ()


@dataclass(frozen=True)
class CohortPass:
    """pass@k and pass^k of one cohort: one release of one agent in one run mode."""

    run_mode: str | None
    passes: tuple[Pass, ...]
    valid: int
    """Attempts of known success."""
    invalid: int
    """Attempts of unknown success."""
    superseded: int
    """Runs that a later run of the same trial replaced."""


@dataclass(frozen=True)
class Runs:
    """How often a release of an agent ran, and what that used."""

    runs: int
    known_tasks: int
    unended_runs: int
    tool_calls: int
    errors: int
    input_tokens: int | None
    """None if no model call reported any."""
    output_tokens: int | None
    token_runs: int
    """Runs of which a model call reported tokens."""
    first_start: datetime | None
    last_start: datetime | None


@dataclass(frozen=True)
class WrongDecision:
    """Decision points where the agent did not pick the right tool, equal ones together."""

    task_id: str | None
    decision: str | None
    missed: bool
    picked_tool: str | None
    expected_tool: str | None
    failed_criteria: tuple[str, ...]
    reason: str | None
    times: int
    runs: int
    trajectory_id: str
    step_index: int | None
    span_id: str | None


@dataclass(frozen=True)
class SubGoalOutcome:
    """How often a sub-goal of a task was attempted and completed."""

    task_id: str | None
    sub_goal: str
    critical: bool
    attempts: int
    attempted: int
    completed: int
    regressed: int
    violations: int
    trajectory_id: str | None
    """One in which it was not attempted, else not completed."""

    @property
    def skipped(self) -> int:
        """Attempts without any action that served it."""
        return self.attempts - self.attempted


@dataclass(frozen=True)
class TaskToolSelection:
    """Tool-selection accuracy of a task."""

    task_id: str | None
    runs: int
    correct: float
    counted: float
    tsa: float


@dataclass(frozen=True)
class TaskReplanning:
    """Failures and changes of plan of a task."""

    task_id: str | None
    runs: int
    planned_runs: int
    replans: int
    failures: int
    answered: int
    """Failures followed by a replan before the next call."""


class ReplanningRuns(NamedTuple):
    """Runs in which so many calls failed and the plan changed so often."""

    failures: int
    replans: int
    runs: int


@dataclass(frozen=True)
class Release:
    """Everything the lake says about one release of one agent."""

    key: Key
    runs: Runs
    metrics: Mapping[str, Score] = field(default_factory=dict)
    cohorts: tuple[CohortPass, ...] = ()
    wrong_decisions: tuple[WrongDecision, ...] = ()
    wrong_decision_rows: int = 0
    """Rows of wrong decisions there are, of which `wrong_decisions` holds the first."""
    sub_goals: tuple[SubGoalOutcome, ...] = ()
    tool_selection: tuple[TaskToolSelection, ...] = ()
    replanning: tuple[TaskReplanning, ...] = ()
    replanning_runs: tuple[ReplanningRuns, ...] = ()

    @property
    def skipped_critical(self) -> list[SubGoalOutcome]:
        """The critical sub-goals that were not attempted in every run that had to."""
        return [goal for goal in self.sub_goals if goal.critical and goal.skipped]

    @property
    def eventful_replanning(self) -> list[TaskReplanning]:
        """The tasks with a failed call or a change of plan."""
        return [row for row in self.replanning if row.failures or row.replans]


class LakeContents(NamedTuple):
    """How much of each kind the lake holds."""

    spans: int
    trajectories: int
    scored: int
    with_task: int


@dataclass(frozen=True)
class Report:
    """All releases in a lake: agents by name, their releases by first run."""

    lake: str
    """The lake as the user named it."""
    contents: LakeContents
    releases: tuple[Release, ...] = ()
