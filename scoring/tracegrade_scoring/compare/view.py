"""A comparison as a reader sees it: the answer first, then every number as text.

One view for the terminal, HTML and Markdown, so that all say the same. All texts are on one line
and free of control characters (`visible`); markup is escaped by the writer of each format.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from tracegrade.terminal.visible import visible
from tracegrade_scoring.compare.cautions import cautions
from tracegrade_scoring.compare.conclusion import (
    SureChanges,
    answer,
    broke,
    caveats,
    findings,
    nothing_broke,
    sure_changes,
)
from tracegrade_scoring.compare.differences import (
    USAGE_METRICS,
    DifferenceRow,
    ModeDifference,
    is_pass,
    metric_row,
    mode_row,
    share,
)
from tracegrade_scoring.compare.fail_on_rules import RuleOutcome
from tracegrade_scoring.compare.model import (
    Cohort,
    Compared,
    Comparison,
    Comparisons,
    TaskChange,
)
from tracegrade_scoring.compare.reasons_view import ReasonDifference, reason_differences
from tracegrade_scoring.metrics import FAILURE_MODES, Metric, Scale
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.catalog import main_metrics, more_metrics
from tracegrade_scoring.rendering.evidence import RunEvidence, spelled_out
from tracegrade_scoring.rendering.measured_modes import measured_note

RELIABILITY: Final = "Reliability"
_T_SCORE: Final = Metric("t_score", "T-Score", RELIABILITY, "", Scale.NUMBER)
LARGEST_SHOWN: Final = 4
"""The k up to which pass@k and pass^k are shown first."""
FIRST_PASSES: Final = ("pass@1", "pass^1")
"""These two are equal."""
CORRECTED: Final = ", corrected"
"""Behind the label of a metric that is corrected for what a judge gets wrong."""
TASK_ROWS: Final = 10
"""Tasks shown: those whose success changed most."""


@dataclass(frozen=True)
class CohortView:
    """Both releases of one agent in one run mode, in words."""

    title: str
    base: str
    candidate: str
    level: str
    """Level of every interval, such as 95%."""
    scores_title: str
    """What `rows` are about."""
    answer: str
    """Is the candidate better? One sentence."""
    caveats: tuple[str, ...]
    """Limits of the comparison as a whole; `answer` has them, too."""
    better: tuple[DifferenceRow, ...]
    """What surely became better, over all of `rows` together (Holm)."""
    worse: tuple[DifferenceRow, ...]
    broke: tuple[RunEvidence, ...]
    """New and risen failure modes, critical sub-goals skipped more often."""
    nothing_broke: str
    """What it means if `broke` is empty."""
    also: tuple[RunEvidence, ...]
    """What else stands out."""
    rows: tuple[DifferenceRow, ...]
    more_rows: tuple[DifferenceRow, ...]
    reasons: tuple[ReasonDifference, ...]
    """Why runs failed."""
    modes: tuple[ModeDifference, ...]
    mode_note: str
    """A note about these modes; '' if none is listed."""
    categories: tuple[DifferenceRow, ...]
    tasks: tuple[tuple[str, ...], ...]
    """Task, success before and after, steps before and after, a remark."""
    mocked: tuple[tuple[str, ...], ...]
    cautions: tuple[str, ...]
    changed: SureChanges
    """The metrics of `better` and `worse`."""
    mode_runs: Mapping[str, tuple[str, ...]]
    """The candidate's first runs with each failure mode, by its name in `modes`."""

    @property
    def sure(self) -> frozenset[str]:
        """The labels of what surely changed."""
        return frozenset(metric.label for metric in (*self.changed.better, *self.changed.worse))

    @property
    def findings(self) -> tuple[str, ...]:
        """Regressions and other findings, in sentences that name their runs."""
        return tuple(map(spelled_out, (*self.broke, *self.also)))


def cohort_view(comparison: Comparison, of: Comparisons) -> CohortView:
    """Return one cohort of a comparison in words."""
    composite = [_T_SCORE] if "t_score" in comparison.metrics else []
    known = [_named(metric, comparison) for metric in main_metrics(comparison.metrics)]
    passes = _passes(comparison)
    first = [metric for metric in passes if _pass_order(metric.name)[0] <= LARGEST_SHOWN]
    main = [*composite, *known, *first, *_used(comparison)]
    # Failure modes have a table of their own.
    elsewhere = {*(metric.name for metric in (*main, *passes)), *FIRST_PASSES, *FAILURE_MODES}
    names = [name for name in comparison.metrics if name not in elsewhere]
    others = more_metrics(names, comparison.own_metrics)
    more = [*passes[len(first) :], *others]
    old, new = words.name(of.base), words.name(of.candidate)
    sure = sure_changes(comparison, main)
    return CohortView(
        title=_title(comparison.cohort),
        base=old,
        candidate=new,
        level=words.level(of.level),
        scores_title=_scores_title(comparison.cohort),
        answer=answer(comparison, main, old, new),
        caveats=tuple(caveats(comparison, old, new)),
        better=tuple(_score_rows(comparison, sure.better)),
        worse=tuple(_score_rows(comparison, sure.worse)),
        broke=tuple(broke(comparison)),
        nothing_broke=nothing_broke(comparison),
        also=tuple(findings(comparison, new, of.level)),
        rows=tuple(_score_rows(comparison, main)),
        more_rows=tuple(_score_rows(comparison, more)),
        reasons=tuple(reason_differences(comparison.reasons)),
        mode_note=measured_note(mode.mode for mode in comparison.failure_modes),
        modes=tuple(mode_row(mode, comparison.cohort) for mode in comparison.failure_modes),
        categories=tuple(_category_rows(comparison)),
        tasks=tuple(map(_task_row, _most_changed(comparison.tasks))),
        mocked=tuple(_mocked_rows(comparison)),
        cautions=tuple(cautions(comparison, old, new, of.level)),
        changed=sure,
        mode_runs={
            words.mode(mode.mode): mode.trajectory_ids for mode in comparison.failure_modes
        },
    )


