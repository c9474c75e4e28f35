"""What a report holds, as read from the lake and before anything is put into words.

Numbers are unrounded, names are as the traces spell them: whoever writes them somewhere escapes
them there. Orders are those of the queries under `tracegrade_queries/report`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from tracegrade_scoring.reliability import Missing, Pass
from tracegrade_scoring.tiers import Tier
from tracegrade_scoring.triangle import Axes, TScore, t_score

QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
"""Where the spread of a metric is looked at."""


class Key(NamedTuple):
    """A cohort: a release of an agent in one run mode; None where the traces do not say."""

    agent_name: str | None
    run_mode: str | None
    release: str | None


class Unscored(NamedTuple):
    """Trajectories that have no value of a metric, for one reason."""

    status: str
    """not_applicable | error."""
    reason: str | None
    trajectories: int


@dataclass(frozen=True)
class Score:
    """One metric of one cohort."""

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


class Counting(NamedTuple):
    """Which attempts reliability is counted over."""

    min_trials: int = 1
    """Tasks with fewer attempts are dropped."""
    missing: Missing = "exclude"
    """Whether attempts of unknown success are left out or are failures."""
    trials: int = 0
    """Attempts that each task should have; under `as-failure` the rest are failures too."""


EVERY_ATTEMPT = Counting()
"""Every attempt of known success, of every task."""


@dataclass(frozen=True)
class Reliability:
    """pass@k and pass^k of one cohort."""

    passes: tuple[Pass, ...]
    valid: int
    """Attempts of known success."""
    invalid: int
    """Attempts of unknown success."""
    superseded: int
    """Runs that a later run of the same trial replaced."""
    tier: Tier
    categories: tuple[tuple[str | None, Tier], ...] = ()
    """The tier of each task category, where there are several."""
    dropped: int = 0
    """Tasks with fewer attempts than asked for."""
    other_estimators: tuple[Pass, ...] = ()
    """The same by the other estimators."""


@dataclass(frozen=True)
class Runs:
    """How often a cohort ran, and what that used."""

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
    deps: tuple[str, ...]
    """Its direct prerequisites."""
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
class TaskAxes:
    """The axes of the T-Score for one task."""

    task_id: str | None
    tsa_correct: float | None
    tsa_counted: float | None
    pq: float | None
    pq_strict: float | None
    """With two of its questions all or nothing."""
    ra: float | None
    late_ra: float | None

    @property
    def axes(self) -> Axes:
        """The three axes, each from 0 to 10."""
        tsa = 10 * (self.tsa_correct or 0.0) / self.tsa_counted if self.tsa_counted else None
        return Axes(tsa, self.pq, self.ra)


@dataclass(frozen=True)
class ModeOutcome:
    """How many runs show a failure mode, and the first that does."""

    mode: str
    runs: int
    failed_runs: int
    trajectory_id: str
    step_index: int | None
    span_id: str | None
    detail: str | None


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


@dataclass(frozen=True)
class Release:
    """Everything the lake says about one cohort."""

    key: Key
    runs: Runs
    metrics: Mapping[str, Score] = field(default_factory=dict)
    reliability: Reliability | None = None
    """None without an attempt at a known task."""
    wrong_decisions: tuple[WrongDecision, ...] = ()
    wrong_decision_rows: int = 0
    """Rows of wrong decisions there are, of which `wrong_decisions` holds the first."""
    sub_goals: tuple[SubGoalOutcome, ...] = ()
    tool_selection: tuple[TaskToolSelection, ...] = ()
    replanning: tuple[TaskReplanning, ...] = ()
    replanning_runs: tuple[ReplanningRuns, ...] = ()
    task_axes: tuple[TaskAxes, ...] = ()
    failure_modes: tuple[ModeOutcome, ...] = ()
    spreads: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Of each metric its values over runs at `QUANTILES`."""

    @property
    def axes(self) -> Axes:
        """The axes of all tasks together: pooled decision points, means over tasks.

        Planning quality that no task asks for is 10 (`pq_defaulted`).
        """
        correct = sum(task.tsa_correct or 0.0 for task in self.task_axes)
        counted = sum(task.tsa_counted or 0.0 for task in self.task_axes)
        return Axes(
            10 * correct / counted if counted else None,
            10.0 if self.pq_defaulted else _mean([task.pq for task in self.task_axes]),
            _mean([task.ra for task in self.task_axes]),
        )

    @property
    def strict_axes(self) -> Axes:
        """The axes with planning quality in its strict variant."""
        strict = _mean([task.pq_strict for task in self.task_axes])
        return self.axes if self.pq_defaulted else self.axes._replace(pq=strict)

    @property
    def pq_defaulted(self) -> bool:
        """Whether planning quality was not applicable to any run, and failed for none."""
        score = self.metrics.get("pq")
        return score is not None and not score.scored and not score.error

    @property
    def t_score(self) -> TScore:
        """The composite of all tasks together, with the default weights."""
        return t_score(self.axes)

    @property
    def lowest_late_ra(self) -> TaskAxes | None:
        """The task that recovers worst from a late kill; None if none was killed."""
        killed = [task for task in self.task_axes if task.late_ra is not None]
        return min(killed, key=lambda task: task.late_ra or 0.0, default=None)

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
    """All cohorts in a lake: by agent and run mode, then releases by first run."""

    lake: str
    """The lake as the user named it."""
    contents: LakeContents
    releases: tuple[Release, ...] = ()
