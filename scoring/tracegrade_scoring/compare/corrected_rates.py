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
    """Of known success; at least 1."""
    correct: int
    """Of these, successful."""
    judged_yes: int
    """Of the successful, those on which the judge decides."""
    judged_no: int
    """Of the others, those on which the judge decides."""


class JudgedTask(NamedTuple):
    """Attempts of both releases at one task."""

    base: JudgedSide
    candidate: JudgedSide


def corrected_success(
    tasks: Sequence[JudgedTask], labels: ResultRow, level: float = LEVEL
) -> Difference:
    """Return how far apart two releases are in success, as people would see it.

    Of n attempts on which the judge decides, y with a yes, people would say yes of
    (y - n * P(judge yes | people no)) / (P(judge yes | people yes) - P(judge yes | people no));
    attempts that others decide count as they are. How often a judge is right of what people say
    yes and no to is the same for two releases that differ in how often they do; what its yes is
    worth is not. Either side is kept in [0, 1].

    Source: [Rogan 1978].

    Args:
        tasks: In the order of their ids, at least one; fewer than 5 have no interval.
        labels: Row of `verdict_calibrations` of the judge, which says yes more often where people
            do.
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
