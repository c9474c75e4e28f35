"""Jeffreys' posteriors of shares, drawn as a Latin hypercube; pure, the same bits everywhere.

Each posterior is drawn at evenly spaced shares of its mass. A fixed stream mixes their order, so
that several posteriors are independent.
"""

from functools import lru_cache
from math import asin, pi, sqrt
from typing import Final

import numpy as np
import numpy.typing as npt

DRAWS: Final = 4_096
GRID: Final = 4_096
"""Points at which a posterior is known; between them it is linear."""
WIDTH: Final = 12.0
"""Standard deviations to either side that the grid covers, in the arcsine of the square root."""
SEED: Final = 0

Floats = npt.NDArray[np.float64]


def posterior_mean(yes: int, no: int) -> float:
    """Return the expectation of Beta(yes + 1/2, no + 1/2)."""
    return (yes + 0.5) / (yes + no + 1)


def draws(*counts: tuple[int, int]) -> list[Floats]:
    """Return 4,096 draws of each share, given how often there was a yes and a no; independent."""
    orders = _orders(len(counts))
    return [posterior(yes, no)[order] for (yes, no), order in zip(counts, orders, strict=True)]


def posterior(yes: int, no: int) -> Floats:
    """Return Jeffreys' posterior of a share at evenly spaced shares of its mass, rising.

    Its density over the arcsine of the square root has no pole, so it is summed up there.
    """
    a, b = yes + 0.5, no + 0.5
    center, half = asin(sqrt(a / (a + b))), WIDTH / (2 * sqrt(a + b))
    angles = np.linspace(max(0.0, center - half), min(pi / 2, center + half), GRID)
    logs = _times_log(2 * a - 1, np.sin(angles)) + _times_log(2 * b - 1, np.cos(angles))
    density = np.exp(logs - logs.max())
    mass = np.concatenate(([0.0], np.cumsum((density[1:] + density[:-1]) / 2)))
    shares = (np.arange(DRAWS) + 0.5) / DRAWS
    return np.asarray(np.sin(np.interp(shares, mass / mass[-1], angles)) ** 2)


def _times_log(times: float, values: Floats) -> Floats:
    """Return times * log(values), where 0 * log(0) is 0."""
    if times == 0:
        return np.zeros_like(values)
    with np.errstate(divide="ignore"):
        return np.asarray(times * np.log(np.maximum(values, 0.0)))


@lru_cache(maxsize=4)
def _orders(count: int) -> tuple[npt.NDArray[np.intp], ...]:
    """Return the order of each posterior's draws: that of numbers of a fixed stream."""
    numbers = np.random.PCG64(SEED).random_raw(count * DRAWS).reshape(count, DRAWS)
    return tuple(np.argsort(row, kind="stable") for row in numbers)
