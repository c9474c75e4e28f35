"""Differences between two releases in words: a metric or a failure mode on both sides, one row."""

from typing import Final, NamedTuple

from tracegrade_scoring.compare.model import Cohort, Compared, FailureMode
from tracegrade_scoring.compare.paired import Difference
from tracegrade_scoring.compare.sign_flips import LEAST_TASKS
from tracegrade_scoring.metrics import Metric, Scale
from tracegrade_scoring.rendering import words

USAGE_METRICS: Final = tuple(
    Metric(name, label, "Cost", "", Scale.NUMBER, better=-1)
    for name, label in (
        ("tokens_per_run", "Tokens per run"),
        ("cost_usd_per_run", "Cost per run, USD"),
        ("steps_per_run", "Steps per run"),
    )
)
"""Usage of runs, compared in addition to the metrics."""
NO_INTERVAL: Final = "no interval"
"""In place of an interval without any width; a caution below the table explains it."""


class DifferenceRow(NamedTuple):
    """One metric on both sides."""

    label: str
    base: str
    candidate: str
    change: str
    interval: str
    """Interval of the change; '' without one."""
    verdict: str
    """better | worse | changed | may be chance | too few tasks | ''."""
    basis: str
    """Tasks or runs behind it; '' if these are all that are compared."""


class ModeDifference(NamedTuple):
    """One failure mode on both sides."""

    mode: str
    base: str
    candidate: str
    change: str
    interval: str
    verdict: str
    """new, rose | rose | may be chance | ..."""
    example: str
    basis: str
    """Tasks and runs that could show it; '' if these are all that are compared."""


def metric_row(metric: Metric, compared: Compared, cohort: Cohort | None = None) -> DifferenceRow:
    """Return one metric; its basis is left out where it is all tasks and runs of the cohort."""
    found = compared.found
    return DifferenceRow(
        metric.label,
        words.amount(found.base, metric.scale),
        words.amount(found.candidate, metric.scale),
        words.difference(found.difference or 0.0, metric.scale),
        _interval(found, metric.scale),
        _verdict(metric, compared),
        _basis(compared, cohort),
    )


def _interval(found: Difference, scale: Scale) -> str:
    if found.low is None or found.high is None:
        return ""
    if found.low == found.high:
        return NO_INTERVAL
    if scale is Scale.SHARE:
        return f"{found.low * 100:+.1f} to {found.high * 100:+.1f}"
    return f"{found.low:+,.2f} to {found.high:+,.2f}"


def _verdict(metric: Metric, compared: Compared) -> str:
    if not compared.found.difference:
        return ""
    if compared.found.p_value is None:
        return "too few runs"
    if compared.found.p_method == "sign_flips" and compared.found.tasks < LEAST_TASKS:
        return "too few tasks"
    if not compared.direction:
        return "may be chance"
    return {1: "better", -1: "worse", 0: "changed"}[compared.direction * metric.better]


def _basis(compared: Compared, cohort: Cohort | None) -> str:
    """Return the tasks and runs that the values are over."""
    scored = (compared.base_scored, compared.candidate_scored)
    made = (compared.base_runs, compared.candidate_runs)
    noun = "attempts" if compared.metric == "success" or is_pass(compared.metric) else "runs"
    if "unpaired" in compared.flags:
        shares = (f"{part:,} of {whole:,}" for part, whole in zip(scored, made, strict=True))
        return f"{' and '.join(shares)} runs scored"
    tasks = words.count(compared.found.tasks, "task")
    if cohort and compared.found.tasks < cohort.tasks:
        tasks = f"{compared.found.tasks:,} of {words.count(cohort.tasks, 'task')}"
    elif cohort and scored == made and noun == "runs":
        return ""
    if not any(made):
        return tasks
    runs = f"{scored[0]:,} and {scored[1]:,} {noun}"
    if scored != made:
        runs = f"{scored[0]:,} of {made[0]:,} and {scored[1]:,} of {made[1]:,} {noun} scored"
    return f"{tasks}, {runs}"


def is_pass(metric: str) -> bool:
    """Return whether a metric is pass@k or pass^k."""
    return metric[:5] in {"pass@", "pass^"}


def change_sentence(row: DifferenceRow) -> str:
    """Return what a metric was and is, and by how much it changed, for a list."""
    interval = "" if row.interval in {"", NO_INTERVAL} else f", interval {row.interval}"
    return f"{row.label}: {row.base} \u2192 {row.candidate} ({row.change}{interval})"


def mode_row(mode: FailureMode, cohort: Cohort) -> ModeDifference:
    """Return one failure mode."""
    found = mode.compared.found
    return ModeDifference(
        words.mode(mode.mode),
        share(found.base),
        share(found.candidate),
        words.difference(found.difference or 0.0, Scale.SHARE),
        _interval(found, Scale.SHARE),
        _mode_verdict(mode),
        words.run(mode.trajectory_id) if mode.trajectory_id else "",
        _basis(mode.compared, cohort),
    )


def _mode_verdict(mode: FailureMode) -> str:
    if not mode.compared.found.difference:
        return ""
    way = "new" if mode.is_new else "rose" if mode.rose else "fell"
    p_value = mode.compared.p_adjusted
    few = mode.compared.found.p_method == "sign_flips" and mode.compared.found.tasks < LEAST_TASKS
    if p_value is None or few:
        return f"{way}, too few tasks to rule out chance"
    return f"{way}, p = {p_value:.3g}" + ("" if mode.is_sure else ": may be chance")


def share(value: float | None) -> str:
    """Return a share as per cent."""
    return words.amount(value, Scale.SHARE)
