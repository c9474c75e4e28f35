"""Sentences of alerts: numbers with what they were counted from, never a bare difference."""

from tracegrade_scoring.metrics import Metric, Scale
from tracegrade_scoring.rendering import words
from tracegrade_watch.alert import Evidence, Side

SUCCESS = "success"
EVIDENCE_DIGITS = 6
"""Significant digits of an evidence ratio, the same on all machines."""


def rounded(value: float) -> float:
    """Return a number with the digits that are stored."""
    return float(f"{value:.{EVIDENCE_DIGITS}g}")


def agent(agent_name: str | None, run_mode: str | None, metric: str | None) -> str | None:
    """Return the agent of an alert in its run mode; None of one about the whole lake."""
    if agent_name is None and metric is None:
        return None
    return words.cohort(agent_name, run_mode)


def moved(metric: Metric, base: Side, candidate: Side) -> str:
    """Return the change from one side to the other."""
    before, now = base.mean or 0, candidate.mean or 0
    change = "rose" if now > before else "fell" if now < before else "went"
    return f"{metric.name} {change} from {side(metric, base)} to {side(metric, candidate)}"


def of_tasks(metric: Metric, base: Side, candidate: Side, difference: float) -> str:
    """Return the mean change of tasks, if it is the contrary of that of all runs; else ''."""
    if difference * ((candidate.mean or 0) - (base.mean or 0)) >= 0:
        return ""
    change = "rose" if difference > 0 else "fell"
    amount = words.amount(abs(difference), metric.scale)
    return f"; task by task it {change} by {amount}: the releases ran the tasks in other shares"


def side(metric: Metric, found: Side) -> str:
    """Return the mean of a side and its counts."""
    release = f"{words.name(found.release, '(no release)')}, "
    return f"{words.amount(found.mean, metric.scale)} ({release}{counted(metric, found)})"


def counted(metric: Metric, found: Side) -> str:
    """Return the counts of a side."""
    days = words.count(found.days, "day")
    if metric.name == SUCCESS and found.value_sum == int(found.value_sum):
        failed = found.scored - int(found.value_sum)
        return f"{failed:,} of {words.count(found.scored, 'run')} failed, {days}"
    return f"{words.count(found.scored, 'run')}, {days}"


def strength(evidence: Evidence) -> str:
    """Return how strong evidence is against what its rule needs; '' without numbers."""
    if evidence.ratio is not None:
        needed = f"{evidence.threshold or 0:,.4g}"
        return f"evidence {evidence.ratio:,.4g}, an alert needs {needed}"
    if evidence.observed is not None and evidence.limit is not None:
        return f"{words.number(evidence.observed)}, limit {words.number(evidence.limit)}"
    return ""


def usage_metric(name: str) -> Metric:
    """Return a fact of runs as a metric, for its name and scale."""
    return Metric(name, name, "", "", scale=Scale.NUMBER, better=0)
