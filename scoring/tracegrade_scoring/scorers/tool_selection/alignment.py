"""Aligns the decision points of an attempt with what its task expects, at least cost.

In order, or as they fit best where the task says that order does not matter. Pure, and asked once
for each *distinct* problem: many attempts pose the same one. A problem is a text (see
`alignment_problems.sql`): how many expectations and decision points there are, and which of them
fit each other, or are named as one.

Source: docs/metrics.md, section 1.2. Costs: tool and arguments as expected 0, other arguments 1,
another tool 3 (only where the list is complete), a point or an expectation that stays alone 2.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Final, NamedTuple

from tracegrade_scoring.attempts.assignment import best_pairs

ALONE: Final = 2
OTHER_TOOL: Final = 3
NEVER: Final = 1 << 30
"""The cost of what cannot be paired."""


class AlignedPair(NamedTuple):
    """One decision point that stands for one expectation, both counted from 0."""

    point: int
    expectation: int


class Decision(NamedTuple):
    """A decision point, what was expected there, or both; each counted from 0.

    Neither, where no call was expected and none was made.
    """

    point: int | None
    """None where the expectation was missed."""
    expectation: int | None
    """None where nothing is expected."""
    tool_fits: bool
    """The tool is one that is expected there."""


NO_CALL: Final = Decision(None, None, tool_fits=False)
"""The right decision where the complete list of expectations is empty."""


class _Problem(NamedTuple):
    expected: int
    made: int
    in_order: bool
    other_tool: int
    """What a pair costs whose tool does not fit."""
    costs: dict[tuple[int, int], int]
    """Of pairs of a point and an expectation whose tool fits."""
    named: dict[int, int]
    """The first point that names an expectation."""


@lru_cache(maxsize=1 << 14)
def decisions(problem: str) -> tuple[Decision, ...]:
    """Return the decision points of a problem in order, and the expectations that were missed.

    A point that names an expectation stands for it, the first of several; the others are aligned.
    A missed expectation stands after the last point that met an earlier one.
    """
    read = _read(problem)
    if not read.expected and not read.made:
        return (NO_CALL,)
    met = read.named | _aligned(read)
    alone = set(range(read.made)).difference(met.values())
    found = [(point, False, Decision(point, None, False)) for point in alone]
    last = -1
    for expectation in range(read.expected):
        point = met.get(expectation)
        if point is None:
            found.append((last, True, Decision(None, expectation, False)))
        else:
            last = max(last, point)
            fits = (point, expectation) in read.costs
            found.append((point, False, Decision(point, expectation, fits)))
    return tuple(decision for *_, decision in sorted(found, key=itemgetter(0, 1)))


def _read(problem: str) -> _Problem:
    expected, made, *pairs = problem.split(" ")
    costs: dict[tuple[int, int], int] = {}
    named: dict[int, int] = {}
    for pair in pairs:
        place, _, letter = pair.partition("/")
        point, expectation = map(int, place.split(":"))
        if letter == "n":
            named.setdefault(expectation, point)
        else:
            costs[point, expectation] = int(letter)
    other_tool = OTHER_TOOL if "!" in expected else NEVER
    in_order = "~" not in expected
    return _Problem(int(expected.rstrip("!~")), int(made), in_order, other_tool, costs, named)


def _aligned(problem: _Problem) -> dict[int, int]:
    """Return the point that stands for each expectation that none names."""
    taken = set(problem.named.values())
    points = [i for i in range(problem.made) if i not in taken]
    expectations = [j for j in range(problem.expected) if j not in problem.named]
    costs = [[problem.costs.get((i, j), problem.other_tool) for j in expectations] for i in points]
    pairs = align(costs) if problem.in_order else assign(costs)
    return {expectations[pair.expectation]: points[pair.point] for pair in pairs}


def align(costs: Sequence[Sequence[int]]) -> list[AlignedPair]:
    """Return the pairs of the cheapest alignment, in order.

    Of equally cheap ones: going back from the end, a point is left alone if that can be, else it
    is paired if that can be, else the expectation is left alone.

    Args:
        costs: What each point (row) costs beside each expectation (column).
    """
    least = _least_costs(costs)
    pairs: list[AlignedPair] = []
    i, j = len(costs), len(least[0]) - 1
    while i and j:
        if least[i][j] == least[i - 1][j] + ALONE:
            i -= 1
        elif least[i][j] == least[i - 1][j - 1] + costs[i - 1][j - 1]:
            i, j = i - 1, j - 1
            pairs.append(AlignedPair(i, j))
        else:
            j -= 1
    return pairs[::-1]


def _least_costs(costs: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the least cost of aligning the first i points with the first j expectations."""
    width = len(costs[0]) if costs else 0
    least = [[ALONE * j for j in range(width + 1)]]
    for row in costs:
        above = least[-1]
        here = above[0] + ALONE
        current = [here]
        for cost, before, over in zip(row, above, above[1:], strict=False):
            here = min(before + cost, (over if over < here else here) + ALONE)
            current.append(here)
        least.append(current)
    return least


def assign(costs: Sequence[Sequence[int]]) -> list[AlignedPair]:
    """Return the pairs of the cheapest assignment, in the order of the points; order is free.

    Of equally cheap ones: going back from the last point, it is left alone if that can be, else it
    is paired with the last expectation that it can be paired with.

    Args:
        costs: What each point (row) costs beside each expectation (column).
    """
    points = _first_of_equals(costs)
    if not points:
        return []
    gains = [
        [_gain(costs[i], j, place, len(points)) for place, i in enumerate(points)]
        for j in range(len(costs[0]))
    ]
    return sorted(AlignedPair(points[pair.column], pair.row) for pair in best_pairs(gains))


def _gain(costs: Sequence[int], expectation: int, place: int, places: int) -> int:
    """Return what a pair saves beside leaving both alone, and below it what the rule of ties says.

    Its digits, one for each point, are what the point costs: nothing alone, the less the later the
    expectation.
    """
    saved, base = 2 * ALONE - costs[expectation], len(costs) + 1
    if saved <= 0:
        return 0
    gain: int = saved * base**places - (len(costs) - expectation) * base**place
    return gain


def _first_of_equals(costs: Sequence[Sequence[int]]) -> list[int]:
    """Return the points that can be paired: of equal costs the first, one for each expectation.

    The rule of ties leaves the others alone.
    """
    seen = Counter[tuple[int, ...]]()
    found = []
    for i, row in enumerate(map(tuple, costs)):
        seen[row] += 1
        if seen[row] <= len(row):
            found.append(i)
    return found
