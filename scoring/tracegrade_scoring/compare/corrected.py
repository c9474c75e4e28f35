"""What people would say of two releases, as often as a judge says yes of them.

Source: docs/metrics.md, sections 8.7 and 10.3. Both rates rest on the same labels, so the interval
of their difference takes what the judge gets wrong from one draw for both sides.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tracegrade_lake import Lake
from tracegrade_scoring.calibrations import CORRECTED_RATES, VERDICT_CALIBRATIONS, source_rows
from tracegrade_scoring.compare.model import CorrectedDifference, JudgedSubject
from tracegrade_scoring.rendering.rows import Row
from tracegrade_scoring.statistics.intervals import LEVEL, middle
from tracegrade_scoring.statistics.posteriors import draws

Rates = Mapping[tuple[str, str, str | None, str | None], Row]
"""Rows of `corrected_rates` by source, subject, agent and release."""


class MeasuredJudges(NamedTuple):
    """What a lake knows about how far to trust judges."""

    calibrations: Mapping[str, Row]
    """Those that are calibrated, by source."""
    rates: Rates


def measured_judges(lake: Lake) -> MeasuredJudges:
    """Return what the lake knows of judges that are calibrated."""
    calibrations = source_rows(lake, VERDICT_CALIBRATIONS)
    return MeasuredJudges(
        {row["source"]: row for row in calibrations if row["calibrated"]},
        {
            (row["source"], row["subject"], row["agent_name"], row["release"]): row
            for row in source_rows(lake, CORRECTED_RATES)
            if row["calibrated"]
        },
    )


def judged_subjects(
    rows: Sequence[Row],
    agent_name: str | None,
    releases: tuple[str, str],
    measured: MeasuredJudges,
    level: float = LEVEL,
) -> Iterator[JudgedSubject]:
    """Yield each subject and judge that decides on compared scores of either release.

    Args:
        rows: Those of `judged_scores` of one agent and run mode.
        agent_name: The agent.
        releases: Base and candidate.
        measured: What is known of judges.
        level: Of the interval, between 0 and 1.
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


def _why_not(labels: Row | None, base: Row | None, candidate: Row | None) -> str:
    if labels is None:
        return "uncalibrated"
    if base is None and candidate is None:
        return "no_rates"
    return "no_base_rate" if base is None else "no_candidate_rate"


def corrected_difference(
    base: Row, candidate: Row, labels: Row, level: float = LEVEL
) -> CorrectedDifference:
    """Return how far apart two corrected rates of one judge are.

    The rates are those of the rows, and the difference is theirs; the interval is of
    (P(judge yes) of the candidate - of the base) * (P(people yes | judge yes) - P(.. | judge no)).

    Args:
        base: Row of `corrected_rates`.
        candidate: Another of the same source.
        labels: Row of `verdict_calibrations` of the source.
        level: Of the interval, between 0 and 1.
    """
    before, after, right, missed = draws(
        *((row["judged_yes"], row["judged"] - row["judged_yes"]) for row in (base, candidate)),
        (labels["both_yes"], labels["only_source_yes"]),
        (labels["only_people_yes"], labels["both_no"]),
    )
    low, high = middle(np.sort((after - before) * (right - missed)).tolist(), level)
    old, new = base["corrected_rate"], candidate["corrected_rate"]
    return CorrectedDifference(old, new, new - old, low, high, base["judged"], candidate["judged"])
