"""The T-Scores of two releases, on the tasks that both ran or unpaired, or the missing axes.

Its own module because it combines three metrics, while others use one metric each. Source:
docs/metrics.md, section 7.4. Planning quality that no task asks for counts as 10 on both sides.
"""

from collections.abc import Mapping
from math import fsum, sqrt
from typing import Final, NamedTuple, TypeAlias

from tracegrade_scoring.compare.flags import paired_flags, unpaired_flags
from tracegrade_scoring.compare.model import Compared
from tracegrade_scoring.compare.paired import Difference, TaskPair, t_score_difference
from tracegrade_scoring.compare.unpaired import MIN_ATTEMPTS, with_delta_interval
from tracegrade_scoring.statistics.intervals import LEVEL
from tracegrade_scoring.statistics.t_score import DEFAULT, PRESETS, Axes, Weights, t_score

AXES: Final = {"tsa": "tsa", "pq": "pq", "ra": "ra_after_recovery"}
"""The metric of each axis."""
BEST: Final = 10.0
"""Highest value of an axis."""


class TScoreWay(NamedTuple):
    """The parameters of T-Scores."""

    level: float = LEVEL
    """The level of the interval, between 0 and 1."""
    weights: Weights = PRESETS[DEFAULT]
    """The weights of the axes."""


AS_USUAL: Final = TScoreWay()

TaskPairs: TypeAlias = Mapping[str, TaskPair]
"""One metric of each task that has it on both sides."""


class Composite(NamedTuple):
    """The available parts of the T-Scores of two releases."""

    compared: Compared | None = None
    """None where an axis is missing."""
    missing: tuple[str, ...] = ()
    """The axes tsa, pq or ra that were not measured on both sides."""
    pq_defaulted: bool = False
    """Planning quality was not applicable to any run, and failed for none: it counts as 10."""


def paired_composite(
    axes: Mapping[str, TaskPairs], *, pq_defaulted: bool, way: TScoreWay = AS_USUAL
) -> Composite:
    """Return both T-Scores on the tasks that both ran, the interval by resampled tasks.

    Args:
        axes: The pairs by task of each metric of `AXES`.
        pq_defaulted: No run of either side has a planning quality or an error for it.
        way: Level of the interval, and weights.
    """
    tasks = sorted({task for metric in AXES.values() for task in axes[metric]})
    default = dict.fromkeys(tasks, TaskPair((BEST, 1.0), (BEST, 1.0)))
    known = {**axes, "pq": default} if pq_defaulted else axes
    missing = tuple(axis for axis, metric in AXES.items() if not known[metric])
    if missing:
        return Composite(None, missing, pq_defaulted)
    pairs = [[known[metric].get(task) for metric in AXES.values()] for task in tasks]
    flags = paired_flags("tsa", list(known["tsa"].values()))
    found = Compared("t_score", t_score_difference(pairs, *way), 0, 0, 0, 0, flags)
    return Composite(found, (), pq_defaulted)


class AxesOfSide(NamedTuple):
    """One release's axes over its attempts of no known task."""

    runs: int
    tsa: float | None
    """0..10, as all axes; None if no attempt has it."""
    pq: float | None
    ra: float | None
    points: float | None
    """Counted decision points."""
    tsa_attempts: int
    """Attempts that have the axis."""
    pq_attempts: int
    ra_attempts: int
    pq_errors: int
    """Runs whose planning quality could not be measured."""
    tsa_tsa: float
    """Sum over attempts of the product of what each adds to the errors of two axes."""
    tsa_pq: float
    tsa_ra: float
    pq_pq: float
    pq_ra: float
    ra_ra: float

    @property
    def axes(self) -> Axes:
        """The three axes."""
        return Axes(self.tsa, self.pq, self.ra)

    @property
    def attempts(self) -> int:
        """Attempts of the axis that has the fewest, of those that were measured."""
        counts = (self.tsa_attempts, self.pq_attempts, self.ra_attempts)
        return min(filter(None, counts), default=0)

    def variance(self, value: float, axes: Axes, weights: Weights) -> float:
        """Return that of the T-Score of these axes, by the delta method; 0 for a T-Score of 0."""
        slopes = [
            value**2 * weight / (fsum(weights) * axis**2) if axis else 0.0
            for weight, axis in zip(weights, axes, strict=True)
        ]
        products = [
            [self.tsa_tsa, self.tsa_pq, self.tsa_ra],
            [self.tsa_pq, self.pq_pq, self.pq_ra],
            [self.tsa_ra, self.pq_ra, self.ra_ra],
        ]
        spread = fsum(
            slopes[i] * product * slopes[j]
            for i, row in enumerate(products)
            for j, product in enumerate(row)
        )
        return max(0.0, spread) * self.attempts / (self.attempts - 1)


def unpaired_composite(
    base: AxesOfSide, candidate: AxesOfSide, way: TScoreWay = AS_USUAL
) -> Composite:
    """Return both T-Scores over runs of no known task, the interval by the delta method.

    The interval needs 5 attempts with each axis on either side. The reported number of scored
    attempts is that of the axis with the fewest.
    """
    sides = (base, candidate)
    pq_defaulted = not any(side.pq_attempts or side.pq_errors for side in sides)
    axes = [side.axes._replace(pq=BEST) if pq_defaulted else side.axes for side in sides]
    missing = tuple(axis for axis in AXES if None in {getattr(found, axis) for found in axes})
    if missing:
        return Composite(None, missing, pq_defaulted)
    level, weights = way
    old, new = (t_score(found, weights).value or 0.0 for found in axes)
    found = Difference(old, new, new - old, 0)
    fewest = min(side.attempts for side in sides)
    if fewest >= MIN_ATTEMPTS:
        spread = base.variance(old, axes[0], weights) + candidate.variance(new, axes[1], weights)
        found = with_delta_interval(found, sqrt(spread), level)
    points = min(side.points or 0.0 for side in sides)
    counts = (base.attempts, base.runs, candidate.attempts, candidate.runs)
    flags = unpaired_flags("tsa", points, fewest)
    return Composite(Compared("t_score", found, *counts, flags), (), pq_defaulted)
