"""Intervals of rates: Wilson where observations are independent, else bootstrap over tasks.

Source: docs/metrics.md, section 0.6. All sums run in the order of tasks, so that the result has
the same bits everywhere.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import sqrt
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

LEVEL: Final = 0.95
"""The share of intervals that hold the estimated value, by default."""
RESAMPLES: Final = 2_000
SEED: Final = 0
MIN_TASKS: Final = 5
"""A bootstrap over fewer tasks is meaningless."""


class Interval(NamedTuple):
    """An interval for a rate."""

    low: float
    high: float
    method: str
    """wilson | bootstrap."""


def normal_quantile(level: float) -> float:
    """Return how many standard deviations to either side hold that share of a normal value."""
    return NormalDist().inv_cdf((1 + level) / 2)


def wilson(successes: float, trials: int, level: float = LEVEL) -> Interval:
    """Return the Wilson score interval of a share; both ends are in [0, 1].

    Source: [Wilson 1927]. `trials` must be at least 1.
    """
    share, z = successes / trials, normal_quantile(level)
    scale = 1 + z * z / trials
    center = share + z * z / (2 * trials)
    half = z * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    low = max(0.0, (center - half) / scale) if successes > 0 else 0.0  # else rounding makes 1e-17
    high = min(1.0, (center + half) / scale) if successes < trials else 1.0
    return Interval(low, high, "wilson")


def bootstrap(
    numerators: Sequence[float], denominators: Sequence[float], level: float = LEVEL
) -> Interval | None:
    """Return the percentile interval of Σ numerators / Σ denominators over resampled tasks.

    Args:
        numerators: One for each task, in the order of task ids.
        denominators: The same; greater than 0.
        level: The share of the resamples that it holds.

    Returns:
        None for fewer than 5 tasks.
    """
    if len(numerators) < MIN_TASKS:
        return None
    rates = resampled_sums(numerators) / resampled_sums(denominators)
    return Interval(*middle(np.sort(rates).tolist(), level), "bootstrap")


def middle(ordered: Sequence[float], level: float) -> tuple[float, float]:
    """Return the ends of the middle of a sorted sequence that holds this share of it."""
    tail = (1 - level) / 2
    return percentile(ordered, tail), percentile(ordered, 1 - tail)


def resampled_sums(numbers: Sequence[float]) -> npt.NDArray[np.float64]:
    """Return the sum of the drawn tasks' numbers for each resample, added in the order drawn.

    The draws depend on how many tasks there are alone, so sums of several columns belong together.

    Args:
        numbers: One for each task, in the order of task ids; at least one.
    """
    given = np.asarray(numbers, dtype=np.float64)
    sums = np.zeros(RESAMPLES)
    for picks in _picks(len(numbers)):
        sums += given[picks]
    return sums


def percentile(ordered: Sequence[float], share: float) -> float:
    """Return the value at a share of a sorted sequence, linear between neighbors."""
    position = share * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


@lru_cache(maxsize=8)
def _picks(tasks: int) -> npt.NDArray[np.intp]:
    """Return the task that each resample draws: one row (by resample) for each draw.

    The stream of this generator is fixed by its definition, in every version of numpy.
    """
    outputs = np.random.PCG64(SEED).random_raw(RESAMPLES * tasks)
    picks = (outputs % tasks).astype(np.intp).reshape(RESAMPLES, tasks)
    return np.ascontiguousarray(picks.T)
