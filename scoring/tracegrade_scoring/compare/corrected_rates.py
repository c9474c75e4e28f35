"""Estimates how people would rate two releases that a judge decides on; pure.

Source: docs/metrics.md, sections 8.7 and 10.3. Both sides rest on the same labels, so the interval
of their difference takes what the judge gets wrong from one draw for both.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_scoring.compare.model import CorrectedDifference
from tracegrade_scoring.compare.paired import Difference, Numbers, bootstrap_p, with_spread
from tracegrade_scoring.statistics.intervals import (
    LEVEL,
    MIN_TASKS,
    RESAMPLES,
    middle,
    resampled_sums,
)
from tracegrade_scoring.statistics.posteriors import draws, posterior_mean

POSTERIORS: Final = "posteriors"
"""Interval over draws of how often a judge says yes, and of what it gets wrong."""
RESAMPLED: Final = "corrected_bootstrap"
"""Interval over resampled tasks, each resample with one draw of what a judge gets wrong."""


def corrected_difference(
    base: ResultRow, candidate: ResultRow, labels: ResultRow, level: float = LEVEL
) -> CorrectedDifference:
    """Return the difference between two corrected rates of one judge.

    The rates, and so their difference, come from the rows. The interval is of (P(judge yes) of the
    candidate - of the base) * (P(people yes | judge yes) - P(.. | judge no)).

    Args:
        base: Row of `corrected_rates`.
        candidate: Another row of the same source.
        labels: Row of `verdict_calibrations` of the source.
        level: Level of the interval, between 0 and 1.
    """
    before, after, right, missed = draws(
        *((row["judged_yes"], row["judged"] - row["judged_yes"]) for row in (base, candidate)),
        *_labeled(labels),
    )
    samples = (after - before) * (right - missed)
    low, high = middle(np.sort(samples).tolist(), level)
    old, new = base["corrected_rate"], candidate["corrected_rate"]
    found = Difference(
        old, new, new - old, 0, low, high, POSTERIORS, bootstrap_p(samples), POSTERIORS
    )
    return CorrectedDifference(found, base["judged"], candidate["judged"])


def _labeled(labels: ResultRow) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return how often people say yes and no where the judge says yes, and where it says no."""
    return (
        (labels["both_yes"], labels["only_source_yes"]),
        (labels["only_people_yes"], labels["both_no"]),
    )


class JudgedSide(NamedTuple):
    """Attempts of one release at one task."""

    valid: int
    """Attempts of known success; at least 1."""
    correct: int
    """Successful attempts among them."""
    judged_yes: int
    """Successful attempts that the judge decides."""
    judged_no: int
    """Other attempts that the judge decides."""


class JudgedTask(NamedTuple):
    """Attempts of both releases at one task."""

    base: JudgedSide
    candidate: JudgedSide


def corrected_success(
    tasks: Sequence[JudgedTask], labels: ResultRow, level: float = LEVEL
) -> Difference:
    """Return the difference of two releases in success, as people would see it.

    If the judge decides n attempts, y of them with a yes, people would say yes to (y - n * P(judge
    yes | people no)) / (P(judge yes | people yes) - P(judge yes | people no)). Attempts that
    others decide count unchanged. The judge's rates of error on attempts that people accept, and
    on those that they reject, are the same in two releases with different success. The share of
    its yes that is right is not the same. Either side is clipped to [0, 1].

    Source: [Rogan 1978].

    Args:
        tasks: In the order of their ids, at least one; fewer than 5 have no interval.
        labels: Row of `verdict_calibrations` of the judge, which says yes more often if people do.
        level: Of the interval, between 0 and 1.
    """
    counts = (
        (labels["both_yes"], labels["only_people_yes"]),
        (labels["only_source_yes"], labels["both_no"]),
    )
    means = [np.array([posterior_mean(*each)]) for each in counts]
    sides = [[task.base for task in tasks], [task.candidate for task in tasks]]
    base, candidate = (float(_rates(_sums(side), means)[0]) for side in sides)
    found = Difference(base, candidate, candidate - base, len(tasks))
    if len(tasks) < MIN_TASKS:
        return found
    samples = [each[:RESAMPLES] for each in draws(*counts)]
    old, new = (_rates(_resampled(side), samples) for side in sides)
    spread = with_spread(found, new - old, level)
    p_value = bootstrap_p(new - old)
    return spread._replace(interval_method=RESAMPLED, p_value=p_value, p_method=RESAMPLED)


def _sums(side: Sequence[JudgedSide]) -> list[Numbers]:
    return [np.array([float(sum(column))]) for column in zip(*side, strict=True)]


def _resampled(side: Sequence[JudgedSide]) -> list[Numbers]:
    return [resampled_sums(column) for column in zip(*side, strict=True)]


def _rates(sums: Sequence[Numbers], judge_yes: Sequence[Numbers]) -> Numbers:
    """Return success by sums of the fields of `JudgedSide`, and how often the judge says yes.

    The latter of what people say yes to, and of what they say no to.
    """
    valid, correct, judged_yes, judged_no = sums
    of_yes, of_no = judge_yes
    people_yes = (judged_yes - (judged_yes + judged_no) * of_no) / (of_yes - of_no)
    return np.clip((correct - judged_yes + people_yes) / valid, 0.0, 1.0)
