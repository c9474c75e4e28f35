"""Estimates, from a judge's rate and labels, the rate that people would give; pure.

A judge's rate is off by what it gets wrong. Labels of a random sample say how often people say yes
where the judge does, and where it does not; the corrected rate is

    P(judge yes) * P(people yes | judge yes) + P(judge no) * P(people yes | judge no)

Each of the three has Jeffreys' posterior, Beta(yes + 1/2, no + 1/2); they are independent. The
value is the expectation, the interval the middle of draws.
"""

from typing import NamedTuple

import numpy as np

from tracegrade_judges.calibration.agreement import Agreement, Measure
from tracegrade_scoring.statistics.intervals import LEVEL, middle
from tracegrade_scoring.statistics.posteriors import draws, posterior_mean


class YesCounts(NamedTuple):
    """The number of verdicts that say yes, and of those that say yes or no."""

    yes: int
    of: int


def corrected_rate(verdicts: YesCounts, labels: Agreement) -> Measure:
    """Return the share of verdicts that people would answer with yes.

    Args:
        verdicts: Verdicts on the runs that the rate covers; at least one.
        labels: Labels of a random sample of the judge's verdicts, on any runs.
    """
    pairs = (
        (verdicts.yes, verdicts.of - verdicts.yes),
        (labels.both_yes, labels.only_judge_yes),
        (labels.only_people_yes, labels.both_no),
    )
    judge_yes, right, missed_yes = (posterior_mean(yes, no) for yes, no in pairs)
    samples = draws(*pairs)
    rates = np.sort(samples[0] * samples[1] + (1 - samples[0]) * samples[2])
    return Measure(
        judge_yes * right + (1 - judge_yes) * missed_yes, *middle(rates.tolist(), LEVEL)
    )
