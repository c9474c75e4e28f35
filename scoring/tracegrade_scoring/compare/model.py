"""The data of a comparison: numbers unrounded, names as the traces spell them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from tracegrade_scoring.compare.paired import Difference
from tracegrade_scoring.issues.read import ReleaseIssue
from tracegrade_scoring.metrics import Metric
from tracegrade_scoring.rendering.mixed_definitions import MixedDefinition
from tracegrade_scoring.rendering.planning_share import NOTHING_KNOWN, PlanningShare
from tracegrade_scoring.rendering.served_share import NO_AMBIGUOUS_CALLS, ServedShare
from tracegrade_scoring.statistics.intervals import LEVEL

SIGNIFICANT: Final = 0.05
"""A difference is sure if its p-value, adjusted for all questions tested together, is below."""


class Cohort(NamedTuple):
    """The data that both releases of one agent in one run mode have; cohorts are never pooled."""

    agent_name: str | None
    run_mode: str | None
    base_runs: int
    """Runs of the base, sub-agents' not counted."""
    candidate_runs: int
    base_runs_of_no_task: int
    """Runs among these without a known task, which are in no pair."""
    candidate_runs_of_no_task: int
    base_superseded: int
    """Runs of the base that a later run of the same trial replaced; they are in nothing else."""
    candidate_superseded: int
    tasks: int
    """Tasks that both ran."""
    base_only_tasks: int
    candidate_only_tasks: int

    @property
    def is_paired(self) -> bool:
        """Tasks are compared in pairs; else the runs without a known task, all together."""
        return self.tasks > 0


@dataclass(frozen=True)
class Compared:
    """One metric on the tasks where both releases have a value of it."""

    metric: str
    found: Difference
    base_scored: int
    """Runs with a value, of the tasks that the values are over; of success, attempts."""
    base_runs: int
    candidate_scored: int
    candidate_runs: int
    flags: tuple[str, ...] = ()
    """insufficient_sample (fewer than 50 decision points, 10 tasks or, unpaired, 20 attempts on a
    side), few_tasks (under 5), unpaired."""
    p_adjusted: float | None = None
    """p-value that holds for all questions tested together; None if not tested."""
    as_judged: Difference | None = None
    """The difference by uncorrected verdicts, if `found` is corrected for the judge's errors; None
    if not.
    """

    @property
    def is_corrected(self) -> bool:
        """It is an estimate of people's verdicts, not the judge's uncorrected verdicts."""
        return self.as_judged is not None

    @property
    def no_spread(self) -> bool:
        """The interval has no width: all tasks say the same, and resampling them says no more."""
        return self.found.low is not None and self.found.low == self.found.high

    @property
    def direction(self) -> int:
        """1 if the candidate is surely higher, -1 if surely lower, 0 if it may be chance."""
        return direction(self.found.difference, self.p_adjusted)


def direction(difference: float | None, p_value: float | None) -> int:
    """Return 1 if a difference is surely above 0, -1 if below, 0 if it may be chance."""
    if not difference or p_value is None or p_value >= SIGNIFICANT:
        return 0
    return 1 if difference > 0 else -1


class FailureMode(NamedTuple):
    """One failure mode as a share of the runs that could show it."""

    mode: str
    compared: Compared
    is_new: bool
    """The candidate shows it, the base never does, on the tasks that both ran."""
    rose: bool
    """The candidate's rate is higher; `compared.found.rose` counts tasks."""
    trajectory_id: str | None
    """The candidate's first run that shows it; None if none does."""
    span_id: str | None
    """The span that shows it there."""
    trajectory_ids: tuple[str, ...] = ()
    """The candidate's first runs that show it, at most three."""

    @property
    def is_sure(self) -> bool:
        """Whether it changed by more than chance explains."""
        return self.compared.direction != 0


