"""The Beta distribution as far as reliability needs it: moments, quantiles, and a fit to counts.

A few lines of arithmetic instead of a dependency, because nothing else here needs statistics.
Source: docs/metrics.md, section 8.4; the continued fraction is [Olver 2010], 8.17.22, in Lentz's
form.
"""

from collections.abc import Callable, Mapping
from math import exp, fsum, lgamma, log, log1p
from typing import Final

MIN_SUM: Final = 0.1
MAX_SUM: Final = 1000.0
"""Where a + b of a fitted prior may lie (docs/metrics.md, section 8.4)."""

_HALVINGS: Final = 200
"""More than the bits of a double, so that a quantile is as exact as its distribution."""
_SECTIONS: Final = 60
"""Of golden search: 0.618^60 of the range is below 1e-11 of it."""
_LARGEST_LOGIT: Final = 20.0
"""Of a fitted mean: 2e-9 from 0 or 1, where all tasks failed or none did."""


def moment(a: float, b: float, k: int) -> float:
    """Return E[p^k] under Beta(a, b)."""
    product = 1.0
    for i in range(k):
        product *= (a + i) / (a + b + i)
    return product


def quantile(a: float, b: float, share: float) -> float:
    """Return the p below which Beta(a, b) has that share of its mass, by halving."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if distribution(a, b, middle) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def distribution(a: float, b: float, p: float) -> float:
    """Return the mass of Beta(a, b) below p: the regularised incomplete beta function."""
    if p <= 0 or p >= 1:
        return float(p >= 1)
    front = exp(a * log(p) + b * log1p(-p) - _log_beta(a, b))
    if p <= (a + 1) / (a + b + 2):
        return front * _continued_fraction(a, b, p) / a
    return 1 - front * _continued_fraction(b, a, 1 - p) / b


def fit(counts: Mapping[tuple[int, int], int]) -> tuple[float, float]:
    """Return the a and b of the Beta prior under which the counts are likeliest.

    Args:
        counts: How many tasks had (attempts, correct ones).
    """
    tasks = sorted(counts.items())

    def likelihood(log_sum: float, logit: float) -> float:
        a, b = _prior(log_sum, logit)
        prior = _log_beta(a, b)
        return fsum(times * (_log_beta(a + c, b + n - c) - prior) for (n, c), times in tasks)

    def best_logit(log_sum: float) -> float:
        return _golden(lambda logit: likelihood(log_sum, logit), -_LARGEST_LOGIT, _LARGEST_LOGIT)

    log_sum = _golden(
        lambda found: likelihood(found, best_logit(found)), log(MIN_SUM), log(MAX_SUM)
    )
    return _prior(log_sum, best_logit(log_sum))


def _prior(log_sum: float, logit: float) -> tuple[float, float]:
    return exp(log_sum) / (1 + exp(-logit)), exp(log_sum) / (1 + exp(logit))


def _golden(value: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function with one peak is highest; an end of the range counts too."""
    ratio = (5**0.5 - 1) / 2
    start, end = low, high
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = value(left), value(right)
    for _ in range(_SECTIONS):
        if at_left >= at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = value(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = value(right)
    return max(((low + high) / 2, start, end), key=value)


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def _continued_fraction(a: float, b: float, p: float) -> float:
    """Return the continued fraction of the incomplete beta function, by Lentz's method."""
    tiny = 1e-300
    d = 1 / _away_from_zero(1 - (a + b) * p / (a + 1), tiny)
    c, fraction = 1.0, d
    for m in range(1, 10_000):
        even = m * (b - m) * p / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * p / ((a + 2 * m) * (a + 2 * m + 1))
        change = 1.0
        for term in (even, odd):
            d = 1 / _away_from_zero(1 + term * d, tiny)
            c = _away_from_zero(1 + term / c, tiny)
            change = d * c
            fraction *= change
        if abs(change - 1) < 1e-15:
            break
    return fraction


def _away_from_zero(value: float, tiny: float) -> float:
    return tiny if abs(value) < tiny else value
