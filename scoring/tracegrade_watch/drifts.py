"""Rules with `drift`: the newest release against its own first days."""

from dataclasses import replace
from math import exp
from typing import Final, NamedTuple

from tracegrade_scoring.metrics import Metric
from tracegrade_scoring.rendering import words
from tracegrade_watch import phrases
from tracegrade_watch.alert import Evidence
from tracegrade_watch.day_rows import (
    DayRows,
    cells_of,
    day_means,
    scored_rows,
    side_of,
    task_changes,
)
from tracegrade_watch.reading import WatchedSeries, WatchedSums
from tracegrade_watch.regressions import GREATEST_LOG, NOT_COMPARABLE, decided
from tracegrade_watch.rules.model import DriftLimits, WatchRule
from tracegrade_watch.rules.stored import rule_line
from tracegrade_watch.statistics.drift import DAYS_PER_YEAR, detect_drift
from tracegrade_watch.statistics.mixture import LEAST_EXPECTED
from tracegrade_watch.watched import RuleCheck, Watching

RECENT_DAYS: Final = 7
"""Newest days whose mean the message compares with the reference."""


class DriftTest(NamedTuple):
    """One series whose newest release a rule watches."""

    rule: WatchRule
    series: WatchedSeries
    metric: Metric
    release: str | None
    days: int
    """Days of the release with a value."""
    reference: DayRows
    later: DayRows
    """Rows of the other days, of the tasks of the reference."""

    @property
    def about(self) -> Watching:
        """What identifies its alert."""
        return Watching(
            self.rule.id,
            self.series.agent_name,
            self.series.run_mode,
            self.series.metric,
            None,
            self.release,
            self.rule.by,
            self.series.dimension_value,
        )

    @property
    def limits(self) -> DriftLimits:
        """The limits that the rule gives."""
        return self.rule.drift or DriftLimits()

    def unknown(self) -> str | None:
        """Return why a drift cannot be seen; None if it can."""
        if self.days <= self.limits.reference_days:
            days = words.count(self.days, "day")
            return (
                f"too few days: the reference needs {self.limits.reference_days} and one more, "
                f"and the release has {days}"
            )
        if not self.later:
            return "no run of a later day is of a task of the reference"
        side = side_of(None, self.reference)
        if min(side.value_sum, side.scored - side.value_sum) < LEAST_EXPECTED:
            return f"too few runs: the reference needs {LEAST_EXPECTED:g} successes and failures"
        rows = (*self.reference, *self.later)
        versions = {(row["task_id"], each) for row in rows for each in row["scored_with"]}
        if len(versions) > len({task for task, _ in versions}):
            return NOT_COMPARABLE
        return None


def drift_checks(rule: WatchRule, sums: WatchedSums, metric: Metric) -> list[RuleCheck]:
    """Return the result of a rule for the newest release of each series."""
    return [
        _checked(_drift_test(rule, series, sums, metric), sums) for series in sums.of_rule(rule)
    ]


def _drift_test(
    rule: WatchRule, series: WatchedSeries, sums: WatchedSums, metric: Metric
) -> DriftTest:
    release = sums.releases(series)[-1].release
    rows = scored_rows(sums.days(series, (release,)))
    dates = sorted({row["date"] for row in rows})
    first = {*dates[: (rule.drift or DriftLimits()).reference_days]}
    reference = [row for row in rows if row["date"] in first]
    tasks = {row["task_id"] for row in reference}
    later = [row for row in rows if row["date"] not in first and row["task_id"] in tasks]
    return DriftTest(rule, series, metric, release, len(dates), reference, later)


def _checked(test: DriftTest, sums: WatchedSums) -> RuleCheck:
    reason = test.unknown()
    if reason is not None:
        return RuleCheck(test.about, reason=reason)
    cells = cells_of((test.reference, test.later))
    is_later = cells.side == 1
    reference, later = cells.where(~is_later), cells.where(is_later)
    later = later._replace(day=later.day - later.day.min())
    found = detect_drift(reference, later, better=test.metric.better)
    ratio = phrases.rounded(exp(min(float(found.log_ratio), GREATEST_LOG)))
    check = decided(
        RuleCheck(test.about, evidence=_evidence(test, ratio)),
        DAYS_PER_YEAR / test.limits.alarms_per_year,
    )
    if check.evidence is None or check.is_over:
        return check
    run_ids = sums.examples(
        test.series,
        test.metric.better,
        release=test.release,
        date=max(row["date"] for row in test.later),
    )
    return replace(check, evidence=replace(check.evidence, run_ids=run_ids))


class _ComparedDays(NamedTuple):
    """Later days that the message compares with the first ones."""

    rows: DayRows
    name: str


def _worse_days(test: DriftTest) -> _ComparedDays:
    """Return the newest days, or the worst ones where only they are worse than the first ones.

    The test adds up what all later days show, so it may fire after runs are better again.
    """
    dates = sorted({row["date"] for row in test.later})
    windows = [dates[max(end - RECENT_DAYS, 0) : end] for end in range(len(dates), 0, -1)]
    found = [[row for row in test.later if row["date"] in window] for window in windows]
    better = test.metric.better
    limit = _mean(test.reference) * better
    if _mean(found[0]) * better < limit:
        return _ComparedDays(found[0], "the newest")
    worst = min(range(len(found)), key=lambda number: _mean(found[number]) * better)
    if _mean(found[worst]) * better >= limit:
        return _ComparedDays(found[0], "the newest, which ran tasks in other shares")
    return _ComparedDays(found[worst], f"the worst, to {windows[worst][-1]}")


def _mean(rows: DayRows) -> float:
    return side_of(None, rows).mean or 0.0


def _evidence(test: DriftTest, ratio: float) -> Evidence:
    compared = _worse_days(test)
    base, candidate = (side_of(test.release, rows) for rows in (test.reference, compared.rows))
    return Evidence(
        f"{phrases.moved(test.metric, base, candidate)}: first days against {compared.name}",
        rule_line(test.rule),
        "a newer release",
        ratio=ratio,
        base=base,
        candidate=candidate,
        tasks=task_changes(test.reference, compared.rows, test.metric.better),
        days=day_means([(test.release, (*test.reference, *test.later))]),
    )
