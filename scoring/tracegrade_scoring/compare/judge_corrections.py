"""Finds the judges behind compared scores, and corrects success for a judge's errors.

Source: docs/metrics.md, section 10.3.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from tracegrade_lake import Lake
from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_scoring.calibrations import CORRECTED_RATES, VERDICT_CALIBRATIONS, source_rows
from tracegrade_scoring.compare.attempts import SIDES
from tracegrade_scoring.compare.corrected_rates import (
    JudgedSide,
    JudgedTask,
    corrected_difference,
    corrected_success,
)
from tracegrade_scoring.compare.model import (
    Comparison,
    CorrectedDifference,
    JudgedSubject,
)
from tracegrade_scoring.compare.paired import Difference
from tracegrade_scoring.statistics.intervals import LEVEL

SUCCESS: Final = "success"

Rates = Mapping[tuple[str, str, str | None, str | None], ResultRow]
"""Rows of `corrected_rates` by source, subject, agent and release."""


class MeasuredJudges(NamedTuple):
    """Measurements in a lake of how far to trust judges."""

    calibrations: Mapping[str, ResultRow]
    """Calibrations of calibrated judges, by source."""
    rates: Rates


NO_CALIBRATIONS: Final = MeasuredJudges({}, {})
"""No judge was measured."""


def measured_judges(lake: Lake) -> MeasuredJudges:
    """Return the lake's measurements of calibrated judges."""
    calibrations = source_rows(lake, VERDICT_CALIBRATIONS)
    return MeasuredJudges(
        {row["source"]: row for row in calibrations if row["calibrated"]},
        {
            (row["source"], row["subject"], row["agent_name"], row["release"]): row
            for row in source_rows(lake, CORRECTED_RATES)
            if row["calibrated"]
        },
    )


class JudgedAttempts(NamedTuple):
    """The judges that decide on scores of one agent in one run mode, and their attempts."""

    sources: Sequence[ResultRow]
    """Rows of `judged_scores`."""
    decided: Sequence[ResultRow]
    """Rows of `judged_attempts`."""
    counted: Sequence[ResultRow]
    """Rows of `attempt_pairs`: attempts that count."""


def with_judges(
    comparison: Comparison,
    releases: tuple[str, str],
    attempts: JudgedAttempts,
    measured: MeasuredJudges,
    level: float = LEVEL,
) -> Comparison:
    """Return a comparison with the judges' subjects, and with success corrected if possible.

    Args:
        comparison: One cohort, by uncorrected verdicts.
        releases: Base and candidate.
        attempts: Attempts that judges decide.
        measured: Measurements of judges.
        level: Level of every interval, between 0 and 1.
    """
    agent_name = comparison.cohort.agent_name
    found = [*judged_subjects(attempts.sources, agent_name, releases, measured, level)]
    on_success = [each for each in found if each.subject == SUCCESS]
    others = [each for each in found if each.subject != SUCCESS]
    rows = _compared_rows(attempts)
    if why := _why_success_is_not(comparison, on_success, rows):
        as_it_is = (
            each._replace(uncorrected=each.uncorrected or why, corrected=None)
            for each in on_success
        )
        return replace(comparison, judged=(*as_it_is, *others))
    if not on_success:
        return replace(comparison, judged=tuple(others))
    tasks = [JudgedTask(*(_side(*row, side) for side in SIDES)) for row in rows]
    success = corrected_success(tasks, measured.calibrations[on_success[0].source], level)
    as_judged = comparison.metrics[SUCCESS]
    corrected = replace(as_judged, found=success, as_judged=as_judged.found)
    return replace(
        comparison,
        metrics=comparison.metrics | {SUCCESS: corrected},
        judged=(on_success[0]._replace(corrected=_with_verdict_counts(success, tasks)), *others),
    )


def judged_subjects(
    rows: Iterable[ResultRow],
    agent_name: str | None,
    releases: tuple[str, str],
    measured: MeasuredJudges,
    level: float = LEVEL,
) -> Iterator[JudgedSubject]:
    """Yield each subject and judge that decides on compared scores of either release.

    Args:
        rows: Rows of `judged_scores` of one agent and run mode.
        agent_name: The agent.
        releases: Base and candidate.
        measured: Measurements of judges.
        level: Level of the interval, between 0 and 1.
    """
    decide = {
        (row["subject"], source)
        for row in rows
        if row["release"] in releases
        for source in row["sources"]
    }
    for subject, source in sorted(decide, reverse=True):  # success before sub_goal
        labels = measured.calibrations.get(source)
        base, candidate = (
            measured.rates.get((source, subject, agent_name, release)) for release in releases
        )
        if labels and base and candidate:
            found = corrected_difference(base, candidate, labels, level)
            yield JudgedSubject(subject, source, None, found)
        else:
            yield JudgedSubject(subject, source, _why_not(labels, base, candidate), None)


def _why_not(labels: ResultRow | None, base: ResultRow | None, candidate: ResultRow | None) -> str:
    if labels is None:
        return "uncalibrated"
    if base is None and candidate is None:
        return "no_rates"
    return "no_base_rate" if base is None else "no_candidate_rate"


TaskRows = tuple[ResultRow, ResultRow]
"""Rows of one task in `attempt_pairs` and `judged_attempts`; none in the latter is empty."""


def _compared_rows(attempts: JudgedAttempts) -> list[TaskRows]:
    """Return those of tasks with attempts of known success on both sides, in their order."""
    decided = {row["task_id"]: row for row in attempts.decided}
    return [
        (row, decided.get(row["task_id"], {}))
        for row in attempts.counted
        if row["base_valid"] and row["candidate_valid"]
    ]


def _why_success_is_not(
    comparison: Comparison, judges: Sequence[JudgedSubject], rows: Sequence[TaskRows]
) -> str | None:
    """Return the code for why success is not corrected; None if it is, or no judge decides."""
    if len(judges) > 1:
        return "several_judges"
    if not judges or judges[0].uncorrected:
        return judges[0].uncorrected if judges else None
    if not comparison.cohort.is_paired or not rows:
        return "unpaired"
    return "several_runs" if any(row.get("of_several_runs") for _, row in rows) else None


def _side(attempts: ResultRow, decided: ResultRow, side: str) -> JudgedSide:
    return JudgedSide(
        attempts[f"{side}_valid"],
        attempts[f"{side}_correct"],
        decided.get(f"{side}_yes", 0),
        decided.get(f"{side}_no", 0),
    )


def _with_verdict_counts(success: Difference, tasks: Sequence[JudgedTask]) -> CorrectedDifference:
    """Return a judge's correction in a comparison, with counts of its verdicts on the attempts."""
    base, candidate = (
        sum(each.judged_yes + each.judged_no for each in side) for side in zip(*tasks, strict=True)
    )
    return CorrectedDifference(success, base, candidate)
