"""Aligns the decision points of an attempt with what its task expects, at least cost.

In order, or as they fit best where the task says that order does not matter. Pure, and asked once
for each *distinct* problem: many attempts pose the same one.

Source: docs/metrics.md, section 1.2. Costs: tool and arguments as expected 0, other arguments 1,
another tool 3 (only where the list is complete), a point or an expectation that stays alone 2.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Final, Literal, NamedTuple, TypeAlias

from tracegrade_scoring.attempts.assignment import best_pairs

COSTS: Final = {"arguments": 0, "tool": 1}
"""The cost of a pair, by what fits."""

ALONE: Final = 2
OTHER_TOOL: Final = 3
NEVER: Final = 1 << 30
"""The cost of what cannot be paired."""


Fit: TypeAlias = Literal["arguments", "tool", "named"]


class AlignedPair(NamedTuple):
    """One decision point that meets one expectation, both counted from 0."""

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


class FittingPair(NamedTuple):
    """A decision point and an expectation that it may meet, both counted from 0."""

    point: int
    position: int
    fit: Fit


class AlignmentProblem(NamedTuple):
    """The problem of an alignment; the fields are columns of `alignment_problems.sql`."""

    expected: int
    complete: bool
    free_order: bool
    made: int
    pairs: tuple[FittingPair, ...]

    def named(self) -> dict[int, int]:
        """Return the first point that names an expectation, by the expectation."""
        return {j: i for i, j, fit in reversed(self.pairs) if fit == "named"}

    def costs(self) -> dict[tuple[int, int], int]:
        """Return what the pairs of a point and an expectation cost whose tool fits."""
        return {(i, j): COSTS[fit] for i, j, fit in self.pairs if fit != "named"}


@lru_cache(maxsize=1 << 14)
def decisions(problem: AlignmentProblem) -> tuple[Decision, ...]:
    """Return the decision points of a problem in order, and the expectations that were missed.

    A point that names an expectation meets it; if several do, the first. The others are aligned. A
    missed expectation comes after the last point that met an earlier one.
    """
    if not problem.expected and not problem.made:
        return (NO_CALL,)
    costs = problem.costs()
    met = _aligned(problem, costs)
    alone = set(range(problem.made)).difference(met.values())
    placed = [(point, False, Decision(point, None, False)) for point in alone]
    last = -1
    for expectation in range(problem.expected):
        point = met.get(expectation)
        if point is None:
            placed.append((last, True, Decision(None, expectation, False)))
        else:
            last = max(last, point)
            fits = (point, expectation) in costs
            placed.append((point, False, Decision(point, expectation, fits)))
    return tuple(decision for *_, decision in sorted(placed, key=itemgetter(0, 1)))


def _aligned(problem: AlignmentProblem, costs: Mapping[tuple[int, int], int]) -> dict[int, int]:
    """Return the point that meets each expectation, for expectations with a point."""
    named = problem.named()
    other_tool = OTHER_TOOL if problem.complete else NEVER
    points = sorted(set(range(problem.made)).difference(named.values()))
    expectations = [j for j in range(problem.expected) if j not in named]
    table = [[costs.get((i, j), other_tool) for j in expectations] for i in points]
    pairs = assign(table) if problem.free_order else align(table)
    return named | {expectations[pair.expectation]: points[pair.point] for pair in pairs}


def align(costs: Sequence[Sequence[int]]) -> list[AlignedPair]:
    """Return the pairs of the cheapest alignment, in order.

    Ties are decided from the end backwards: a point is left alone if possible, else it is paired
    if possible, else the expectation is left alone.

    Args:
        costs: The cost of each point (row) with each expectation (column).
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

    Ties are decided from the last point backwards: a point is left alone if possible, else it is
    paired with the last possible expectation.

    Args:
        costs: The cost of each point (row) with each expectation (column).
    """
    points = _first_of_equals(costs)
    if not points:
        return []
    gains = [
        [_gain(costs[i], j, rank, len(points)) for rank, i in enumerate(points)]
        for j in range(len(costs[0]))
    ]
    return sorted(AlignedPair(points[pair.column], pair.row) for pair in best_pairs(gains))


def _gain(costs: Sequence[int], expectation: int, rank: int, places: int) -> int:
    """Return the saving of a pair over leaving both alone; its lower digits decide ties.

    The digits, one for each point, are the cost of the point: nothing if alone, and less for a
    later expectation.
    """
    saved, base = 2 * ALONE - costs[expectation], len(costs) + 1
    if saved <= 0:
        return 0
    gain: int = saved * base**places - (len(costs) - expectation) * base**rank
    return gain


def _first_of_equals(costs: Sequence[Sequence[int]]) -> list[int]:
    """Return the points that can be paired: of equal costs the first, one for each expectation.

    The rule of ties leaves the others alone.
    """
    uses = Counter[tuple[int, ...]]()
    found = []
    for i, row in enumerate(map(tuple, costs)):
        uses[row] += 1
        if uses[row] <= len(row):
            found.append(i)
    return found
