"""The data of a report, as read from the lake, before any text is written.

Numbers are unrounded, and names are spelled as in the traces: each writer escapes them for its
format. The orders are those of the queries under `tracegrade_queries/report`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, TypeAlias

from tracegrade_scoring.compare.fail_on_rules import RuleOutcome
from tracegrade_scoring.compare.model import Comparisons
from tracegrade_scoring.metrics import Metric
from tracegrade_scoring.rendering.mixed_definitions import Mixed
from tracegrade_scoring.report.bands import BandMean
from tracegrade_scoring.report.breakdown import (
    NO_CAVEATS,
    NO_CONVERSATIONS,
    CategorySuccess,
    Conversations,
    ScoreCaveats,
    TaskOutcome,
)
from tracegrade_scoring.report.reason_outcome import ReasonOutcome
from tracegrade_scoring.statistics import t_score as triangle
from tracegrade_scoring.statistics.intervals import LEVEL, MIN_TASKS, Interval
from tracegrade_scoring.statistics.reliability import MissingPolicy, Pass
from tracegrade_scoring.statistics.t_score import (
    DEFAULT,
    PRESETS,
    Axes,
    AxisSums,
    TScore,
    Weights,
    pooled_axes,
    t_score,
)
from tracegrade_scoring.statistics.tiers import Tier

Cohorts: TypeAlias = tuple[str | None, str | None]
"""Agent and run mode: all its releases."""
QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
"""The points at which the spread of a metric is read."""


class CohortKey(NamedTuple):
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
    """Lower end of the interval; None without one."""
    high: float | None
    interval_method: str | None
    scored: int
    """Trajectories scored."""
    not_applicable: int
    error: int
    trajectories: int
    """The three together."""
    flags: tuple[str, ...] = ()
    """Flags of release_scores; no_spread if the interval has no width."""
    unscored: tuple[Unscored, ...] = ()


class AttemptPolicy(NamedTuple):
    """The attempts that reliability counts."""

    min_trials: int | None = None
    """Tasks with fewer attempts are dropped. None: fewer than 3, as of tiers, or than 1 if no
    task has as many."""
    missing: MissingPolicy = "exclude"
    """Whether attempts of unknown success are left out or are failures."""
    trials: int = 0
    """Attempts that each task should have; under `as-failure` the rest are failures too, also of
    tasks of the task files, and of those that another release of the agent tried."""


EVERY_ATTEMPT = AttemptPolicy(min_trials=1)
"""Every attempt of known success, of every task."""
AS_TIERS = AttemptPolicy()
"""Attempts of known success, of the tasks that tiers go by."""


class Selection(NamedTuple):
    """The runs that a report covers; None and () for all."""

    agent_name: str | None = None
    releases: tuple[str, ...] = ()
    since: datetime | None = None
    """Begun at or after it, UTC."""
    until: datetime | None = None
    """Begun before it, UTC."""

    @property
    def has_period(self) -> bool:
        """Whether only a period is requested."""
        return self.since is not None or self.until is not None

    def holds(self, key: CohortKey) -> bool:
        """Return whether a cohort is requested."""
        return (self.agent_name is None or key.agent_name == self.agent_name) and (
            not self.releases or key.release in self.releases
        )


EVERYTHING = Selection()


class ReportOptions(NamedTuple):
    """Options for numbers that a report computes from the tables."""

    level: float = LEVEL
    """Level of every interval, between 0 and 1."""
    literal: bool = False
    """The T-Score and its axes are those of the article's text [Triangle]."""
    weights: Weights = PRESETS[DEFAULT]
    """The weights of the T-Score's axes."""
    spreads: bool = True
    """The spread of each metric's values is read, which takes long and texts do not show."""


DEFAULT_OPTIONS = ReportOptions()


@dataclass(frozen=True)
class Reliability:
    """pass@k and pass^k of one cohort."""

    passes: tuple[Pass, ...]
    attempts: int
    """Counted attempts: those of known success, and with `as-failure` those that count as failed.
    """
    valid: int
    """Attempts of known success, of the tasks that are counted."""
    invalid: int
    """Attempts of unknown success, of the same tasks; under `as-failure` they are counted."""
    missing: int
    """Attempts at the same tasks that are not there and count as failures."""
    uncounted: int
    """Tasks that would count by the attempts of another release, and do not by those here."""
    least: int
    """Tasks with fewer attempts are dropped."""
    fewest: int
    """Attempts of the task that has the fewest, where k ends; 0 without a task."""
    superseded: int
    """Runs that a later run of the same trial replaced."""
    tier: Tier
    categories: tuple[tuple[str | None, Tier], ...] = ()
    """The tier of each task category, where there are several."""
    dropped: int = 0
    """Tasks with fewer attempts than `least`."""
    retried: int = 0
    """Valid attempts that were restarted after errors: they had more than one chance."""
    repeated: int = 0
    """Valid attempts at a trial beyond its first, in other conversations."""
    other_estimators: tuple[Pass, ...] = ()
    """The same by the other estimators."""


