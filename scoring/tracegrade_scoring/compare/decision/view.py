"""A decision in words, for every format alike."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from tracegrade_scoring.compare.decision.checks import BROKEN, HELD, UNKNOWN
from tracegrade_scoring.compare.decision.decision import ReleaseDecision, decide_release, named
from tracegrade_scoring.compare.decision.release_rule import ShipRule
from tracegrade_scoring.compare.differences import USAGE_METRICS, metric_row
from tracegrade_scoring.compare.model import Cohort, Compared, Comparison, Comparisons
from tracegrade_scoring.metrics import METRICS, Metric
from tracegrade_scoring.rendering import words

MARKS: Final = {HELD: "✓", BROKEN: "✗", UNKNOWN: "?"}
ROWS: Final = (
    METRICS["success"],
    METRICS["tsa"],
    METRICS["ra_after_recovery"],
    *USAGE_METRICS,
)
"""What is shown of every release, as far as it was measured in both."""


class DecisionView(NamedTuple):
    """The decision on one cohort; all texts are on one line."""

    headline: str
    """The word, and what it is about."""
    checks: tuple[tuple[str, str, str, str], ...]
    """Of each part of the rule its mark, its verdict, what must hold and what was found."""
    rows: tuple[tuple[str, str, str, str], ...]
    """Metric, base, candidate, and how it changed."""
    facts: tuple[tuple[str, str], ...]
    """What changed, what is still wrong, what is not known, and what it takes."""


def decision_view(comparison: Comparison, of: Comparisons, rule: ShipRule) -> DecisionView:
    """Return the decision on one cohort in words."""
    decision = decide_release(comparison, rule)
    return DecisionView(
        _headline(decision, comparison.cohort, words.name(of.candidate)),
        tuple((MARKS[c.verdict], c.verdict, c.text, c.fact) for c in decision.checks),
        tuple(_rows(comparison)),
        tuple(_facts(decision)),
    )


def _headline(decision: ReleaseDecision, cohort: Cohort, candidate: str) -> str:
    """Return the word of a decision and what it is about."""
    runs = f"{cohort.base_runs:,} and {cohort.candidate_runs:,} runs"
    tasks = f"the same {words.count(cohort.tasks, 'task')}" if cohort.tasks else "no common task"
    agent = words.cohort(cohort.agent_name, cohort.run_mode)
    return f"{candidate}: {decision.word}. {agent}, {runs} of {tasks}"


def _facts(decision: ReleaseDecision) -> Iterator[tuple[str, str]]:
    """Yield what changed, what is still wrong, what is not known, and what it takes."""
    yield "Got better", named(decision.better)
    yield "Got worse", named(decision.worse)
    if decision.went_up:
        yield "Went up, may be chance", named(decision.went_up)
    if decision.went_down:
        yield "Went down, may be chance", named(decision.went_down)
    yield "Still wrong", named(decision.still_wrong, "no run is known to have failed")
    if decision.not_known:
        yield "Not known", named(decision.not_known)
    if decision.needed:
        yield "What it takes", named(decision.needed)


def _rows(comparison: Comparison) -> Iterator[tuple[str, str, str, str]]:
    for metric in ROWS:
        compared = comparison.metrics.get(metric.name)
        if compared is not None:
            yield _row(comparison, metric, compared)


def _row(comparison: Comparison, metric: Metric, compared: Compared) -> tuple[str, str, str, str]:
    row = metric_row(metric, compared)
    base, candidate = row.base, row.candidate
    if metric.name == "success" and not compared.is_corrected and comparison.tasks:
        base, candidate = _solved(comparison)
    return metric.label, base, candidate, ", ".join(filter(None, (row.verdict, _ways(compared))))


def _solved(comparison: Comparison) -> tuple[str, str]:
    """Return how many attempts were solved on each side, of those of known success."""
    sides = [
        [(task.base_success, task.base_attempts) for task in comparison.tasks],
        [(task.candidate_success, task.candidate_attempts) for task in comparison.tasks],
    ]
    base, candidate = (
        f"{sum(round((part or 0.0) * count) for part, count in side):,} of "
        f"{sum(count for _, count in side):,}"
        for side in sides
    )
    return base, candidate


def _ways(compared: Compared) -> str:
    """Return on how many tasks it rose and fell."""
    found = compared.found
    if not found.rose and not found.fell:
        return ""
    ways = [("rose on", found.rose), ("fell on", found.fell)]
    parts = " and ".join(f"{way} {tasks:,}" for way, tasks in ways if tasks)
    return f"{parts} of {words.count(found.tasks, 'task')}"
