"""Rules with `smallest`: the newest release against the one before."""

from dataclasses import replace
from math import exp
from typing import Final, NamedTuple

from tracegrade_scoring.metrics import Metric, Scale
from tracegrade_scoring.rendering import words
from tracegrade_watch import phrases
from tracegrade_watch.alert import Evidence
from tracegrade_watch.day_rows import (
    DayRows,
    cells_of,
    common_tasks,
    day_means,
    scored_rows,
    side_of,
    task_changes,
)
from tracegrade_watch.reading import ReleaseDays, WatchedSeries, WatchedSums
from tracegrade_watch.rules.model import WatchRule
from tracegrade_watch.rules.stored import rule_line
from tracegrade_watch.statistics.mixture import LEAST_EXPECTED, LEAST_SCORED, compare_sides
from tracegrade_watch.watched import RuleCheck, Watching

RESOLVED_SHARE: Final = 0.2
"""Share of the threshold below which an alert is resolved."""
GREATEST_LOG: Final = 690.0
"""Greater logarithms are written as this one, whose number a double can hold."""
NOT_COMPARABLE: Final = (
    "not comparable: the runs were scored by different versions of the scorer or of their tasks; "
    "`tracegrade score --full` scores all again"
)


class RegressionTest(NamedTuple):
    """One series that a rule compares, and the two releases."""

    rule: WatchRule
    series: WatchedSeries
    metric: Metric
    newest: ReleaseDays
    base: ReleaseDays | None
    """None where no two releases have enough days."""
    candidate: ReleaseDays | None

    @property
    def about(self) -> Watching:
        """What identifies its alert."""
        return Watching(
            self.rule.id,
            self.series.agent_name,
            self.series.run_mode,
            self.series.metric,
            self.base.release if self.base else None,
            self.candidate.release if self.candidate else self.newest.release,
            self.rule.by,
            self.series.dimension_value,
        )


class _Sides(NamedTuple):
    """The rows of both releases."""

    base: DayRows
    candidate: DayRows
    is_paired: bool
    """Whether the releases are compared task by task."""


def regression_tests(
    rule: WatchRule, sums: WatchedSums, metric: Metric, min_days: int
) -> list[RegressionTest]:
    """Return the comparisons of a rule: one for each series with two releases or more."""
    found = []
    for series in sums.of_rule(rule):
        releases = sums.releases(series)
        if len(releases) > 1:
            long = [each for each in releases if each.days >= min_days]
            pair = long[-2:] if len(long) > 1 else (None, None)
            found.append(RegressionTest(rule, series, metric, releases[-1], *pair))
    return found


def compared(test: RegressionTest, sums: WatchedSums, min_days: int, least: float) -> RuleCheck:
    """Return the evidence of one comparison, which `decided` then measures by a threshold.

    Args:
        test: The comparison.
        sums: The sums of the lake.
        min_days: Days that a release needs.
        least: The least threshold that `decided` may use; only from this ratio runs are named.
    """
    if test.base is None or test.candidate is None:
        newest = words.name(test.newest.release, "(no release)")
        days = words.count(test.newest.days, "day")
        reason = (
            f"too few days: two releases need {min_days} each; the newest, {newest}, has {days}"
        )
        return RuleCheck(test.about, reason=reason)
    sides = _sides(sums, test.series, test.base, test.candidate)
    if _versions(sides) > 1:
        return RuleCheck(test.about, reason=NOT_COMPARABLE)
    return _tested(test, sums, sides, least)


def decided(check: RuleCheck, threshold: float) -> RuleCheck:
    """Return whether a test fires, whose evidence has a ratio.

    Args:
        check: The result without a decision.
        threshold: Evidence ratio from which it fires.
    """
    if check.evidence is None or check.evidence.ratio is None:
        return check
    over = RESOLVED_SHARE * threshold
    ratio = check.evidence.ratio
    evidence = replace(
        check.evidence,
        threshold=phrases.rounded(threshold),
        resolves=f"evidence below {over:,.4g}, or {check.evidence.resolves}",
    )
    return replace(check, fires=ratio >= threshold, is_over=ratio < over, evidence=evidence)


def _sides(
    sums: WatchedSums, series: WatchedSeries, base: ReleaseDays, candidate: ReleaseDays
) -> _Sides:
    rows = scored_rows(sums.days(series, (base.release, candidate.release)))
    both = [[row for row in rows if row["release"] == each.release] for each in (base, candidate)]
    first, last = common_tasks(both[0], both[1])
    if first:
        return _Sides(first, last, is_paired=True)
    return _Sides(both[0], both[1], is_paired=False)


def _versions(sides: _Sides) -> int:
    """Return by how many versions a task was scored, of the one with most."""
    found: dict[str | None, set[str]] = {}
    for row in (*sides.base, *sides.candidate):
        task = row["task_id"] if sides.is_paired else None
        versions = row["scored_with"]
        if not sides.is_paired:  # other tasks have other hashes
            versions = [each.partition("/")[0] for each in versions]
        found.setdefault(task, set()).update(versions)
    return max(map(len, found.values()), default=0)


def _tested(test: RegressionTest, sums: WatchedSums, sides: _Sides, least: float) -> RuleCheck:
    is_share = test.metric.scale is Scale.SHARE
    found = compare_sides(
        cells_of(sides[:2], by_task=sides.is_paired),
        smallest=test.rule.smallest or 0.0,
        better=test.metric.better,
        is_share=is_share,
    )
    if not found.enough:
        needed = (
            f"{LEAST_EXPECTED:g} expected successes and failures"
            if is_share
            else f"{LEAST_SCORED:g} runs"
        )
        return RuleCheck(test.about, reason=f"too few runs: each side needs {needed}")
    ratio = phrases.rounded(exp(min(float(found.log_ratio), GREATEST_LOG)))
    evidence = _evidence(test, sides, ratio, float(found.difference))
    if ratio >= RESOLVED_SHARE * least:
        run_ids = sums.examples(test.series, test.metric.better, release=test.about.candidate)
        evidence = replace(evidence, run_ids=run_ids)
    return RuleCheck(test.about, evidence=evidence)


def _evidence(test: RegressionTest, sides: _Sides, ratio: float, difference: float) -> Evidence:
    about, metric = test.about, test.metric
    base, candidate = side_of(about.base, sides.base), side_of(about.candidate, sides.candidate)
    changes = task_changes(sides.base, sides.candidate, metric.better)
    unpaired = "" if sides.is_paired else "; no task is in both releases, so all runs are compared"
    return Evidence(
        f"{phrases.moved(metric, base, candidate)}{unpaired}"
        f"{phrases.of_tasks(metric, base, candidate, difference)}",
        rule_line(test.rule),
        "a newer release with enough days",
        ratio=ratio,
        base=base,
        candidate=candidate,
        tasks=changes if sides.is_paired else (),
        days=day_means([(about.base, sides.base), (about.candidate, sides.candidate)]),
    )
