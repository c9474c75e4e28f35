"""The difference between two releases on the same tasks, with interval and p-value.

Source: docs/metrics.md, sections 0.6 and 10.1: the interval is a paired bootstrap over tasks with
the same resamples on both sides; the p-value is of sign flips (`sign_flips.py`); Holm [Holm 1979]
over several.
"""

from collections.abc import Sequence
from math import fsum
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tracegrade_scoring.compare.sign_flips import (
    FlippedSums,
    exact_sign_p,
    flipped_sums,
    sign_flip_p,
)
from tracegrade_scoring.statistics.intervals import LEVEL, MIN_TASKS, middle, resampled_sums
from tracegrade_scoring.statistics.t_score import (
    DEFAULT,
    PRESETS,
    AxisSums,
    Weights,
    pooled_axes,
    resampled_t_scores,
    t_score,
    t_scores,
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
    """sign_flips | two_proportions | delta | corrected_bootstrap; None without a value."""
    rose: int = 0
    """Tasks where the candidate's value is higher."""
    fell: int = 0


def difference(pairs: Sequence[TaskPair], *, level: float = LEVEL) -> Difference:
    """Return how far the candidate is from the base.

    Args:
        pairs: One for each task, in the order of task ids.
        level: Of the interval, between 0 and 1.
    """
    if not pairs:
        return Difference(None, None, None, 0)
    base = _rate([pair.base for pair in pairs])
    candidate = _rate([pair.candidate for pair in pairs])
    changes = [_rate([pair.candidate]) - _rate([pair.base]) for pair in pairs]
    found = Difference(base, candidate, candidate - base, len(pairs))
    found = found._replace(
        p_value=_sign_flip_p(pairs),
        p_method="sign_flips",
        rose=sum(change > 0 for change in changes),
        fell=sum(change < 0 for change in changes),
    )
    return _with_interval(found, pairs, level) if len(pairs) >= MIN_TASKS else found


def _rate(sides: Sequence[tuple[float, float]]) -> float:
    return fsum(top for top, _ in sides) / fsum(bottom for _, bottom in sides)


def _sign_flip_p(pairs: Sequence[TaskPair]) -> float:
    """Return the p-value of sign flips; tasks that are equal on both sides need none."""
    changed = [pair for pair in pairs if pair.base != pair.candidate]
    if _are_of_one_size(changed):
        fell = sum(pair.candidate[0] < pair.base[0] for pair in changed)
        return exact_sign_p(fell, len(changed) - fell)
    tops, bottoms = (
        flipped_sums(
            [pair.base[part] for pair in changed],
            [pair.candidate[part] for pair in changed],
            on_both=fsum(pair.base[part] for pair in pairs if pair.base == pair.candidate),
        )
        for part in (0, 1)
    )
    return sign_flip_p(tops.candidate / bottoms.candidate - tops.base / bottoms.base)


def _are_of_one_size(changed: Sequence[TaskPair]) -> bool:
    """Return whether tasks weigh the same and change by the same, as single attempts do."""
    sizes = {abs(pair.candidate[0] - pair.base[0]) for pair in changed}
    weights = {side[1] for pair in changed for side in pair}
    return len(sizes) <= 1 and len(weights) <= 1


def _with_interval(found: Difference, pairs: Sequence[TaskPair], level: float) -> Difference:
    """Return the difference with its percentile interval over resampled tasks."""
    base, candidate = (
        resampled_sums([side[0] for side in sides]) / resampled_sums([side[1] for side in sides])
        for sides in (
            [pair.base for pair in pairs],
            [pair.candidate for pair in pairs],
        )
    )
    return with_spread(found, candidate - base, level)


def with_spread(found: Difference, samples: Numbers, level: float) -> Difference:
    """Return the difference with the interval of its resamples; some are not numbers."""
    differences: list[float] = np.sort(samples[~np.isnan(samples)]).tolist()
    low, high = middle(differences, level)
    return found._replace(low=low, high=high, interval_method="paired_bootstrap")


def t_score_difference(
    tasks: Sequence[Sequence[TaskPair | None]],
    level: float = LEVEL,
    weights: Weights = PRESETS[DEFAULT],
) -> Difference:
    """Return how far the T-Scores of two releases are apart.

    Source: docs/metrics.md, section 7.4: each axis is put together over the tasks that have it,
    then the three are combined; so a resample of tasks gives three axes and one T-Score for either
    side.

    Args:
        tasks: For each task in the order of ids its pairs of tool selection (0..1), planning
            quality and rollback-ability (0..10); None where a task lacks an axis. Every axis has a
            task.
        level: Of the interval, between 0 and 1.
        weights: Of the axes.
    """
    sides = [
        [[AxisSums(*pair[side]) if pair else None for pair in task] for task in tasks]
        for side in (0, 1)
    ]
    base, candidate = (t_score(pooled_axes(side), weights).value or 0.0 for side in sides)
    found = Difference(
        base,
        candidate,
        candidate - base,
        len(tasks),
        p_value=_t_score_p(tasks, weights),
        p_method="sign_flips",
    )
    if len(tasks) < MIN_TASKS:
        return found
    samples = [resampled_t_scores(side, weights) for side in sides]
    return with_spread(found, samples[1] - samples[0], level)


def _t_score_p(tasks: Sequence[Sequence[TaskPair | None]], weights: Weights) -> float:
    """Return the p-value of sign flips; each flip changes the sides of all axes of a task."""

    def sums(axis: int, part: int) -> FlippedSums:
        pairs = [task[axis] or _ABSENT for task in tasks]
        return flipped_sums(
            [pair.base[part] for pair in pairs], [pair.candidate[part] for pair in pairs]
        )

    axes = [(sums(axis, 0), sums(axis, 1)) for axis in range(3)]
    old = t_scores([top.base / bottom.base for top, bottom in axes], weights)
    new = t_scores([top.candidate / bottom.candidate for top, bottom in axes], weights)
    return sign_flip_p(new - old)


_ABSENT = TaskPair((0.0, 0.0), (0.0, 0.0))
"""Value of a task without an axis: it adds nothing to either side."""


def bootstrap_p(samples: Numbers) -> float:
    """Return twice the share of resamples on the rarer side of 0, never 0 itself."""
    differences = samples[~np.isnan(samples)]
    below, above = int((differences <= 0).sum()), int((differences >= 0).sum())
    return min(1.0, 2 * (min(below, above) + 1) / (len(differences) + 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values that hold for all of several tests together, in the order given.

    Source: [Holm 1979], step-down; adjusted values never fall along the order of the given ones.
    """
    adjusted, least = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: (p_values[i], i))):
        least = max(least, min(1.0, p_values[index] * (len(p_values) - rank)))
        adjusted[index] = least
    return adjusted
