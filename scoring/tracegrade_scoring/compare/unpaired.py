"""The difference between two releases whose runs name no task, so that pairing is impossible.

Its own module because the two sides are independent samples here, with perhaps millions of
attempts: sums are enough. It cannot tell a worse release from harder work, and each view of its
result warns about this.

Source: [Newcombe 1998b], method 10, if each attempt is one observation that is 0 or 1; else the
delta method for the ratio of two means ([Cochran 1977], section 6.5); docs/metrics.md, section
10.2.
"""

from math import hypot, sqrt
from statistics import NormalDist
from typing import Final, NamedTuple

from tracegrade_scoring.compare.paired import Difference
from tracegrade_scoring.statistics.intervals import LEVEL, normal_quantile, wilson

MIN_ATTEMPTS: Final = 5
"""A spread over fewer attempts is meaningless."""
LEAST_P: Final = 1e-16
"""The end of the normal distribution's tail for doubles; a p-value is never 0."""


class Side(NamedTuple):
    """One release: sums over its attempts; each attempt has a numerator and a denominator."""

    attempts: int
    numerator: float
    denominator: float
    """Greater than 0."""
    squares: float
    """Sum of squared numerators."""
    products: float
    """Sum of numerators times denominators."""
    bases: float
    """Sum of squared denominators."""
    single: bool
    """Each attempt is one observation that is 0 or 1."""

    @property
    def rate(self) -> float:
        """Sum of numerators / sum of denominators."""
        return self.numerator / self.denominator

    @property
    def variance(self) -> float:
        """The variance of the rate, by the delta method; 0 if all attempts have the same rate."""
        spread = self.squares - 2 * self.rate * self.products + self.rate**2 * self.bases
        n = self.attempts
        return max(0.0, spread) * n / (n - 1) / self.denominator**2


def unpaired_difference(base: Side, candidate: Side, level: float = LEVEL) -> Difference:
    """Return how far the candidate is from the base; the interval needs 5 attempts on each side.

    `interval_method` is newcombe or delta, `p_method` two_proportions or delta; `tasks` is 0.
    """
    change = candidate.rate - base.rate
    found = Difference(base.rate, candidate.rate, change, 0)
    if min(base.attempts, candidate.attempts) < MIN_ATTEMPTS:
        return found
    if base.single and candidate.single:
        return _of_shares(found, base, candidate, level)
    return with_delta_interval(found, sqrt(base.variance + candidate.variance), level)


def with_delta_interval(found: Difference, error: float, level: float) -> Difference:
    """Return a difference with the interval and p-value of its standard error."""
    change, half = found.difference or 0.0, normal_quantile(level) * error
    return found._replace(
        low=change - half,
        high=change + half,
        interval_method="delta",
        p_value=_p_value(change, error),
        p_method="delta",
    )


def _of_shares(found: Difference, base: Side, candidate: Side, level: float) -> Difference:
    old = wilson(base.numerator, base.attempts, level)
    new = wilson(candidate.numerator, candidate.attempts, level)
    change = candidate.rate - base.rate
    share = (base.numerator + candidate.numerator) / (base.attempts + candidate.attempts)
    error = sqrt(share * (1 - share) * (1 / base.attempts + 1 / candidate.attempts))
    return found._replace(
        low=change - hypot(candidate.rate - new.low, old.high - base.rate),
        high=change + hypot(new.high - candidate.rate, base.rate - old.low),
        interval_method="newcombe",
        p_value=_p_value(change, error),
        p_method="two_proportions",
    )


def _p_value(change: float, error: float) -> float:
    """Return how surprising the change were between equal releases, two-sided."""
    if not change:
        return 1.0
    tail = NormalDist().cdf(-abs(change) / error) if error else 0.0
    return max(LEAST_P, 2 * tail)
