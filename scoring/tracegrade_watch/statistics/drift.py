"""The detector of a metric that gets worse within a release.

The first days of a release are the reference. Each later day multiplies the evidence for "below
the reference" by how much more probable its runs are then, and a new start is added each day, so
that a late change is found too (the detector of Shiryaev and Roberts). If nothing
changes, alarms are on average as far apart as the threshold says, in days.

An estimated reference breaks that promise, so it is lowered by one standard error. Days that
differ by more than chance break it too, so the evidence of a day is divided by how much more days
vary than chance explains. The change itself is no such variation: of the later days, only
differences of successive days count. Source: docs/explain/statistics.md.
"""

from typing import Final, NamedTuple

import numpy as np

from tracegrade_watch.statistics.cells import Cells, Floats, added_by, share
from tracegrade_watch.statistics.spread import TaskSides, overdispersion

DAYS_PER_YEAR: Final = 365
STAKES: Final = (0.05, 0.1, 0.2, 0.4)
"""Stakes of the bets against the reference, as shares of the greatest possible."""
RESERVE: Final = 1.1
"""Factor of the estimated variation of days, since few days are known; found by simulation."""


class Drift(NamedTuple):
    """The evidence after the last day; arrays have one entry for each repetition."""

    log_ratio: Floats
    """Natural logarithm of the evidence that the metric is worse than its reference."""
    expected: Floats
    """Lowered mean with which the last day is compared."""
    overdispersion: Floats
    """Variance of day totals, in relation to that of chance alone; at least 1."""


class _Days(NamedTuple):
    """Days in their order, on the last axis."""

    size: Floats
    """Observations of weight 1 that say as much."""
    mean: Floats
    expected: Floats
    """Mean of the same runs at the reference's means of their tasks."""
    error: Floats
    """Variance of `expected`, which the reference estimates, without overdispersion."""
    variance: Floats
    """Of `mean`, by chance alone."""


def detect_drift(reference: Cells, later: Cells, *, better: int) -> Drift:
    """Return how strong the evidence is after the last day.

    Args:
        reference: The first days of the release, all on side 0; values are between 0 and 1.
        later: At least one other day, numbered from 0 in their order; tasks are numbered as in
            the reference, and others do not count.
        better: 1 if more is better, -1 if less is.
    """
    base = TaskSides(reference)
    first, last = (_days(cells, base) for cells in (reference, later))
    excess = np.maximum(overdispersion(reference, base), RESERVE * _successive(first, last))
    sign = 1 if better > 0 else -1
    expected, mean = (each if sign > 0 else 1 - each for each in (last.expected, last.mean))
    lowered = np.clip(expected - np.sqrt(last.error * excess[..., np.newaxis]), 0, 1)
    evidence = _day_evidence(lowered, mean, last.size / excess[..., np.newaxis])
    shown = lowered if sign > 0 else 1 - lowered
    return Drift(_restarted(evidence), shown[..., -1], excess)


def _days(cells: Cells, base: TaskSides) -> _Days:
    cells = cells.where(cells.task < base.variance.shape[-1])
    weight, squares, values = (
        added_by(cells.day, cells.days, each)
        for each in (cells.weight, cells.weight_square, cells.value_sum)
    )
    of_task = share(cells.weight, weight[..., cells.day])
    error = share(base.variance, base.counts[0])
    day_square = np.maximum(weight, 1e-300)[..., cells.day] ** 2
    expected, estimated, chance = (
        added_by(cells.day, cells.days, each)
        for each in (
            of_task * base.means[0][..., cells.task],
            of_task**2 * error[..., cells.task],
            base.variance[..., cells.task] * cells.weight_square / day_square,
        )
    )
    return _Days(share(weight**2, squares), share(values, weight), expected, estimated, chance)


def _successive(first: _Days, last: _Days) -> Floats:
    """Return half the mean squared difference of successive days, in relation to chance."""
    moved = np.concatenate([each.mean - each.expected for each in (first, last)], -1)
    variance = np.concatenate([first.variance, last.variance], -1)
    between = variance[..., 1:] + variance[..., :-1]
    found: Floats = share((moved[..., 1:] - moved[..., :-1]) ** 2, between).mean(-1)
    return found


def _day_evidence(expected: Floats, mean: Floats, count: Floats) -> Floats:
    """Return the logarithm of the evidence of each day alone, a mean over the stakes.

    A bet on one run pays `1 + bet * (expected - value)`, on average at most 1 if the mean is not
    below the expected one. Between 0 and 1 its logarithm is at least that of the straight line
    through its ends, so the day's mean is all that is needed.
    """
    lost = np.clip(1 - expected, 1e-12, 1)
    factors = [
        count * (mean * np.log1p(-stake) + (1 - mean) * np.log1p(stake * expected / lost))
        for stake in STAKES
    ]
    found: Floats = np.logaddexp.reduce(factors, 0) - np.log(len(STAKES))
    return found


def _restarted(evidence: Floats) -> Floats:
    """Return the logarithm of the sum of the products of evidence from each day to the last."""
    total: Floats = np.full(evidence.shape[:-1], -np.inf)
    for day in range(evidence.shape[-1]):
        total = np.logaddexp(total, 0) + evidence[..., day]
    return total