@dataclass(frozen=True)
class Runs:
    """The runs of a cohort, and their usage."""

    runs: int
    known_tasks: int
    unended_runs: int
    waiting_runs: int
    """Runs that are not scored yet, because their root may still come."""
    waiting_until: int | None
    """When all of them are scored without it, ns since 1970; None if there are none."""
    crashed_runs: int
    """Scored runs that ended in an error."""
    unfinished_runs: int
    """Scored runs whose end has not come."""
    interrupted_runs: int
    """Runs that ended waiting for a person."""
    resumed_runs: int
    """Runs that continue an earlier one, which is counted with them."""
    tool_calls: int
    errors: int
    input_tokens: int | None
    """None if no model call reported any."""
    output_tokens: int | None
    token_runs: int
    """Runs with a model call that reported tokens."""
    timed_runs: int
    """Runs whose start is known: an import may have had to make it up."""
    first_start: datetime | None
    last_start: datetime | None
    killed: int = 0
    """Runs that were killed on purpose; they are in none of these counts."""
    beside: int = 0
    """Runs that agents sent in addition to the run of their trial; they are in none of these
    counts.
    """


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
    step_trajectory_id: str | None
    """The run of the agent that made the call; None where missed."""
    step_index: int | None
    span_id: str | None


@dataclass(frozen=True)
class SubGoalOutcome:
    """Attempts and completions of a sub-goal of a task."""

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
    """Number of calls that failed, and of changes of the plan, in the same runs."""

    failures: int
    replans: int
    runs: int


@dataclass(frozen=True)
class TaskAxes:
    """The axes of the T-Score for one task."""

    task_id: str | None
    tsa_correct: float | None
    tsa_counted: float | None
    tsa_literal: float | None
    """Correct picks of the decision points that were made."""
    tsa_made: float | None
    pq: float | None
    pq_strict: float | None
    """With two of its questions all or nothing."""
    ra: float | None
    late_ra: float | None

    def parts(self, *, literal: bool = False, strict: bool = False) -> triangle.TaskAxes:
        """Return what the task adds to each axis."""
        tsa = (
            (self.tsa_literal, self.tsa_made) if literal else (self.tsa_correct, self.tsa_counted)
        )
        pq = self.pq_strict if strict else self.pq
        return (
            AxisSums(tsa[0] or 0.0, tsa[1]) if tsa[1] else None,
            *(None if mean is None else AxisSums(mean, 1.0) for mean in (pq, self.ra)),
        )

    def t_score(self, options: "ReportOptions") -> TScore:
        """Return the composite, or that of the article's text."""
        literal = options.literal
        axes = pooled_axes([self.parts(literal=literal, strict=literal)])
        return t_score(axes, options.weights, literal=literal)


@dataclass(frozen=True)
class ModeOutcome:
    """The number of runs that show a failure mode, and the first of these runs."""

    mode: str
    runs: int
    failed_runs: int
    trajectory_id: str
    step_trajectory_id: str | None
    """That run, or its sub-agent's, of the step."""
    step_index: int | None
    span_id: str | None
    detail: str | None


@dataclass(frozen=True)
class RollbackKill:
    """One verdict on a kill on purpose."""

    task_id: str | None
    trajectory_id: str
    """The run that was not killed."""
    kill_point: str | None
    """early | mid | late."""
    boundary: int | None
    """Tool calls that had returned; None if that is not said."""
    at_once: float | None
    after_recovery: float | None
    """From 0 to 10; None if there is no such kill, or no judgment."""
    label: str | None
    source: str | None
    """Who judged."""
    reason: str | None
    objects: tuple[str, ...]
    """What is left after recovery, as far as it is listed."""
    unnamed: tuple[str, ...]
    """Objects among these without a recorded way to undo them."""
    left_count: int | None
    """How many objects are left; None if that is not said."""


