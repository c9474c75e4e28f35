"""The answer of a comparison: is the candidate better, in what, and what broke?

A change counts if chance does not explain it, over all metrics tested together (Holm).
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from tracegrade_scoring.compare.differences import share
from tracegrade_scoring.compare.model import (
    Comparison,
    CorrectedDifference,
    FailureMode,
    JudgedSubject,
    SkippedSubGoal,
    TaskChange,
)
from tracegrade_scoring.compare.paired import Difference
from tracegrade_scoring.metrics import Metric, Scale
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.evidence import RUNS_SHOWN, RunEvidence
from tracegrade_scoring.rendering.mixed_definitions import WAY_OUT, mixture

TRADE_OFFS: Final = {
    "tsa_up_pq_down": "picks tools better but plans worse",
    "tsa_down_pq_up": "plans better but picks tools worse",
}
SUBJECTS: Final = {
    "success": "Success",
    "sub_goal": "Sub-goals",
    "served": "Sub-goals of calls",
    "planning": "Plans",
}
"""The subjects that judges decide on."""
GOALS_SHOWN: Final = 5
"""Critical sub-goals named, those that are skipped more often by most; the others are counted."""


class SureChanges(NamedTuple):
    """The metrics that changed by more than chance explains."""

    better: tuple[Metric, ...]
    worse: tuple[Metric, ...]


def sure_changes(comparison: Comparison, metrics: Sequence[Metric]) -> SureChanges:
    """Return what surely became better and worse, of these metrics together."""
    better, worse = (
        tuple(
            metric
            for metric in metrics
            if metric.better and comparison.metrics[metric.name].direction * metric.better == way
        )
        for way in (1, -1)
    )
    return SureChanges(better, worse)


def answer(comparison: Comparison, metrics: Sequence[Metric], old: str, new: str) -> str:
    """Return whether the candidate is better, by what changed beyond chance, in a sentence.

    Args:
        comparison: One cohort.
        metrics: The tested metrics, all of them compared.
        old: Name of the base, as shown.
        new: Name of the candidate, as shown.
    """
    if incomparable := _incomparable(comparison, old, new):
        return incomparable
    found = [comparison.metrics[metric.name] for metric in metrics if metric.better]
    sure = sure_changes(comparison, metrics)
    better = ", ".join(metric.label for metric in sure.better)
    worse = ", ".join([*(metric.label for metric in sure.worse), *_broken(comparison)])
    few = any("insufficient_sample" in compared.flags for compared in found)
    hedge = "As far as small samples can show, " if few else ""
    if better and worse:
        sentence = (
            f"{hedge}{new} is better than {old} in some ways and worse in others. "
            f"Better: {better}. Worse: {worse}."
        )
    elif better or worse:
        sentence = (
            f"{hedge}{new} is {'better' if better else 'worse'} than {old}: {better or worse}."
        )
    elif not any(compared.found.p_value for compared in found):
        what = "tasks" if comparison.cohort.is_paired else "runs"
        sentence = f"Too few {what} to say whether {new} is better than {old}."
    else:
        count = words.count(len(found), "metric")
        sentence = f"Nothing changed between {old} and {new} beyond chance, over {count}."
    remarks = (_corrected(comparison), *_differing(comparison), _unpaired(comparison))
    return " ".join(filter(None, (sentence, *remarks)))


def caveats(comparison: Comparison, old: str, new: str) -> Iterator[str]:
    """Yield what a page with the decision adds to it: what limits the comparison as a whole."""
    remarks = (_corrected(comparison), _unpaired(comparison))
    incomparable = _incomparable(comparison, old, new)
    yield from filter(None, (incomparable,) if incomparable else remarks)


def _incomparable(comparison: Comparison, old: str, new: str) -> str:
    """Return why two releases cannot be compared; '' if they can."""
    if not comparison.metrics:
        return f"{old} and {new} cannot be compared: they have no task in common."
    if comparison.mixed:
        return (
            f"{old} and {new} cannot be compared: their runs were scored by several definitions "
            f"({mixture(comparison.mixed)}); {WAY_OUT}."
        )
    return ""


def _corrected(comparison: Comparison) -> str:
    """Return which judge success is corrected for; '' where it is as judged."""
    if "success" not in comparison.metrics or not comparison.metrics["success"].is_corrected:
        return ""
    (judge,) = (each for each in comparison.judged if each.subject == "success")
    return f"Success is corrected for what judge '{words.name(judge.source)}' gets wrong."


def _differing(comparison: Comparison) -> Iterator[str]:
    """Yield a warning about each dimension that differs, too."""
    for each in comparison.differing:
        shares = f"{share(each.base_share)} / {share(each.candidate_share)}"
        yield f"{each.dimension} differs too: '{words.name(each.name)}' {shares} of the runs."


def _unpaired(comparison: Comparison) -> str:
    """Return a warning about runs without pairs; '' if they have pairs."""
    if comparison.cohort.is_paired:
        return ""
    return (
        "No task is known that both ran, so runs are not paired: different work may be the cause."
    )


def broke(comparison: Comparison) -> Iterator[RunEvidence]:
    """Yield what rose or fell beyond chance: failure modes, tasks, skipped critical sub-goals."""
    for mode in comparison.failure_modes:
        if mode.rose and mode.is_sure:
            yield _mode_evidence(mode)
    for task in comparison.tasks:
        if task.fell_surely:
            yield _task_evidence(task)
    skipped = [goal for goal in comparison.skipped_sub_goals if goal.is_sure]
    yield from map(_goal_evidence, skipped[:GOALS_SHOWN])
    if (more := len(skipped) - GOALS_SHOWN) > 0:
        yield RunEvidence(f"{words.count(more, 'more critical sub-goal')} skipped more often")


def _broken(comparison: Comparison) -> Iterator[str]:
    """Yield what broke in a few words each."""
    for mode in comparison.failure_modes:
        if mode.rose and mode.is_sure:
            yield f"failure mode {words.mode(mode.mode)}"
    if fell := sum(task.fell_surely for task in comparison.tasks):
        yield words.count(fell, "task")
    if skipped := sum(goal.is_sure for goal in comparison.skipped_sub_goals):
        yield words.count(skipped, "critical sub-goal")


def _task_evidence(task: TaskChange) -> RunEvidence:
    return RunEvidence(
        f"Task '{words.name(task.task_id)}' succeeded in {share(task.candidate_success)} of "
        f"{words.count(task.candidate_attempts, 'attempt')}, {share(task.base_success)} of "
        f"{task.base_attempts:,} before",
        task.failed_runs[:RUNS_SHOWN],
    )


def _mode_evidence(mode: FailureMode) -> RunEvidence:
    found = mode.compared.found
    what = "New failure mode" if mode.is_new else "Failure mode that rose"
    of = f"{share(found.candidate)} of runs (of {mode.compared.candidate_scored:,})"
    before = "" if mode.is_new else f", {share(found.base)} before"
    return RunEvidence(
        f"{what}: {words.mode(mode.mode)}, in {of}{before}", mode.trajectory_ids[:RUNS_SHOWN]
    )


def _goal_evidence(goal: SkippedSubGoal) -> RunEvidence:
    return RunEvidence(
        f"Critical sub-goal '{words.name(goal.sub_goal)}' of task '{words.name(goal.task_id)}' "
        f"skipped in {goal.candidate_skipped:,} of {words.count(goal.candidate_runs, 'run')}, "
        f"{goal.base_skipped:,} of {goal.base_runs:,} before",
        tuple(goal.trajectory_ids[:RUNS_SHOWN]),
    )


def nothing_broke(comparison: Comparison) -> str:
    """Return what it means that nothing broke: what was looked at, and what could not be."""
    looked_at = {
        "task": any(task.success_change is not None for task in comparison.tasks),
        "failure mode": bool(comparison.failure_modes),
        "critical sub-goal": "critical_path_completion" in comparison.metrics,
    }
    if not any(looked_at.values()):
        return "Not known: neither success, failure modes nor sub-goals were measured in both."
    *others, last = [name for name, was in looked_at.items() if was]
    return f"No {', '.join(others)}{' or ' if others else ''}{last} is worse beyond chance."


def findings(comparison: Comparison, new: str, level: float) -> Iterator[RunEvidence]:
    """Yield what else stands out: judges corrected, scores that contradict, tasks that fell."""
    for judged in comparison.judged:
        if judged.corrected:
            yield _corrected_evidence(comparison, judged, judged.corrected, level)
    if comparison.ranked_oppositely:
        yield RunEvidence(
            "Success and sub-goal completion rank the two releases in opposite order: look at the "
            "sub-goals that runs complete, not only at how they end"
        )
    if comparison.trade_off:
        yield RunEvidence(
            f"Trade-off: {new} {TRADE_OFFS[comparison.trade_off]}{_unsure_axes(comparison)}"
        )
    yield from _fallen_tasks(comparison)


def _unsure_axes(comparison: Comparison) -> str:
    """Return which sides of a trade-off may be chance."""
    unsure = [
        words.AXES[axis].lower()
        for axis in ("tsa", "pq")
        if not comparison.metrics[axis].direction
    ]
    if not unsure:
        return ""
    return "; both may be chance" if len(unsure) == 2 else f"; {unsure[0]} may be chance"


def _corrected_evidence(
    comparison: Comparison, judged: JudgedSubject, corrected: CorrectedDifference, level: float
) -> RunEvidence:
    verdicts = f"{corrected.base_judged:,} and {corrected.candidate_judged:,} verdicts"
    if judged.subject == "success":
        as_judged = comparison.metrics["success"].as_judged
        scope = f"from {verdicts} on the compared attempts; as judged {_change(as_judged)}"
    else:
        scope = f"over all {verdicts} on these releases, in every run mode"
    verdict = {1: "better", -1: "worse", 0: "may be chance"}[corrected.direction]
    found = corrected.found
    ends = "no interval"
    if found.low is not None and found.high is not None:
        ends = (
            f"{words.level(level)} interval {found.low * 100:+.1f} to {found.high * 100:+.1f}; "
            f"{verdict}"
        )
    return RunEvidence(
        f"{SUBJECTS[judged.subject]}, corrected for what judge '{words.name(judged.source)}' gets "
        f"wrong: {_change(found)} ({words.difference(found.difference or 0.0, Scale.SHARE)}, "
        f"{ends}), {scope}"
    )


def _change(found: Difference | None) -> str:
    """Return a share on both sides."""
    return f"{share(found.base)} to {share(found.candidate)}" if found else ""


def _fallen_tasks(comparison: Comparison) -> Iterator[RunEvidence]:
    fell = [task for task in comparison.tasks if (task.success_change or 0) < 0]
    rose = sum((task.success_change or 0) > 0 for task in comparison.tasks)
    if fell:
        worst = min(fell, key=lambda task: task.success_change or 0)
        yield RunEvidence(
            f"{words.count(len(fell), 'task')} succeeded less often and {rose:,} more often; the "
            f"worst is task '{words.name(worst.task_id)}': {share(worst.base_success)} to "
            f"{share(worst.candidate_success)}",
            worst.failed_runs[:RUNS_SHOWN],
        )
