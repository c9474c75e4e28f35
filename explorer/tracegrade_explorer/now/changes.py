"""Tests whether a rate or a share changed by more than chance explains; pure."""

from collections.abc import Sequence
from math import log
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tracegrade_scoring.compare.paired import holm

SIGNIFICANT: Final = 0.05
ROUNDING: Final = 1e-7
"""Relative difference of two chances up to which they are equal."""
ChosenCounts: TypeAlias = npt.NDArray[np.int64]
Logarithms: TypeAlias = npt.NDArray[np.float64]


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


class Shares(NamedTuple):
    """Successes among runs of a window, and of the window before."""

    solved: int
    known: int
    solved_before: int
    known_before: int


def share_words(shares: Sequence[Shares]) -> list[str]:
    """Return for each of several shares whether it changed since the window before.

    All that are given are asked together, by Holm's method.

    Returns:
        For each better | worse | may be chance; '' if nothing is known of one of the windows.
    """
    asked = [each for each in shares if each.known and each.known_before]
    p_values = dict(zip(asked, holm([share_p(each) for each in asked]), strict=True))
    return [_share_word(each, p_values.get(each)) for each in shares]


def _share_word(shares: Shares, p_value: float | None) -> str:
    if p_value is None:
        return ""
    if p_value >= SIGNIFICANT:
        return "may be chance"
    rose = shares.solved * shares.known_before > shares.solved_before * shares.known
    return "better" if rose else "worse"


def share_p(shares: Shares) -> float:
    """Return the p-value of two shares, two-sided, by the exact test [Fisher 1935].

    It is that of `fisher_p` in floating point, which windows of many thousand runs need.
    """
    both = shares.solved + shares.solved_before
    first, last = max(0, both - shares.known_before), min(both, shares.known)
    place = np.arange(first, last + 1)
    ways = _ways(shares.known, place) + _ways(shares.known_before, both - place)
    chance = np.exp(ways - ways.max())
    observed = chance[shares.solved - first]
    return float(chance[chance <= observed * (1 + ROUNDING)].sum() / chance.sum())


def _ways(size: int, chosen: ChosenCounts) -> Logarithms:
    """Return the logarithms of the numbers of ways to choose so many of a size."""
    factorials = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, size + 1)))))
    found: Logarithms = factorials[size] - factorials[chosen] - factorials[size - chosen]
    return found


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