class SkippedSubGoal(NamedTuple):
    """A critical sub-goal that the candidate skips in a larger share of its runs than the base."""

    task_id: str | None
    sub_goal: str
    base_skipped: int
    """Runs without any action that served it."""
    base_runs: int
    """Runs for which that is known; at least 1, also for the candidate."""
    candidate_skipped: int
    candidate_runs: int
    trajectory_ids: Sequence[str]
    """The candidate's first runs that skip it, at most three."""
    p_adjusted: float | None = None
    """p-value that holds for all questions tested together."""

    @property
    def is_sure(self) -> bool:
        """Whether it is skipped more often than chance explains."""
        return self.p_adjusted is not None and self.p_adjusted < SIGNIFICANT

    @property
    def rise(self) -> float:
        """By how much the share of runs that skip it rose."""
        return self.candidate_skipped / self.candidate_runs - self.base_skipped / self.base_runs


class ReasonChange(NamedTuple):
    """The compared runs of either side that failed with this as their first reason."""

    kind: str
    object: str | None
    """What it is about; None if nothing in particular."""
    key: str
    """The same for the reason in every release of the agent."""
    base_runs: int
    candidate_runs: int
    base_failed: int
    """Failed runs, for any reason; the reasons of a side add up to it."""
    candidate_failed: int
    base_known: int
    """Runs of known success."""
    candidate_known: int
    sentence: str
    """Sentence of the candidate's first run with the reason; of the base's if the candidate has
    none.
    """
    trajectory_id: str
    step_trajectory_id: str | None
    """That run, or its sub-agent's, of the step."""
    step_index: int | None
    span_id: str | None

    @property
    def change(self) -> float | None:
        """Change of the share of runs that fail for it; None if success is unknown on one side."""
        if not self.base_known or not self.candidate_known:
            return None
        return self.candidate_runs / self.candidate_known - self.base_runs / self.base_known


class CategoryChange(NamedTuple):
    """Success on the tasks of one category."""

    category: str | None
    compared: Compared


class TaskChange(NamedTuple):
    """One task on both sides; None where a side has no value."""

    task_id: str
    base_success: float | None
    """Share of its valid attempts that succeeded."""
    candidate_success: float | None
    base_attempts: int
    """Attempts of known success."""
    candidate_attempts: int
    base_completion: float | None
    """Sub-goal completion."""
    candidate_completion: float | None
    base_steps: float | None
    """Mean steps of a run."""
    candidate_steps: float | None
    failed_runs: tuple[str, ...] = ()
    """The candidate's first failed runs, at most three."""
    p_adjusted: float | None = None
    """p-value of its success that holds for all questions tested together; None if not tested."""

    @property
    def is_sure(self) -> bool:
        """Whether its success changed by more than chance explains."""
        return direction(self.success_change, self.p_adjusted) != 0

    @property
    def fell_surely(self) -> bool:
        """Whether it succeeds less often by more than chance explains."""
        return direction(self.success_change, self.p_adjusted) < 0

    @property
    def success_change(self) -> float | None:
        """Candidate less base; None without both."""
        return _change(self.base_success, self.candidate_success)

    @property
    def ranked_oppositely(self) -> bool:
        """Success says one release is better on this task, sub-goal completion the other."""
        return opposite(
            self.success_change, _change(self.base_completion, self.candidate_completion)
        )


def _change(base: float | None, candidate: float | None) -> float | None:
    return None if base is None or candidate is None else candidate - base


def opposite(one: float | None, other: float | None) -> bool:
    """Return whether two differences point apart; a missing or zero one points nowhere."""
    return one is not None and other is not None and one * other < 0


class MockedTool(NamedTuple):
    """Mocked calls of a tool, compared with live calls with equal arguments."""

    tool_name: str | None
    calls: int
    content_missing: int
    misses: int
    """Without a live call of equal arguments."""
    matched: int
    other_shape: int
    """Matched, but no live result has the same keys and types."""
    other_values: int
    """Matched, of the same shape, but no live result is equal."""


class CorrectedDifference(NamedTuple):
    """People's verdicts, estimated from a judge's yes rate, on both sides."""

    found: Difference
    """Difference of success over the compared attempts, or of sub-goals as the releases' corrected
    rates (`tasks` is 0), which cover all that the judge judged, in every run mode.
    """
    base_judged: int
    """Verdicts of the judge that it is of."""
    candidate_judged: int

    @property
    def direction(self) -> int:
        """1 if the candidate is surely higher, -1 if surely lower, 0 if it may be chance."""
        return direction(self.found.difference, self.found.p_value)


