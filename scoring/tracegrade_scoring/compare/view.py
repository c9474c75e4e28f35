"""A comparison as a reader sees it: the answer first, then every number as text.

One view for the terminal and Markdown, so that both say the same. All texts are on one line and
free of control characters (`visible`); markup is escaped by the writer of each format.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from tracegrade_scoring.compare.model import (
    Cohort,
    Compared,
    Comparison,
    Comparisons,
    FailureMode,
    TaskChange,
)
from tracegrade_scoring.compare.paired import Difference, holm
from tracegrade_scoring.compare.rules import SIGNIFICANT, RuleOutcome
from tracegrade_scoring.metrics import FAILURE_MODES
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.catalogue import Metric, Scale, main_metrics, more_metrics
from tracegrade_scoring.rendering.visible import visible

NO_INTERVAL: Final = "no interval"
"""In place of an interval without any width; a caution below the table explains it."""
RELIABILITY, USAGE = "Reliability", "Cost"
_T_SCORE: Final = Metric("t_score", "T-Score", RELIABILITY, "", Scale.NUMBER)
_USAGE_METRICS: Final = (
    Metric("tokens_per_run", "Tokens per run", USAGE, "", Scale.NUMBER, better=-1),
    Metric("cost_usd_per_run", "Cost per run, USD", USAGE, "", Scale.NUMBER, better=-1),
    Metric("steps_per_run", "Steps per run", USAGE, "", Scale.NUMBER, better=-1),
)
LARGEST_SHOWN: Final = 4
"""The k up to which pass@k and pass^k are shown first."""
FIRST_PASSES: Final = ("pass@1", "pass^1")
"""Both are the same."""
TASK_ROWS: Final = 10
"""Tasks shown: those whose success changed most."""
TRADE_OFFS: Final = {
    "tsa_up_pq_down": "picks tools better but plans worse",
    "tsa_down_pq_up": "plans better but picks tools worse",
}


class Row(NamedTuple):
    """One metric on both sides."""

    label: str
    base: str
    candidate: str
    change: str
    interval: str
    """Of the change; '' without one."""
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
    """Tasks and runs in which it can be told; '' if these are all that are compared."""


@dataclass(frozen=True)
class CohortView:
    """Both releases of one agent in one run mode, in words."""

    title: str
    base: str
    candidate: str
    level: str
    """Of every interval, such as 95%."""
    scores_title: str
    """What `rows` are about."""
    answer: str
    """Is the candidate better? One sentence."""
    findings: tuple[str, ...]
    rows: tuple[Row, ...]
    more_rows: tuple[Row, ...]
    modes: tuple[ModeDifference, ...]
    categories: tuple[Row, ...]
    tasks: tuple[tuple[str, ...], ...]
    """Task, success before and after, steps before and after, a remark."""
    mocked: tuple[tuple[str, ...], ...]
    cautions: tuple[str, ...]


def cohort_view(comparison: Comparison, of: Comparisons) -> CohortView:
    """Return one cohort of a comparison in words."""
    composite = [_T_SCORE] if "t_score" in comparison.metrics else []
    known = main_metrics(comparison.metrics)
    passes = _passes(comparison)
    first = [metric for metric in passes if _pass_order(metric.name)[0] <= LARGEST_SHOWN]
    main = [*composite, *known, *first, *_used(comparison)]
    # Failure modes have a table of their own.
    elsewhere = {*(metric.name for metric in (*main, *passes)), *FIRST_PASSES, *FAILURE_MODES}
    others = more_metrics([name for name in comparison.metrics if name not in elsewhere])
    more = [*passes[len(first) :], *others]
    old, new = words.name(of.base), words.name(of.candidate)
    return CohortView(
        title=_title(comparison.cohort),
        base=old,
        candidate=new,
        level=words.level(of.level),
        scores_title=_scores_title(comparison.cohort),
        answer=_answer(comparison, main, old, new) + _confounded(comparison),
        findings=tuple(_findings(comparison, new)),
        rows=tuple(_score_rows(comparison, main)),
        more_rows=tuple(_score_rows(comparison, more)),
        modes=tuple(_mode_row(mode, comparison.cohort) for mode in comparison.failure_modes),
        categories=tuple(_category_rows(comparison)),
        tasks=tuple(map(_task_row, _most_changed(comparison.tasks))),
        mocked=tuple(_mocked_rows(comparison)),
        cautions=tuple(_cautions(comparison, old, new, of.level)),
    )


def _title(cohort: Cohort) -> str:
    return words.cohort(cohort.agent_name, cohort.run_mode)


def _scores_title(cohort: Cohort) -> str:
    """Return what rows are about that do not say it themselves."""
    if cohort.is_paired:
        return f"Scores on the {words.count(cohort.tasks, 'task')} that both ran"
    runs = f"{cohort.base_runs_of_no_task:,} and {cohort.candidate_runs_of_no_task:,} runs"
    return f"Scores of {runs} without a task, not paired"


def _score_rows(comparison: Comparison, metrics: Iterable[Metric]) -> Iterator[Row]:
    for metric in metrics:
        yield _row(metric, comparison.metrics[metric.name], comparison.cohort)


def _passes(comparison: Comparison) -> list[Metric]:
    """Return pass@k and pass^k by k; for 1 both are one, and left out if success says the same."""
    names = [n for n in comparison.metrics if _is_pass(n) and n not in FIRST_PASSES]
    once, success = (comparison.metrics.get(name) for name in ("pass@1", "success"))
    if once and success and _rounded(once) != _rounded(success):
        names.append("pass@1")
    return [Metric(name, name, RELIABILITY, "") for name in sorted(names, key=_pass_order)]


def _rounded(compared: Compared) -> tuple[float | None, ...]:
    return tuple(value and round(value, 9) for value in compared.found[:2])


def _is_pass(metric: str) -> bool:
    return metric[:5] in {"pass@", "pass^"}


def _pass_order(name: str) -> tuple[int, str]:
    return int(name[5:]), name


def _used(comparison: Comparison) -> list[Metric]:
    return [metric for metric in _USAGE_METRICS if metric.name in comparison.metrics]


def _row(metric: Metric, compared: Compared, cohort: Cohort | None = None) -> Row:
    """Return one metric; its basis is left out where it is all tasks and runs of the cohort."""
    found = compared.found
    return Row(
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
    if compared.found.low is None:
        return "too few runs" if "unpaired" in compared.flags else "too few tasks"
    if not compared.direction:
        return "may be chance"
    return {1: "better", -1: "worse", 0: "changed"}[compared.direction * metric.better]


def _basis(compared: Compared, cohort: Cohort | None) -> str:
    """Return the tasks and runs that the values are over."""
    scored = (compared.base_scored, compared.candidate_scored)
    tried = (compared.base_runs, compared.candidate_runs)
    noun = "attempts" if compared.metric == "success" or _is_pass(compared.metric) else "runs"
    if "unpaired" in compared.flags:
        shares = (f"{part:,} of {whole:,}" for part, whole in zip(scored, tried, strict=True))
        return f"{' and '.join(shares)} runs scored"
    tasks = words.count(compared.found.tasks, "task")
    if cohort and compared.found.tasks < cohort.tasks:
        tasks = f"{compared.found.tasks:,} of {words.count(cohort.tasks, 'task')}"
    elif cohort and scored == tried and noun == "runs":
        return ""
    if not any(tried):
        return tasks
    runs = f"{scored[0]:,} and {scored[1]:,} {noun}"
    if scored != tried:
        runs = f"{scored[0]:,} of {tried[0]:,} and {scored[1]:,} of {tried[1]:,} {noun} scored"
    return f"{tasks}, {runs}"


def _answer(comparison: Comparison, metrics: Sequence[Metric], old: str, new: str) -> str:
    """Return whether the candidate is better, by what changed beyond chance."""
    if not comparison.metrics:
        return f"{old} and {new} cannot be compared: they have no task in common."
    found = {metric.label: comparison.metrics[metric.name] for metric in metrics if metric.better}
    signs = {metric.label: metric.better for metric in metrics}
    sure = _surely_changed(found)
    better, worse = (
        ", ".join(label for label in sure if found[label].direction * signs[label] == way)
        for way in (1, -1)
    )
    few = any("insufficient_sample" in compared.flags for compared in found.values())
    hedge = "As far as small samples can show, " if few else ""
    if better and worse:
        return (
            f"{hedge}{new} is better than {old} in some ways and worse in others. "
            f"Better: {better}. Worse: {worse}."
        )
    if better or worse:
        return f"{hedge}{new} is {'better' if better else 'worse'} than {old}: {better or worse}."
    if not any(compared.found.p_value for compared in found.values()):
        what = "tasks" if comparison.cohort.is_paired else "runs"
        return f"Too few {what} to say whether {new} is better than {old}."
    count = words.count(len(found), "metric")
    return f"Nothing changed between {old} and {new} beyond chance, over {count}."


def _confounded(comparison: Comparison) -> str:
    """Return a warning about other causes where nothing could be paired."""
    if comparison.cohort.is_paired or not comparison.metrics:
        return ""
    return (
        " No task is known that both ran, so runs are not paired: different work may be the cause."
    )


def _surely_changed(found: Mapping[str, Compared]) -> list[str]:
    """Return what changed by more than chance explains, corrected for their number (Holm)."""
    tested = {label: p for label, compared in found.items() if (p := compared.found.p_value)}
    adjusted = dict(zip(tested, holm(list(tested.values())), strict=True))
    return [label for label, p in adjusted.items() if p < SIGNIFICANT and found[label].direction]


def _findings(comparison: Comparison, new: str) -> Iterator[str]:
    """Yield what broke or changed direction, one sentence each."""
    if comparison.ranked_oppositely:
        yield (
            "Success and sub-goal completion rank the two releases in opposite order: look at the "
            "sub-goals that runs complete, not only at how they end."
        )
    if comparison.trade_off:
        sure = all(comparison.metrics[axis].direction for axis in ("tsa", "pq"))
        chance = "" if sure else "; either may be chance"
        yield f"Trade-off: {new} {TRADE_OFFS[comparison.trade_off]}{chance}."
    for mode in comparison.failure_modes:
        if mode.is_new or (mode.rose and _is_sure(mode)):
            yield _mode_sentence(mode)
    fell = [task for task in comparison.tasks if (task.success_change or 0) < 0]
    rose = sum((task.success_change or 0) > 0 for task in comparison.tasks)
    if fell:
        worst = min(fell, key=lambda task: task.success_change or 0)
        yield (
            f"{words.count(len(fell), 'task')} succeeded less often and {rose:,} more often; the "
            f"worst is task '{words.name(worst.task_id)}': {_share(worst.base_success)} to "
            f"{_share(worst.candidate_success)}."
        )


def _mode_sentence(mode: FailureMode) -> str:
    found = mode.compared.found
    what = "New failure mode" if mode.is_new else "Failure mode that rose"
    example = f", first in {words.run(mode.trajectory_id)}" if mode.trajectory_id else ""
    share = f"{_share(found.candidate)} of runs (of {mode.compared.candidate_scored:,})"
    return f"{what}: {_mode_name(mode.mode)}, in {share}{example}."


def _mode_name(mode: str) -> str:
    return mode.replace("_", " ")


def _is_sure(mode: FailureMode) -> bool:
    return mode.p_holm is not None and mode.p_holm < SIGNIFICANT


def _mode_row(mode: FailureMode, cohort: Cohort) -> ModeDifference:
    found = mode.compared.found
    return ModeDifference(
        _mode_name(mode.mode),
        _share(found.base),
        _share(found.candidate),
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
    if mode.p_holm is None:
        return f"{way}, too few tasks to rule out chance"
    return f"{way}, p = {mode.p_holm:.3g}" + ("" if _is_sure(mode) else ": may be chance")


def _share(value: float | None) -> str:
    return words.amount(value, Scale.SHARE)


def _category_rows(comparison: Comparison) -> Iterator[Row]:
    if {change.category for change in comparison.categories} == {None}:
        return
    for change in comparison.categories:
        found = change.found
        label = words.name(change.category, "(no category)")
        yield _row(Metric("success", label, "", ""), Compared("success", found, 0, 0, 0, 0))


def _most_changed(tasks: Iterable[TaskChange]) -> list[TaskChange]:
    """Return the tasks whose success changed most, those that fell first."""
    changed = [task for task in tasks if task.success_change or task.ranked_oppositely]
    return sorted(changed, key=lambda task: (task.success_change or 0.0, task.task_id))[:TASK_ROWS]


def _task_row(task: TaskChange) -> tuple[str, ...]:
    return (
        words.name(task.task_id),
        _share(task.base_success),
        _share(task.candidate_success),
        words.number(task.base_steps),
        words.number(task.candidate_steps),
        "sub-goal completion says the opposite" if task.ranked_oppositely else "",
    )


def _mocked_rows(comparison: Comparison) -> Iterator[tuple[str, ...]]:
    for tool in comparison.mocked_tools:
        differ = tool.other_shape + tool.other_values
        share = differ / tool.matched if tool.matched else None
        counts = (tool.matched, tool.other_shape, tool.other_values, tool.misses)
        yield (
            words.name(tool.tool_name),
            _share(share),
            *(f"{count:,}" for count in counts),
            f"{tool.content_missing:,}",
        )


def _cautions(comparison: Comparison, old: str, new: str, level: float) -> Iterator[str]:
    """Yield what to bear in mind, small samples first."""
    cohort, metrics = comparison.cohort, comparison.metrics
    few = [name for name, found in metrics.items() if "insufficient_sample" in found.flags]
    if few:
        least = "10 tasks" if cohort.is_paired else "20 runs"
        yield (
            f"Small samples ({len(few):,} of {words.count(len(metrics), 'metric')} are based on "
            f"fewer than {least} or 50 decision points): treat them as hints, not measurements."
        )
    yield from _left_out(cohort, old, new)
    for runs, what in (
        (comparison.unplanned, "Planning quality is 0 by definition of runs that show no plan"),
        (comparison.disputed, "Verdicts disagree on the success of runs, and all must say yes"),
    ):
        if any(runs):
            yield f"{what}: {runs[0]:,} ({old}) and {runs[1]:,} ({new})."
    if any(comparison.missing_attempts):
        missing, more = comparison.missing_attempts
        yield (
            "Attempts that are missing or of unknown success count as failures in success, pass@k "
            f"and pass^k: {missing:,} ({old}) and {more:,} ({new})."
        )
    unmatched = [metric.label for metric in main_metrics(comparison.unmatched)]
    if unmatched:
        yield f"Measured in both releases, but on no common task: {', '.join(unmatched)}."
    yield from _about_t_score(comparison)
    if any(found.no_spread for found in metrics.values()):
        units = "tasks" if cohort.is_paired else "runs"
        yield (
            f"Where there is no interval, all {units} changed by the same amount, so the "
            "uncertainty cannot be estimated."
        )
    surely = sum(found.found.low != found.found.high for found in metrics.values())
    if surely * (1 - level) >= 1:
        yield (
            f"{surely:,} intervals of {words.level(level)}: about {round(surely * (1 - level)):,} "
            "would exclude zero even if nothing had changed."
        )


def _about_t_score(comparison: Comparison) -> Iterator[str]:
    """Yield why there is no T-Score, or what it is based on."""
    missing = [words.AXES[axis].lower() for axis in comparison.missing_axes]
    if missing:
        yield f"No T-Score: not measured in both releases: {', '.join(missing)}."
    elif comparison.pq_defaulted:
        yield "Not applicable to any run, planning quality counts as 10 in the T-Score."


def _left_out(cohort: Cohort, old: str, new: str) -> Iterator[str]:
    """Yield what was left out of all numbers."""
    if cohort.base_only_tasks or cohort.candidate_only_tasks:
        yield (
            f"Left out: {words.count(cohort.base_only_tasks, 'task')} that only {old} ran and "
            f"{words.count(cohort.candidate_only_tasks, 'task')} that only {new} ran."
        )
    if cohort.base_superseded or cohort.candidate_superseded:
        yield (
            f"Left out: runs superseded by a later run of the same trial, "
            f"{cohort.base_superseded:,} ({old}) and {cohort.candidate_superseded:,} ({new})."
        )
    untold = cohort.base_runs_of_no_task, cohort.candidate_runs_of_no_task
    if not cohort.is_paired and all(untold):
        yield "To pair the runs, describe their tasks in a file, with `match`."
    elif any(untold):
        yield (
            f"Left out: runs without a known task, {cohort.base_runs_of_no_task:,} of "
            f"{cohort.base_runs:,} ({old}) and {cohort.candidate_runs_of_no_task:,} of "
            f"{cohort.candidate_runs:,} ({new}); describe their tasks in a file, with `match`."
        )


def metric_headings(view: CohortView) -> tuple[str, ...]:
    """Return the headings of `rows`."""
    return ("metric", view.base, view.candidate, "change", f"{view.level} interval", "", "from")


def mode_headings(view: CohortView) -> tuple[str, ...]:
    """Return the headings of `modes`."""
    return ("failure mode", *_sides(view), "e.g. run", "from")


def category_headings(view: CohortView) -> tuple[str, ...]:
    """Return the headings of `categories`."""
    return ("category", *_sides(view), "from")


def _sides(view: CohortView) -> tuple[str, ...]:
    return ("before", "after", "change", f"{view.level} interval", "")


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
