"""Tests whether a rate rose by more than chance explains; pure."""

from collections.abc import Sequence
from math import log
from typing import Final, NamedTuple

import numpy as np

from tracegrade_scoring.compare.paired import holm

SIGNIFICANT: Final = 0.05


class Change(NamedTuple):
    """Counts of an event in a window, and in the window before it."""

    runs: int
    runs_before: int
    word: str
    """more | less | may be chance | '' without a window before."""


def changes(counts: Sequence[tuple[int, int]], runs: int, runs_before: int) -> list[Change]:
    """Return for each of several things whether it happens more often than before.

    Each count is Poisson with the number of runs as its exposure; all that are given are asked
    together, by Holm's method.

    Args:
        counts: Count of each event in the window, and in the window before.
        runs: Runs of the window.
        runs_before: Runs of the window before; without any, there is no result.
    """
    if not runs or not runs_before:
        return [Change(*each, "") for each in counts]
    p_values = [poisson_p(*each, runs / (runs + runs_before)) for each in counts]
    return [
        Change(*each, _word(each, p_value, runs / runs_before))
        for each, p_value in zip(counts, holm(p_values), strict=True)
    ]


def _word(counts: tuple[int, int], p_value: float, times: float) -> str:
    if p_value >= SIGNIFICANT:
        return "may be chance"
    return "more" if counts[0] > times * counts[1] else "less"


def poisson_p(count: int, before: int, share: float) -> float:
    """Return the p-value of two Poisson counts, two-sided, by the exact conditional test.

    Given their sum, the first is binomial; the smaller tail counts twice.

    Args:
        count: The first.
        before: The second.
        share: Of the exposure that belongs to the first, above 0 and below 1.
    """
    total = count + before
    steps = np.log(np.arange(1, total + 1))
    ways = np.concatenate(([0.0], np.cumsum(steps)))  # logarithms of factorials
    place = np.arange(total + 1)
    chance = np.exp(
        ways[total] - ways - ways[::-1] + place * log(share) + (total - place) * log(1 - share)
    )
    return min(1.0, 2 * float(min(chance[: count + 1].sum(), chance[count:].sum())))