class JudgedSubject(NamedTuple):
    """A judge that decides on scores of either release."""

    subject: str
    """success | sub_goal."""
    source: str
    """Source of its verdicts."""
    uncorrected: str | None
    """Why nothing is corrected: uncalibrated | no_rates | no_base_rate | no_candidate_rate; of
    success also several_judges | several_runs (of one attempt) | unpaired. None if it is."""
    corrected: CorrectedDifference | None


class DifferingDimension(NamedTuple):
    """A dimension whose values are not as frequent on both sides, though it is not compared."""

    dimension: str
    name: str
    """The value whose share differs most."""
    base_share: float
    """Its share of the compared runs, from 0 to 1."""
    candidate_share: float


@dataclass(frozen=True)
class Comparison:
    """Both releases of one agent in one run mode."""

    cohort: Cohort
    metrics: dict[str, Compared] = field(default_factory=dict)
    """By name; only those that some task has on both sides."""
    unmatched: tuple[str, ...] = ()
    """Metrics that both sides have, but on no task in common."""
    missing_axes: tuple[str, ...] = ()
    """The axes tsa, pq or ra that are missing for a T-Score; empty if there is one."""
    pq_defaulted: bool = False
    """Nothing asks for a plan, so planning quality counts as 10 in the T-Score."""
    failure_modes: tuple[FailureMode, ...] = ()
    categories: tuple[CategoryChange, ...] = ()
    tasks: tuple[TaskChange, ...] = ()
    """By task id."""
    mocked_tools: tuple[MockedTool, ...] = ()
    """Mocked tools of this agent, in all run modes of both releases."""
    unplanned: tuple[int, int] = (0, 0)
    """Runs of base and candidate whose planning quality is 0 by definition: they show no plan."""
    disputed: tuple[int, int] = (0, 0)
    """Runs of base and candidate on whose success verdicts of the deciding source disagree."""
    missing_attempts: tuple[int, int] = (0, 0)
    """Attempts of base and candidate, missing or of unknown success, that count as failures."""
    skipped_sub_goals: tuple[SkippedSubGoal, ...] = ()
    """Skipped sub-goals, the largest rise first."""
    reasons: tuple[ReasonChange, ...] = ()
    """Why compared runs failed, by kind and object."""
    issues: tuple[ReleaseIssue, ...] | None = None
    """Issues that the candidate shows; None unless a rule reads them and it is a release."""
    judged: tuple[JudgedSubject, ...] = ()
    """Judges that decide on scores, success first."""
    planning: tuple[PlanningShare, PlanningShare] = (NOTHING_KNOWN, NOTHING_KNOWN)
    """Runs of base and candidate without planning quality, and runs with a verdict on it."""
    own_metrics: Mapping[str, Metric] = field(default_factory=dict)
    """Metrics of users' own, by name."""
    calls: tuple[ServedShare, ServedShare] = (NO_AMBIGUOUS_CALLS, NO_AMBIGUOUS_CALLS)
    """Calls of base and candidate that rules give to several sub-goals."""
    differing: tuple[DifferingDimension, ...] = ()
    """Dimensions that differ as well, by name; they may be the cause of a change."""
    mixed: tuple[MixedDefinition, ...] = ()
    """Definitions whose versions differ between runs; none if the runs can be compared."""

    @property
    def ranked_oppositely(self) -> bool:
        """Success ranks the releases one way, sub-goal completion the other."""
        return opposite(self._change("success"), self._change("sub_goal_completion"))

    @property
    def trade_off(self) -> str | None:
        """`tsa_up_pq_down`, `tsa_down_pq_up`, or None [Triangle]."""
        tsa, pq = self._change("tsa"), self._change("pq")
        if tsa is None or not opposite(tsa, pq):
            return None
        return "tsa_up_pq_down" if tsa > 0 else "tsa_down_pq_up"

    def _change(self, metric: str) -> float | None:
        compared = self.metrics.get(metric)
        return None if compared is None else compared.found.difference


@dataclass(frozen=True)
class Comparisons:
    """Two releases, agent by agent and run mode by run mode."""

    lake: str
    base: str
    candidate: str
    level: float = LEVEL
    """Level of every interval."""
    cohorts: tuple[Comparison, ...] = ()