@dataclass(frozen=True)
class Release:
    """Everything the lake says about one cohort."""

    key: CohortKey
    runs: Runs
    metrics: Mapping[str, Score] = field(default_factory=dict)
    reliability: Reliability | None = None
    """None without an attempt at a known task."""
    wrong_decisions: tuple[WrongDecision, ...] = ()
    wrong_decision_rows: int = 0
    """Number of wrong decisions; `wrong_decisions` holds the first of them."""
    sub_goals: tuple[SubGoalOutcome, ...] = ()
    tool_selection: tuple[TaskToolSelection, ...] = ()
    replanning: tuple[TaskReplanning, ...] = ()
    replanning_runs: tuple[ReplanningRuns, ...] = ()
    task_axes: tuple[TaskAxes, ...] = ()
    failure_modes: tuple[ModeOutcome, ...] = ()
    reasons: tuple[ReasonOutcome, ...] = ()
    """Why its failed runs failed; each of them is in one."""
    kills: tuple[RollbackKill, ...] = ()
    kill_rows: int = 0
    """Number of verdicts on kills; `kills` holds the first of them."""
    spreads: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Values of each metric over runs at `QUANTILES`."""
    remarks: ScoreCaveats = NO_CAVEATS
    categories: tuple[CategorySuccess, ...] = ()
    tasks: tuple[TaskOutcome, ...] = ()
    """Known tasks, those that succeed least first."""
    conversations: Conversations = NO_CONVERSATIONS
    bands: tuple[BandMean, ...] = ()
    options: ReportOptions = DEFAULT_OPTIONS

    @property
    def axes(self) -> Axes:
        """The axes of all tasks together: pooled decision points, means over tasks.

        Planning quality that no task asks for is 10 (`pq_defaulted`). As the article's text has
        it, it is strict, and missed decision points are left out.
        """
        return self._axes(strict=self.options.literal)

    @property
    def strict_axes(self) -> Axes:
        """The axes with planning quality in its strict variant."""
        return self._axes(strict=True)

    def _axes(self, *, strict: bool) -> Axes:
        found = pooled_axes(self.axis_parts(strict=strict))
        return found._replace(pq=10.0) if self.pq_defaulted else found

    def axis_parts(self, *, strict: bool) -> list[triangle.TaskAxes]:
        """Return what each task adds to each axis."""
        found = [t.parts(literal=self.options.literal, strict=strict) for t in self.task_axes]
        if self.pq_defaulted:
            return [(tsa, AxisSums(10.0, 1.0), ra) for tsa, _, ra in found]
        return found

    @property
    def pq_defaulted(self) -> bool:
        """Whether planning quality was not applicable to any run, and failed for none."""
        score = self.metrics.get("pq")
        return score is not None and not score.scored and not score.error

    @property
    def t_score(self) -> TScore:
        """The composite of all tasks together."""
        return t_score(self.axes, self.options.weights, literal=self.options.literal)

    @property
    def t_score_interval(self) -> Interval | None:
        """The interval of the T-Score; None without one, or for fewer than 5 known tasks."""
        known = sum(task.task_id is not None for task in self.task_axes)
        if known < MIN_TASKS:
            return None
        level, literal, weights = self.options[:3]
        parts = self.axis_parts(strict=literal)
        return triangle.t_score_interval(parts, weights, level=level, literal=literal)

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
    """Amounts of each kind of data in the lake."""

    spans: int
    trajectories: int
    runs: int
    """Trajectories but those of sub-agents."""
    scored: int
    with_task: int
    untimed: int = 0
    """Runs without a known start: a report of some time is without them."""
    logs: int = 0
    """Log records, which make no runs."""


@dataclass(frozen=True)
class Report:
    """The cohorts of a lake: by agent and run mode, then releases by first run."""

    lake: str
    """The lake as the user named it."""
    contents: LakeContents
    releases: tuple[Release, ...] = ()
    options: ReportOptions = DEFAULT_OPTIONS
    comparisons: Mapping[Cohorts, Comparisons] = field(default_factory=dict)
    """The newest release of an agent compared with the one before it, if both have scored runs."""
    selection: Selection = EVERYTHING
    outcomes: Mapping[CohortKey, tuple[RuleOutcome, ...]] = field(default_factory=dict)
    """Outcomes of the rules of `--fail-on` for the releases that they judge."""
    own_metrics: Mapping[str, Metric] = field(default_factory=dict)
    """Metrics of users' own, by name."""
    mixed: Mixed = field(default_factory=dict)
    """Definitions whose versions differ between runs, by agent and run mode."""
