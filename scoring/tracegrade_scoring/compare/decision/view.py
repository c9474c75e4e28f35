"""A decision in words, for every format alike."""

from collections.abc import Iterator
from math import isclose
from typing import Final, NamedTuple

from tracegrade_scoring.compare.decision.checks import BROKEN, HELD, UNKNOWN
from tracegrade_scoring.compare.decision.decision import (
    ReleaseDecision,
    decide_release,
    named,
    still_wrong,
)
from tracegrade_scoring.compare.decision.release_rule import ShipRule
from tracegrade_scoring.compare.differences import USAGE_METRICS, metric_row, share
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
"""Rows that are shown for every release, if they were measured in both."""


MOST_EXAMPLES: Final = 3
"""Runs of each kind that a page links next to the decision."""


class RunExample(NamedTuple):
    """A run of the candidate that shows something that went wrong."""

    sentence: str
    trajectory_id: str
    step_index: int | None


class DecisionView(NamedTuple):
    """The decision on one cohort; all texts are on one line."""

    candidate: str
    """Name of the newer release."""
    word: str
    """ship | hold | not enough runs | not comparable."""
    scope: str
    """The agent, the runs and the tasks that were compared."""
    checks: tuple[tuple[str, str, str, str], ...]
    """Mark, verdict, condition and finding of each part of the rule."""
    rows: tuple[tuple[str, str, str, str], ...]
    """Metric, base, candidate, and how it changed."""
    facts: tuple[tuple[str, str], ...]
    """What changed, what is still wrong, what is not known, and what it takes."""
    examples: tuple[RunExample, ...]
    """The first runs to look at: of tasks that fell, then of the most frequent reasons."""

    @property
    def headline(self) -> str:
        """The decision in a sentence, for text formats."""
        return f"{self.candidate}: {self.word}. {self.scope}"


def decision_view(comparison: Comparison, of: Comparisons, rule: ShipRule) -> DecisionView:
    """Return the decision on one cohort in words."""
    decision = decide_release(comparison, rule)
    return DecisionView(
        words.name(of.candidate),
        decision.word,
        _scope(comparison.cohort),
        tuple((MARKS[c.verdict], c.verdict, c.text, c.fact) for c in decision.checks),
        tuple(_rows(comparison)),
        tuple(_facts(decision, comparison)),
        tuple(_examples(comparison)),
    )


def _scope(cohort: Cohort) -> str:
    """Return the agent, the runs and the tasks that were compared."""
    runs = f"{cohort.base_runs:,} and {cohort.candidate_runs:,} runs"
    tasks = f"the same {words.count(cohort.tasks, 'task')}" if cohort.tasks else "no common task"
    agent = words.cohort(cohort.agent_name, cohort.run_mode)
    return f"{agent}, {runs} of {tasks}"


def _facts(decision: ReleaseDecision, comparison: Comparison) -> Iterator[tuple[str, str]]:
    """Yield what changed, what is still wrong, what is not known, and what it takes."""
    if comparison.differing:
        yield "Differs too", ", ".join(differing_texts(comparison))
    if not comparison.mixed:
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
        yield "Needed for a decision", named(decision.needed)


def differing_texts(comparison: Comparison) -> Iterator[str]:
    """Yield each dimension that differs between the sides, with the value that differs most."""
    for each in comparison.differing:
        shares = f"{share(each.base_share)} / {share(each.candidate_share)}"
        yield f"{each.dimension} ('{words.name(each.name)}': {shares})"


def _examples(comparison: Comparison) -> Iterator[RunExample]:
    """Yield a failed run of each task that fell most, and of each reason that explains most."""
    fell = [task for task in comparison.tasks if (task.success_change or 0.0) < 0]
    fell = sorted(fell, key=lambda task: task.success_change or 0.0)
    failed = [task for task in fell if task.failed_runs][:MOST_EXAMPLES]
    for task in failed:
        sentence = f"failed {words.name(task.task_id)}, which succeeds less often"
        yield RunExample(sentence, task.failed_runs[0], None)
    seen = {task.failed_runs[0] for task in failed}
    reasons = [each for each in still_wrong(comparison) if each.trajectory_id not in seen]
    for reason in reasons[:MOST_EXAMPLES]:
        own = reason.step_trajectory_id in {None, reason.trajectory_id}
        step = reason.step_index if own else None
        yield RunExample(words.line(reason.sentence), reason.trajectory_id, step)


def _rows(comparison: Comparison) -> Iterator[tuple[str, str, str, str]]:
    for metric in () if comparison.mixed else ROWS:
        compared = comparison.metrics.get(metric.name)
        if compared is not None:
            yield _row(metric, compared)


def _row(metric: Metric, compared: Compared) -> tuple[str, str, str, str]:
    row = metric_row(metric, compared)
    base, candidate = row.base, row.candidate
    if metric.name == "success" and not compared.is_corrected:
        base = _solved(compared.found.base, compared.base_scored) or base
        candidate = _solved(compared.found.candidate, compared.candidate_scored) or candidate
    return metric.label, base, candidate, ", ".join(filter(None, (row.verdict, _ways(compared))))


def _solved(share: float | None, attempts: int) -> str | None:
    """Return the number of solved attempts; None if it is not a whole number."""
    solved = (share or 0.0) * attempts
    if not isclose(solved, round(solved), abs_tol=1e-6):
        return None
    return f"{round(solved):,} of {attempts:,}"


def _ways(compared: Compared) -> str:
    """Return on how many tasks it rose and fell."""
    found = compared.found
    if not found.rose and not found.fell:
        return ""
    ways = [("rose on", found.rose), ("fell on", found.fell)]
    parts = " and ".join(f"{way} {tasks:,}" for way, tasks in ways if tasks)
    return f"{parts} of {words.count(found.tasks, 'task')}"
