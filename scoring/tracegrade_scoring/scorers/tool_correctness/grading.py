"""Matches the calls of an attempt with the calls that its task expects, for tool correctness.

Pure, and run once for each *distinct* problem: many attempts have the same problem. A problem is a
text (see `grading_problems.sql`): a word for each call and each expectation that it fits, in the
order of the calls, as `call:position` or `call:position=equal/keys`.

Source: [Agentic], "Tool Correctness"; docs/metrics.md, section 2.2.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import Final, NamedTuple, TypeAlias

from tracegrade_scoring.attempts.assignment import largest_assignment, largest_matching

Fits: TypeAlias = dict[int, int | None]
"""The similarity of one call's arguments to those of each expectation; None if none are stated.

Similarity is counted in a unit in which each pair of the problem has a whole number.
"""

_NUMBER: Final = re.compile(r"\d+")


class Grade(NamedTuple):
    """The grade of the match between calls and expectations."""

    matched: int
    """Expectations that find a call of a fitting tool, each call used once."""
    similarity: Fraction
    """The largest sum of argument similarities that pairs of call and expectation can have."""
    common: int
    """Length of the longest common subsequence."""


@lru_cache(maxsize=1 << 17)
def grade(problem: str) -> Grade:
    """Return the grade of one problem; no call fits in an empty one."""
    words = [[int(number) for number in _NUMBER.findall(word)] for word in problem.split()]
    unit = lcm(*(keys or 1 for _, _, *ratio in words for keys in ratio[1:]))
    fits_of: dict[int, Fits] = {}
    for call, position, *ratio in words:
        fits_of.setdefault(call, {})[position] = _likeness(unit, *ratio) if ratio else None
    calls = list(fits_of.values())
    matched = largest_matching([list(fits) for fits in calls])
    return Grade(matched, Fraction(_similarity(calls), unit), _common(calls))


def _likeness(unit: int, equal: int, keys: int) -> int:
    return equal * unit // keys if keys else unit  # no keys on both sides are equal


def _similarity(calls: Sequence[Fits]) -> int:
    rows = [{p: like for p, like in fits.items() if like} for fits in calls]
    positions = sorted({p for row in rows for p in row})
    if all(len(row) <= 1 for row in rows):
        return sum(max(row.get(p, 0) for row in rows) for p in positions)
    return largest_assignment([[row.get(p, 0) for row in rows if row] for p in positions])


def _common(calls: Sequence[Fits]) -> int:
    """Return the longest common subsequence: the longest rise of positions, one for each call.

    A call is matched with an expectation only if it is not more similar to another one.
    """
    tails: list[int] = []
    for fits in calls:
        most = max(like or 0 for like in fits.values())
        alike = (p for p, like in fits.items() if (like or 0) == most)
        for position in sorted(alike, reverse=True):
            index = bisect_left(tails, position)
            tails[index : index + 1] = [position]
    return len(tails)