def _named(metric: Metric, comparison: Comparison) -> Metric:
    """Return a metric whose label says whether it is corrected for a judge's errors."""
    if not comparison.metrics[metric.name].is_corrected:
        return metric
    return replace(metric, label=f"{metric.label}{CORRECTED}")


def _title(cohort: Cohort) -> str:
    return words.cohort(cohort.agent_name, cohort.run_mode)


def _scores_title(cohort: Cohort) -> str:
    """Return what rows are about that do not say it themselves."""
    if cohort.is_paired:
        return f"Scores on the {words.count(cohort.tasks, 'task')} that both ran"
    runs = f"{cohort.base_runs_of_no_task:,} and {cohort.candidate_runs_of_no_task:,} runs"
    return f"Scores of {runs} without a task, not paired"


def _score_rows(comparison: Comparison, metrics: Iterable[Metric]) -> Iterator[DifferenceRow]:
    for metric in metrics:
        yield metric_row(metric, comparison.metrics[metric.name], comparison.cohort)


def _passes(comparison: Comparison) -> list[Metric]:
    """Return pass@k and pass^k by k; k = 1 is one row, left out if it equals success."""
    names = [n for n in comparison.metrics if is_pass(n) and n not in FIRST_PASSES]
    once, success = (comparison.metrics.get(name) for name in ("pass@1", "success"))
    if once and success and _rounded(once) != _rounded(success):
        names.append("pass@1")
    return [Metric(name, name, RELIABILITY, "") for name in sorted(names, key=_pass_order)]


def _rounded(compared: Compared) -> tuple[float | None, ...]:
    found = compared.as_judged or compared.found
    return tuple(value and round(value, 9) for value in found[:2])


def _pass_order(name: str) -> tuple[int, str]:
    return int(name[5:]), name


def _used(comparison: Comparison) -> list[Metric]:
    return [metric for metric in USAGE_METRICS if metric.name in comparison.metrics]


def _category_rows(comparison: Comparison) -> Iterator[DifferenceRow]:
    if {change.category for change in comparison.categories} == {None}:
        return
    for change in comparison.categories:
        label = words.name(change.category, "(no category)")
        yield metric_row(Metric("success", label, "", ""), change.compared)


def _most_changed(tasks: Iterable[TaskChange]) -> list[TaskChange]:
    """Return the tasks whose success changed most, those that fell first."""
    changed = [task for task in tasks if task.success_change or task.ranked_oppositely]
    return sorted(changed, key=lambda task: (task.success_change or 0.0, task.task_id))[:TASK_ROWS]


def _task_row(task: TaskChange) -> tuple[str, ...]:
    return (
        words.name(task.task_id),
        share(task.base_success),
        share(task.candidate_success),
        words.number(task.base_steps),
        words.number(task.candidate_steps),
        "sub-goal completion says the opposite" if task.ranked_oppositely else "",
    )


def _mocked_rows(comparison: Comparison) -> Iterator[tuple[str, ...]]:
    for tool in comparison.mocked_tools:
        differ = tool.other_shape + tool.other_values
        divergence = differ / tool.matched if tool.matched else None
        counts = (tool.matched, tool.other_shape, tool.other_values, tool.misses)
        yield (
            words.name(tool.tool_name),
            share(divergence),
            *(f"{count:,}" for count in counts),
            f"{tool.content_missing:,}",
        )


def metric_headings(view: CohortView) -> tuple[str, ...]:
    """Return the headings of `rows`."""
    return ("metric", view.base, view.candidate, "change", f"{view.level} interval", "", "from")


def task_headings(view: CohortView) -> tuple[str, ...]:
    """Return the headings of `tasks`."""
    sides = (view.base, view.candidate)
    return ("task", *(f"success, {side}" for side in sides), *(f"steps, {s}" for s in sides), "")


def mocked_headings() -> tuple[str, ...]:
    """Return the headings of `mocked`."""
    counts = ("matched", "other shape", "other values", "no live call", "content missing")
    return ("tool", "divergence", *counts)


def rule_rows(outcomes: Iterable[RuleOutcome]) -> list[tuple[str, ...]]:
    """Return what each rule says."""
    return [(visible(o.rule), o.verdict, visible(o.fact)) for o in outcomes]
