"""How often intervals of corrected rates hold the truth, by simulated judges and people."""

from collections.abc import Callable, Mapping

import numpy as np

from tracegrade_judges.calibration.agreement import Agreement, Measure
from tracegrade_judges.calibration.correction import YesCounts, corrected_rate
from tracegrade_judges.calibration.sample import allocation

RATES = (0.3, 0.6, 0.9)
"""Of which people would say yes."""
QUALITIES = ((0.95, 0.85), (0.8, 0.7))
"""How often a judge is right where people say yes, and where they say no."""
JUDGED = 1_000


Kind = tuple[float, tuple[float, float]]
"""A rate and a quality."""


def coverage(labels: int, simulations: int, random: np.random.Generator) -> float:
    """Return the share of intervals that hold the rate, over all rates and qualities together."""
    held = shares_held(labels, simulations // (len(RATES) * len(QUALITIES)), random)
    return sum(held.values()) / len(held)


Estimate = Callable[[YesCounts, Agreement], Measure]
"""A rate with its interval, by the verdicts and the labels."""


def shares_held(
    labels: int,
    simulations: int,
    random: np.random.Generator,
    estimate: Estimate = corrected_rate,
) -> Mapping[Kind, float]:
    """Return the share of intervals that hold the rate, for each rate and quality."""
    return {
        (rate, quality): sum(
            _holds(labels, rate, quality, random, estimate) for _ in range(simulations)
        )
        / simulations
        for rate in RATES
        for quality in QUALITIES
    }


def _holds(
    labels: int,
    rate: float,
    quality: tuple[float, float],
    random: np.random.Generator,
    estimate: Estimate,
) -> bool:
    people = random.random(JUDGED) < rate
    right = random.random(JUDGED) < np.where(people, *quality)
    judge = people == right
    wanted = allocation(int(judge.sum()), int((~judge).sum()), labels)
    drawn = np.concatenate(
        [
            random.choice(np.flatnonzero(judge == says), count, replace=False)
            for says, count in zip((True, False), wanted, strict=True)
        ]
    )
    pairs = list(zip(judge[drawn].tolist(), people[drawn].tolist(), strict=True))
    found = estimate(YesCounts(int(judge.sum()), JUDGED), Agreement.of(pairs))
    return found.low is not None and found.high is not None and found.low <= rate <= found.high
