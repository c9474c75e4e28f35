"""The test for a metric that got worse from one release to the next, valid at every look.

A scheduled look is optional stopping, which a p-value does not survive. The ratio here is that of
a mixture of differences and no difference: if nothing changed, the probability that it ever gets
to `1 / alpha` is at most alpha, however often it is looked at. It is a function of today's sums,
so no state is kept and late runs are welcome.

Releases are compared task by task. Days differ by more than chance (an outage, other users), so
the variance is multiplied by how much more the day totals vary than chance explains. Source:
docs/explain/statistics.md.
"""

import math
from typing import Final, NamedTuple

import numpy as np

from tracegrade_watch.statistics.cells import Cells, Floats, share
from tracegrade_watch.statistics.spread import TaskSides, overdispersion

LEAST_EXPECTED: Final = 5.0
"""Successes, and failures, that each side must be expected to have: fewer are not normal."""
SEEN_FAILURES: Final = 10.0
"""So many bad values of the candidate are enough, even if fewer were expected. After a long good
release few are expected, and an alert for one that always fails must not wait for that."""
LEAST_SCORED: Final = 30.0
"""Observations of each side, where a metric is not between 0 and 1."""


class ReleaseDifference(NamedTuple):
    """A comparison of two releases; each array has one entry for each repetition."""

    log_ratio: Floats
    """Natural logarithm of the evidence ratio for "worse"."""
    difference: Floats
    """Candidate less base, a mean of the tasks' differences."""
    overdispersion: Floats
    """Variance of day totals, in relation to that of chance alone; at least 1."""
    enough: Floats
    """1 where both sides have enough observations for the test, else 0."""


def compare_sides(
    cells: Cells, *, smallest: float, better: int, is_share: bool
) -> ReleaseDifference:
    """Return how strong the evidence is that the candidate is worse.

    Args:
        cells: Of the tasks that both sides ran.
        smallest: The smallest change that matters: the scale of the mixture.
        better: 1 if more is better, -1 if less is.
        is_share: Whether values are between 0 and 1.
    """
    tasks = TaskSides(cells)
    mixed = share(tasks.counts[0] * tasks.counts[1], tasks.counts[0] + tasks.counts[1])
    mixed = share(mixed, mixed.sum(-1, keepdims=True))
    difference = (mixed * (tasks.means[1] - tasks.means[0])).sum(-1)
    parts = share(np.ones(()), tasks.counts[0]) + share(np.ones(()), tasks.counts[1])
    variance = (mixed**2 * tasks.variance * parts).sum(-1)
    excess = overdispersion(cells, tasks)
    log_ratio = log_evidence(better * difference, variance * excess, smallest)
    return ReleaseDifference(
        log_ratio, difference, excess, _enough(tasks, better, is_share=is_share)
    )


def _enough(tasks: TaskSides, better: int, *, is_share: bool) -> Floats:
    counts = [each.sum(-1) for each in tasks.counts]
    if not is_share:
        return np.asarray(np.minimum(*counts) >= LEAST_SCORED, dtype=np.float64)
    mean = share((tasks.mean * tasks.total).sum(-1), tasks.total.sum(-1))
    bad, bad_of_task = (1 - each if better > 0 else each for each in (mean, tasks.means[1]))
    seen = (tasks.counts[1] * bad_of_task).sum(-1)
    good_expected = np.minimum(*counts) * (1 - bad) >= LEAST_EXPECTED
    bad_expected = [count * bad >= LEAST_EXPECTED for count in counts]
    found = good_expected & bad_expected[0] & (bad_expected[1] | (seen >= SEEN_FAILURES))
    return np.asarray(found, dtype=np.float64)


def log_evidence(difference: Floats, variance: Floats, smallest: float) -> Floats:
    """Return the logarithm of the one-sided mixture's likelihood ratio; evidence of a decrease.

    Args:
        difference: An estimate, normal with this variance about the true difference.
        variance: 0 where nothing varies, and nothing can be said.
        smallest: Standard deviation of the mixture of true differences.
    """
    known = variance > 0
    information = 1 / np.where(known, variance, 1)
    spread = 1 + smallest**2 * information
    exponent = smallest**2 * information**2 * difference**2 / (2 * spread)
    tail = _log_twice_phi(-smallest * information * difference / np.sqrt(spread))
    found: Floats = np.where(known, -np.log(spread) / 2 + exponent + tail, 0.0)
    return found


def _log_twice_phi(quantiles: Floats) -> Floats:
    """Return the logarithm of twice the normal distribution function."""
    flat = [_log_erfc(-each / math.sqrt(2)) for each in np.ravel(quantiles).tolist()]
    return np.array(flat).reshape(np.shape(quantiles))


_FAR: Final = 25.0
"""From here on the complement is too small for a double, and its expansion is exact enough."""


def _log_erfc(value: float) -> float:
    if value < _FAR:
        return math.log(math.erfc(value))
    return -(value**2) - math.log(value * math.sqrt(math.pi))
