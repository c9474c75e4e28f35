"""Two releases as rows of the page: each number with the runs behind it."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from tracegrade_explorer import links
from tracegrade_explorer.filters.grammar import NUMBERS, Filter, Range
from tracegrade_explorer.pages.cells import ALL_METRICS
from tracegrade_scoring.compare import sides
from tracegrade_scoring.compare.decision.release_rule import DEFAULT_RULE
from tracegrade_scoring.compare.decision.view import decision_view
from tracegrade_scoring.compare.differences import DifferenceRow, ModeDifference
from tracegrade_scoring.compare.model import Comparison, Comparisons, TaskChange
from tracegrade_scoring.compare.reasons_view import REASONS_NOTE, ReasonDifference
from tracegrade_scoring.compare.view import (
    CORRECTED,
    CohortView,
    cohort_view,
    mocked_headings,
)
from tracegrade_scoring.metrics import Scale
from tracegrade_scoring.rendering import words

TASKS: Final = 200
"""Tasks shown; JSON has all."""
MOST_NAMED: Final = 60
"""Tasks that an address names; with more, a list also has tasks of only one release."""
METRIC_OF: Final = {
    **{metric.label: metric.name for metric in ALL_METRICS.values()},
    "Tokens per run": "tokens",
    "Cost per run, USD": "cost_usd",
    "Steps per run": "steps",
}
"""By the label of a row, the field for which each of its runs has a value."""


class Sides(NamedTuple):
    """Something on both sides."""

    base: str
    candidate: str


class LinkedRow(NamedTuple):
    """One row of differences, with the runs that either number is of."""

    row: DifferenceRow
    runs: Sides


class LinkedMode(NamedTuple):
    """One failure mode, with the runs that show it."""

    row: ModeDifference
    runs: Sides
    examples: tuple[str, ...]
    """Ids of the candidate's first runs that show it."""


class LinkedReason(NamedTuple):
    """One reason why runs failed, with the runs that failed for it."""

    row: ReasonDifference
    runs: Sides


class TaskRow(NamedTuple):
    """One task on both sides."""

    name: str
    href: str
    success: Sides
    steps: Sides
    runs: Sides
    change: str
    """Difference of success, in percentage points; '' without both values."""
    way: str
    """better | worse; '' if success did not change, or if the change may be chance."""
    remark: str
    failed_runs: tuple[str, ...]
    """Ids of the candidate's first failed runs."""


def cohort_rows(
    comparison: Comparison, of: Comparisons, compared: sides.ComparedSides | None = None
) -> dict[str, Any]:
    """Return the content of a page about one agent in one run mode.

    Args:
        comparison: One cohort.
        of: All of them.
        compared: The sides if they are no releases.
    """
    view = cohort_view(comparison, of)
    names = [side.names for side in compared] if compared else None
    lists = _Lists(comparison, names or [{"release": (name,)} for name in (of.base, of.candidate)])
    tasks = sorted(comparison.tasks, key=_by_change)
    return {
        "view": view,
        "decision": decision_view(comparison, of, DEFAULT_RULE),
        "rows": [LinkedRow(row, lists.of_metric(row.label)) for row in view.rows],
        "more": [LinkedRow(row, lists.of_metric(row.label)) for row in view.more_rows],
        "reasons": [LinkedReason(row, lists.of("reason", row.name)) for row in view.reasons],
        "reasons_note": REASONS_NOTE,
        "modes": [*_modes(view, comparison, lists)],
        "categories": [*_categories(view, comparison, lists)],
        "tasks": [_task(task, lists) for task in tasks[:TASKS]],
        "more_tasks": len(tasks) - TASKS,
        "paired": comparison.cohort.is_paired,
        "mocked_headings": mocked_headings(),
    }


class _Lists:
    """The lists of runs that are compared."""

    def __init__(self, comparison: Comparison, names: Sequence[sides.SideNames]) -> None:
        self._cohort = comparison.cohort
        self._names = names
        both = [task.task_id for task in comparison.tasks if _is_of_both(task)]
        others = len(comparison.tasks) - len(both) + (
            comparison.cohort.base_runs_of_no_task + comparison.cohort.candidate_runs_of_no_task
        )  # fmt: skip
        self._tasks: tuple[str | None, ...] = ()
        if not comparison.cohort.is_paired:
            self._tasks = (None,)
        elif others and len(both) <= MOST_NAMED:
            self._tasks = tuple(sorted(both))

    def of_metric(self, label: str) -> Sides:
        """Return the lists of compared runs that have a value of a row's metric."""
        metric = METRIC_OF.get(label.removesuffix(CORRECTED), "")
        ranges: dict[str, Range | None] = {metric: Range()} if metric in NUMBERS else {}
        return self._sides({"task": self._tasks} if self._tasks else {}, ranges)

    def of(self, key: str, name: str | None) -> Sides:
        """Return the lists of compared runs with a name of some key."""
        names = {"task": self._tasks} if self._tasks else {}
        return self._sides({**names, key: (name,)}, {})

    def _sides(
        self, names: dict[str, tuple[str | None, ...]], ranges: dict[str, Range | None]
    ) -> Sides:
        cohort = {"agent": (self._cohort.agent_name,), "run_mode": (self._cohort.run_mode,)}
        return Sides(*(
            links.runs(Filter({**names, **cohort, **side_names}, ranges, counted=True))
            for side_names in self._names
        ))  # fmt: skip


def _modes(view: CohortView, comparison: Comparison, lists: _Lists) -> Iterator[LinkedMode]:
    for row, mode in zip(view.modes, comparison.failure_modes, strict=True):
        yield LinkedMode(row, lists.of("failure", mode.mode), mode.trajectory_ids)


def _categories(view: CohortView, comparison: Comparison, lists: _Lists) -> Iterator[LinkedRow]:
    if view.categories:
        for row, change in zip(view.categories, comparison.categories, strict=True):
            yield LinkedRow(row, lists.of("category", change.category))


def _by_change(task: TaskChange) -> tuple[int, float, str]:
    """Order tasks: those that fell, those that rose, those that did not change, the rest."""
    change = task.success_change
    if change is None:
        return 3, 0.0, task.task_id
    return (0, change, task.task_id) if change < 0 else (1 if change else 2, -change, task.task_id)


def _is_of_both(task: TaskChange) -> bool:
    return task.base_steps is not None and task.candidate_steps is not None


def _task(task: TaskChange, lists: _Lists) -> TaskRow:
    change = task.success_change
    return TaskRow(
        words.name(task.task_id),
        links.task(task.task_id),
        Sides(*(words.amount(share, Scale.SHARE)
                for share in (task.base_success, task.candidate_success))),
        Sides(*map(words.number, (task.base_steps, task.candidate_steps))),
        lists.of("task", task.task_id),
        "" if change is None else words.difference(change, Scale.SHARE),
        "" if not change or not task.is_sure else "better" if change > 0 else "worse",
        _remark(task),
        task.failed_runs,
    )  # fmt: skip


def _remark(task: TaskChange) -> str:
    if task.ranked_oppositely:
        return "sub-goal completion says the opposite"
    if task.success_change and not task.is_sure:
        return "may be chance"
    return "" if _is_of_both(task) else "not run by both"
