"""Judges a candidate by its baseline: the verdict, with the same statistics as `compare`."""

import datetime
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from tracegrade.terminal.visible import visible
from tracegrade_ci.baseline import BaselineNotes, NoBaseline, StoredBaseline
from tracegrade_ci.pairing import CandidateRuns, PairedRuns, paired, tasks_changed
from tracegrade_scoring.compare.attempts import KNOWN_ALONE, AttemptCounting
from tracegrade_scoring.compare.decision.checks import HELD
from tracegrade_scoring.compare.decision.release_rule import DEFAULT_RULE, ShipRule
from tracegrade_scoring.compare.fail_on_rules import Rule
from tracegrade_scoring.compare.judge_corrections import NO_CALIBRATIONS, MeasuredJudges
from tracegrade_scoring.compare.read import read_comparisons
from tracegrade_scoring.compare.rule_outcomes import RuledComparison, apply_rules
from tracegrade_scoring.errors import NothingToCompare
from tracegrade_scoring.job.in_memory import connect_rows

PASS: Final = "pass"  # noqa: S105 - a verdict
FAIL: Final = "fail"
STALE: Final = "stale"
NO_BASELINE: Final = "no-baseline"


@dataclass(frozen=True)
class CheckOptions:
    """A user's choices for a check."""

    lake: str
    """Name of the lake for the reader."""
    agent: str | None = None
    rules: Sequence[Rule] = ()
    release_rule: ShipRule = DEFAULT_RULE
    counting: AttemptCounting = KNOWN_ALONE
    measured: MeasuredJudges = NO_CALIBRATIONS
    max_age: datetime.timedelta = datetime.timedelta(days=14)


class RunSteps(NamedTuple):
    """Steps of a run that show what went wrong."""

    trajectory_id: str
    sentence: str
    """What the run is an example of."""
    lines: tuple[str, ...]
    """The steps, printable."""


@dataclass(frozen=True)
class CheckResult:
    """The result of a check."""

    verdict: str
    """pass | fail | stale | no-baseline."""
    candidate: str
    runs: int
    """Runs of the candidate, also of sub-agents."""
    max_age: datetime.timedelta
    reason: str = ""
    """Why there is nothing to compare with; '' if there is."""
    notes: BaselineNotes | None = None
    age: datetime.timedelta | None = None
    """Age of the baseline; None without one."""
    paired: PairedRuns | None = None
    ruled: RuledComparison | None = None
    steps: tuple[RunSteps, ...] = ()

    @property
    def is_stale(self) -> bool:
        """Whether the baseline is older than it may be."""
        return self.age is not None and self.age > self.max_age


def check_runs(
    baseline: StoredBaseline | NoBaseline,
    candidate: CandidateRuns,
    options: CheckOptions,
    now: datetime.datetime,
) -> CheckResult:
    """Return whether the candidate is worse than the baseline, by the rules.

    Args:
        baseline: The baseline.
        candidate: The runs to check, scored.
        options: The rules, among others.
        now: The time, UTC.

    Raises:
        CheckRefused: The candidate's runs are the baseline's own.
    """
    result = CheckResult(NO_BASELINE, candidate.release, candidate.scored.runs, options.max_age)
    if isinstance(baseline, NoBaseline):
        return replace(result, reason=baseline.reason)
    result = replace(result, notes=baseline.notes, age=baseline.age(now))
    both = paired(baseline, candidate)
    if isinstance(both, NoBaseline):
        return replace(result, reason=both.reason)
    result = replace(result, paired=both)
    try:
        ruled = _compared(both, candidate.release, options)
    except NothingToCompare as error:
        reason = tasks_changed(both.changed_tasks) if both.changed_tasks else visible(str(error))
        return replace(result, reason=reason)
    result = replace(result, ruled=ruled)
    return replace(result, verdict=_verdict(ruled, is_stale=result.is_stale))


def _compared(both: PairedRuns, candidate: str, options: CheckOptions) -> RuledComparison:
    with closing(connect_rows(both.tables)) as con:
        found = read_comparisons(
            con,
            options.lake,
            both.base,
            candidate,
            options.agent,
            counting=options.counting,
            measured=options.measured,
        )
    return apply_rules(found, options.rules, options.release_rule)


def _verdict(ruled: RuledComparison, *, is_stale: bool) -> str:
    if any(each.verdict != HELD for outcomes in ruled.outcomes for each in outcomes):
        return FAIL
    return STALE if is_stale else PASS
