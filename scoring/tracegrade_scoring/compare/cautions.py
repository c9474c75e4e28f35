"""Cautions about a comparison: small samples, excluded runs, missing data."""

from collections.abc import Iterator

from tracegrade_scoring.compare.conclusion import SUBJECTS
from tracegrade_scoring.compare.model import Cohort, Comparison
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.catalog import main_metrics
from tracegrade_scoring.rendering.planning_share import planning_remarks
from tracegrade_scoring.rendering.served_share import served_remarks


def cautions(comparison: Comparison, old: str, new: str, level: float) -> Iterator[str]:
    """Yield what to bear in mind, small samples first.

    Args:
        comparison: One cohort.
        old: Name of the base, as shown.
        new: Name of the candidate, as shown.
        level: Of every interval, between 0 and 1.
    """
    cohort, metrics = comparison.cohort, comparison.metrics
    few = [name for name, found in metrics.items() if "insufficient_sample" in found.flags]
    if few:
        least = "10 tasks" if cohort.is_paired else "20 runs"
        yield (
            f"Small samples ({len(few):,} of {words.count(len(metrics), 'metric')} are based on "
            f"fewer than {least} or 50 decision points): treat them as hints, not measurements."
        )
    yield from _uncorrected(comparison, old, new)
    yield from _left_out(cohort, old, new)
    for runs, what in (
        (comparison.unplanned, "Planning quality is 0 by definition of runs that show no plan"),
        (comparison.disputed, "Verdicts disagree on the success of runs, and all must say yes"),
    ):
        if any(runs):
            yield f"{what}: {runs[0]:,} ({old}) and {runs[1]:,} ({new})."
    yield from _about_plans(comparison, old, new)
    yield from _about_calls(comparison, old, new)
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
            f"A metric has no interval if all {units} changed by the same amount, so the "
            "uncertainty cannot be estimated."
        )
    surely = sum(found.found.low != found.found.high for found in metrics.values())
    if surely * (1 - level) >= 1:
        yield (
            f"{surely:,} intervals of {words.level(level)}: about {round(surely * (1 - level)):,} "
            "would exclude zero even if nothing had changed."
        )


def _uncorrected(comparison: Comparison, old: str, new: str) -> Iterator[str]:
    """Yield the judges whose verdicts are compared uncorrected, and why."""
    if "success" in comparison.metrics and comparison.metrics["success"].is_corrected:
        yield (
            "Only success over all tasks is corrected: pass@k, pass^k, categories and tasks by "
            "themselves are as judged."
        )
    why = {
        "uncalibrated": "is not calibrated",
        "no_rates": "has corrected rates of neither release",
        "no_base_rate": f"has a corrected rate of {new}, but none of {old}",
        "no_candidate_rate": f"has a corrected rate of {old}, but none of {new}",
        "several_judges": "is not the only one that decides on it",
        "several_runs": "judges single runs, and attempts have several",
        "unpaired": "judges runs without a task in common",
    }
    for judged in comparison.judged:
        if judged.uncorrected:
            yield (
                f"{SUBJECTS[judged.subject]} as judged, not corrected: judge "
                f"'{words.name(judged.source)}' {why[judged.uncorrected]}."
            )


def _about_plans(comparison: Comparison, old: str, new: str) -> Iterator[str]:
    """Yield how many runs have no planning quality and why, and whose verdicts others rest on."""
    for name, found in zip((old, new), comparison.planning, strict=True):
        yield from (f"{name}: {remark}." for remark in planning_remarks(found))


def _about_calls(comparison: Comparison, old: str, new: str) -> Iterator[str]:
    """Yield how many calls may serve several sub-goals, and who decides which they serve."""
    for name, found in zip((old, new), comparison.calls, strict=True):
        yield from (f"{name}: {remark}." for remark in served_remarks(found))


def _about_t_score(comparison: Comparison) -> Iterator[str]:
    """Yield why there is no T-Score, or what it is based on."""
    missing = [words.AXES[axis].lower() for axis in comparison.missing_axes]
    if missing:
        yield f"No T-Score: not measured in both releases: {', '.join(missing)}."
    elif comparison.pq_defaulted:
        yield "Not applicable to any run, planning quality counts as 10 in the T-Score."


def _left_out(cohort: Cohort, old: str, new: str) -> Iterator[str]:
    """Yield the runs that are left out of all numbers."""
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
