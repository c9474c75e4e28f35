"""The corrected rate by a second method, PPI++, shown next to the first one; pure.

Source: [Angelopoulos 2023], mean estimation with a tuned weight. Let y be people's labels of the n
labeled verdicts of a release, f its judge's answers on these, and g its judge's answers on the N
others. Then

    weight * mean(g) + mean(y - weight * f)

has the variance weight^2 * Var(g) / N + Var(y - weight * f) / n, which is least for the weight
Cov(y, f) / ((1 + n / N) * Var(f and g together)), here kept in [0, 1]. The interval is a normal
interval: it covers too little if labels are few or nearly all alike. The interval of the first
method does not have this fault. All values up to the square root are exact, because rounding
errors would remain where variances cancel each other.
"""

from fractions import Fraction
from math import sqrt

from tracegrade_judges.calibration.agreement import Agreement, Measure
from tracegrade_judges.calibration.correction import YesCounts
from tracegrade_scoring.statistics.intervals import LEVEL, normal_quantile

MIN_LABELS = 2
"""One has no variance."""


def prediction_powered_rate(verdicts: YesCounts, labels: Agreement) -> Measure:
    """Return the share of verdicts that people would answer with yes, with its interval in [0, 1].

    Args:
        verdicts: All verdicts of one release, labeled ones included.
        labels: The verdicts among them that people labeled; fewer than 2 give no result.
    """
    n, others = labels.labels, verdicts.of - labels.labels
    if n < MIN_LABELS:
        return Measure(None)
    judge_yes = labels.both_yes + labels.only_judge_yes
    y = Fraction(labels.both_yes + labels.only_people_yes, n)
    f = Fraction(judge_yes, n)
    g = Fraction(verdicts.yes - judge_yes, others) if others else Fraction(0)
    covariance = Fraction(labels.both_yes, n) - y * f
    weight = _weight(covariance, verdicts, others)
    rest = _variance(y) - 2 * weight * covariance + weight**2 * _variance(f)
    spread = rest / n + (weight**2 * _variance(g) / others if others else 0)
    value = float(weight * g + y - weight * f)
    half = normal_quantile(LEVEL) * sqrt(spread)
    return Measure(*(min(1.0, max(0.0, each)) for each in (value, value - half, value + half)))


def _weight(covariance: Fraction, verdicts: YesCounts, others: int) -> Fraction:
    """Return the judge's weight: 0 if it always says the same, or every verdict is labeled.

    1 + n / N is the number of all verdicts over that of those without a label.
    """
    spread = _variance(Fraction(verdicts.yes, verdicts.of))
    if not spread:
        return Fraction(0)
    return min(Fraction(1), max(Fraction(0), covariance * others / (verdicts.of * spread)))


def _variance(share: Fraction) -> Fraction:
    return share * (1 - share)
