"""How far apart two releases are on the same tasks, and how sure that is.

Source: docs/metrics.md, sections 0.6 and 10.1: a paired bootstrap over tasks with the same
resamples on both sides; McNemar's exact test [McNemar 1947] where each task has one attempt in
both; Holm [Holm 1979] over several.
"""

from collections.abc import Sequence
from math import comb, fsum
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tracegrade_scoring.statistics.intervals import LEVEL, MIN_TASKS, middle, resampled_sums
from tracegrade_scoring.statistics.t_score import (
    AxisSums,
    pooled_axes,
    resampled_t_scores,
    t_score,
)

Numbers: TypeAlias = npt.NDArray[np.float64]


class TaskPair(NamedTuple):
    """One task on both sides: what a rate is made of."""

    base: tuple[float, float]
    """Numerator and denominator; the denominator is greater than 0."""
    candidate: tuple[float, float]


class Difference(NamedTuple):
    """A rate on both sides, and how far apart they are."""

    base: float | None
    """Σ numerators / Σ denominators over the tasks; None without a task."""
    candidate: float | None
    difference: float | None
    """Candidate less base."""
    tasks: int
    """Tasks with a value on both sides."""
    low: float | None = None
    """Lower end of the interval of the difference; None for fewer than 5 tasks."""
    high: float | None = None
    interval_method: str | None = None
    """paired_bootstrap; corrected_bootstrap or posteriors of what is corrected for what a judge
    gets wrong; None without an interval."""
    p_value: float | None = None
    """Two-sided: how surprising the difference were if the releases were equal."""
    p_method: str | None = None
    """mcnemar | paired_bootstrap | corrected_bootstrap; None without a value."""


def difference(
    pairs: Sequence[TaskPair], *, of_attempts: bool = False, level: float = LEVEL
) -> Difference:
    """Return how far the candidate is from the base.

    Args:
        pairs: One for each task, in the order of task ids.
        of_attempts: Denominators count attempts that each did or did not do something, so that
            McNemar's test applies where all of them are 1.
        level: Of the interval, between 0 and 1.
    """
    if not pairs:
        return Difference(None, None, None, 0)
    base = _rate([pair.base for pair in pairs])
    candidate = _rate([pair.candidate for pair in pairs])
    found = Difference(base, candidate, candidate - base, len(pairs))
    if len(pairs) >= MIN_TASKS:
        found = _with_interval(found, pairs, level)
    if of_attempts and all(_is_single(*side) for pair in pairs for side in pair):
        found = found._replace(p_value=_mcnemar(pairs), p_method="mcnemar")
    return found


def _rate(sides: Sequence[tuple[float, float]]) -> float:
    return fsum(top for top, _ in sides) / fsum(bottom for _, bottom in sides)


def _with_interval(found: Difference, pairs: Sequence[TaskPair], level: float) -> Difference:
    """Return the difference with its percentile interval and p-value over resampled tasks."""
    base, candidate = (
        resampled_sums([side[0] for side in sides]) / resampled_sums([side[1] for side in sides])
        for sides in (
            [pair.base for pair in pairs],
            [pair.candidate for pair in pairs],
        )
    )
    return with_spread(found, candidate - base, level)


def with_spread(found: Difference, drawn: Numbers, level: float) -> Difference:
    """Return the difference with the interval and p-value of its resamples; some are no number."""
    differences: list[float] = np.sort(drawn[~np.isnan(drawn)]).tolist()
    low, high = middle(differences, level)
    return found._replace(
        low=low,
        high=high,
        interval_method="paired_bootstrap",
        p_value=_bootstrap_p(differences),
        p_method="paired_bootstrap",
    )


def t_score_difference(
    tasks: Sequence[Sequence[TaskPair | None]], level: float = LEVEL
) -> Difference:
    """Return how far the T-Scores of two releases are apart, with the default weights.

    Source: docs/metrics.md, section 7.4: each axis is put together over the tasks that have it,
    then the three are combined; so a resample of tasks gives three axes and one T-Score for either
    side.

    Args:
        tasks: For each task in the order of ids its pairs of tool selection (0..1), planning
            quality and rollback-ability (0..10); None where a task lacks an axis. Every axis has a
            task.
        level: Of the interval, between 0 and 1.
    """
    sides = [
        [[AxisSums(*pair[side]) if pair else None for pair in task] for task in tasks]
        for side in (0, 1)
    ]
    base, candidate = (t_score(pooled_axes(side)).value or 0.0 for side in sides)
    found = Difference(base, candidate, candidate - base, len(tasks))
    if len(tasks) < MIN_TASKS:
        return found
    drawn = [resampled_t_scores(side) for side in sides]
    return with_spread(found, drawn[1] - drawn[0], level)


def _bootstrap_p(differences: Sequence[float]) -> float:
    """Return twice the share of resamples on the rarer side of 0, never 0 itself."""
    below = sum(value <= 0 for value in differences)
    above = sum(value >= 0 for value in differences)
    return min(1.0, 2 * (min(below, above) + 1) / (len(differences) + 1))


def _is_single(numerator: float, denominator: float) -> bool:
    return denominator == 1 and numerator in (0, 1)


def _mcnemar(pairs: Sequence[TaskPair]) -> float:
    """Return McNemar's exact test of as many tasks changing one way as the other."""
    fell = sum(pair.base[0] > pair.candidate[0] for pair in pairs)
    rose = sum(pair.base[0] < pair.candidate[0] for pair in pairs)
    changed = fell + rose
    tail = sum(comb(changed, count) for count in range(min(fell, rose) + 1))
    return min(1.0, 2 * tail / 2.0**changed)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values that hold for all of several tests together, in the order given.

    Source: [Holm 1979], step-down; adjusted values never fall along the order of the given ones.
    """
    adjusted, least = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=lambda i: (p_values[i], i))):
        least = max(least, min(1.0, p_values[place] * (len(p_values) - rank)))
        adjusted[place] = least
    return adjusted
