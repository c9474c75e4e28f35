"""The Beta distribution as far as reliability needs it: moments and quantiles.

A few lines of arithmetic instead of a dependency, because nothing else here needs statistics.
Source: docs/metrics.md, section 8.4; the continued fraction is [Olver 2010], 8.17.22, in Lentz's
form.
"""

from math import exp, lgamma, log, log1p
from typing import Final

_HALVINGS: Final = 200
"""More than the bits of a double, so that a quantile is as exact as its distribution."""


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
    """Return the mass of Beta(a, b) below p: the regularized incomplete beta function."""
    if p <= 0 or p >= 1:
        return float(p >= 1)
    front = exp(a * log(p) + b * log1p(-p) - _log_beta(a, b))
    if p <= (a + 1) / (a + b + 2):
        return front * _continued_fraction(a, b, p) / a
    return 1 - front * _continued_fraction(b, a, 1 - p) / b


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
