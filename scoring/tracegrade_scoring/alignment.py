"""Aligns the decision points of an attempt with what its task expects, in order, at least cost.

Pure, and asked once for each *distinct* problem: many attempts pose the same one. A problem is a
text (see `alignment_problems.sql`): one letter for each pair of a decision point and an
expectation, the letters of one point together, points parted by commas.

Source: metrics.md, section 1. Costs: tool and arguments as expected 0, other arguments 1, another
tool 3, a point or an expectation that stays alone 2.
"""

from typing import Final, NamedTuple

ALONE: Final = 2
COSTS: Final = {"0": 0, "1": 1, "3": 3}
"""What each letter costs; a letter that is not here cannot be paired."""

_NEVER: Final = 1 << 30


class Pair(NamedTuple):
    """One decision point that stands for one expectation, both counted from 0 in the problem."""

    point: int
    expectation: int


def align(problem: str) -> list[Pair]:
    """Return the pairs of the cheapest alignment, in order.

    Of equally cheap ones: going back from the end, a point is left alone if that can be, else it
    is paired if that can be, else the expectation is left alone.
    """
    costs = [[COSTS.get(letter, _NEVER) for letter in letters] for letters in problem.split(",")]
    least = _least_costs(costs)
    pairs: list[Pair] = []
    i, j = len(costs), len(costs[0])
    while i and j:
        if least[i][j] == least[i - 1][j] + ALONE:
            i -= 1
        elif least[i][j] == least[i - 1][j - 1] + costs[i - 1][j - 1]:
            i, j = i - 1, j - 1
            pairs.append(Pair(i, j))
        else:
            j -= 1
    return pairs[::-1]


def _least_costs(costs: list[list[int]]) -> list[list[int]]:
    """Return the least cost of aligning the first i points with the first j expectations."""
    least = [[ALONE * j for j in range(len(costs[0]) + 1)]]
    for i, row in enumerate(costs, start=1):
        above, current = least[-1], [ALONE * i]
        for j, cost in enumerate(row):
            alone = min(above[j + 1], current[j]) + ALONE
            current.append(min(alone, above[j] + cost))
        least.append(current)
    return least
