"""What people would say as often as a judge says yes, with an interval; pure.

A judge's rate is off by what it gets wrong. Labels of a random sample say how often people say yes
where the judge does, and where it does not; the corrected rate is

    P(judge yes) * P(people yes | judge yes) + P(judge no) * P(people yes | judge no)

Each of the three has Jeffreys' posterior, Beta(yes + 1/2, no + 1/2); they are independent. The
value is the expectation, the interval the middle of draws. Draws are a Latin hypercube: each
posterior at the same evenly spaced shares of its mass, in orders that a fixed stream mixes.
"""

from functools import lru_cache
from math import asin, pi, sqrt
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tracegrade_judges.calibration.agreement import Agreement, Measure
from tracegrade_scoring.statistics.intervals import LEVEL, middle

DRAWS: Final = 4_096
GRID: Final = 4_096
"""Points at which a posterior is known; between them it is linear."""
WIDTH: Final = 12.0
"""Standard deviations to either side that the grid covers, in the arcsine of the square root."""
SEED: Final = 0

Floats = npt.NDArray[np.float64]


class Judged(NamedTuple):
    """How many verdicts say yes, of how many that say yes or no."""

    yes: int
    of: int


def corrected_rate(judged: Judged, labels: Agreement) -> Measure:
    """Return the share of which people would say yes.

    Args:
        judged: Verdicts of the runs that the rate is of; at least one.
        labels: Of a random sample of the judge's verdicts, whichever runs they are on.
    """
    pairs = (
        (judged.yes, judged.of - judged.yes),
        (labels.both_yes, labels.only_judge_yes),
        (labels.only_people_yes, labels.both_no),
    )
    said, right, missed = (_mean(yes, no) for yes, no in pairs)
    draws = [posterior(yes, no)[order] for (yes, no), order in zip(pairs, _orders(), strict=True)]
    rates = np.sort(draws[0] * draws[1] + (1 - draws[0]) * draws[2])
    return Measure(said * right + (1 - said) * missed, *middle(rates.tolist(), LEVEL))


def posterior(yes: int, no: int) -> Floats:
    """Return Jeffreys' posterior of a share at evenly spaced shares of its mass, rising.

    Its density over the arcsine of the square root has no pole, so it is summed up there.
    """
    a, b = yes + 0.5, no + 0.5
    centre, half = asin(sqrt(a / (a + b))), WIDTH / (2 * sqrt(a + b))
    angles = np.linspace(max(0.0, centre - half), min(pi / 2, centre + half), GRID)
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


def _mean(yes: int, no: int) -> float:
    return (yes + 0.5) / (yes + no + 1)


@lru_cache(maxsize=1)
def _orders() -> tuple[npt.NDArray[np.intp], ...]:
    """Return the order of each posterior's draws: that of numbers of a fixed stream."""
    numbers = np.random.PCG64(SEED).random_raw(3 * DRAWS).reshape(3, DRAWS)
    return tuple(np.argsort(row, kind="stable") for row in numbers)
