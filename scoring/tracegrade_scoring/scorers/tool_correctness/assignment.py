"""Pairs rows with columns, each used at most once: as many as can be, or with the largest gain."""

from collections.abc import Mapping, Sequence
from typing import Final

_UNREACHED: Final = 1 << 200
"""More than any sum of costs."""


def largest_matching(fitting: Sequence[Sequence[int]]) -> int:
    """Return how many rows can have a column of their own, given the columns that fit each."""
    holders: dict[int, int] = {}

    def place(row: int, tried: set[int]) -> bool:
        for column in fitting[row]:
            if column not in tried:
                tried.add(column)
                if column not in holders or place(holders[column], tried):
                    holders[column] = row
                    return True
        return False

    return sum(place(row, set()) for row in range(len(fitting)))


def largest_assignment(gains: Sequence[Sequence[int]]) -> int:
    """Return the largest sum of gains (none below 0) of pairs of a row and a column.

    The Hungarian method: rows are added one by one along a cheapest path; prices of rows and
    columns keep every cost beside them at 0 or more. O(rows² · columns).
    """
    width = max(len(gains), len(gains[0]))
    costs = [[-gain for gain in row] + [0] * (width - len(row)) for row in gains]
    row_prices, column_prices = [0] * len(costs), [0] * width
    row_of: dict[int, int] = {}
    column_of: dict[int, int] = {}
    for row in range(len(costs)):
        distances, before, end = _cheapest_path(row, costs, row_prices, column_prices, row_of)
        for passed, distance in distances.items():
            gap = distances[end] - distance
            column_prices[passed] -= gap
            if passed in row_of:
                row_prices[row_of[passed]] += gap
        row_prices[row] += distances[end]
        column: int | None = end
        while column is not None:
            row_of[column] = before[column]
            column_of[before[column]], column = column, column_of.get(before[column])
    return -sum(costs[row][column] for row, column in column_of.items())


def _cheapest_path(
    row: int,
    costs: Sequence[Sequence[int]],
    row_prices: Sequence[int],
    column_prices: Sequence[int],
    row_of: Mapping[int, int],
) -> tuple[dict[int, int], dict[int, int], int]:
    """Return how far the columns up to the nearest free one are, the row before each, and it."""
    known: dict[int, int] = {}
    before: dict[int, int] = {}
    open_ = dict.fromkeys(range(len(column_prices)), _UNREACHED)
    here, travelled = row, 0
    while True:
        for column, distance in open_.items():
            cost = costs[here][column] - row_prices[here] - column_prices[column]
            if travelled + cost < distance:
                open_[column], before[column] = travelled + cost, here
        nearest = min(open_, key=lambda column: open_[column])
        known[nearest] = travelled = open_.pop(nearest)
        if nearest not in row_of:
            return known, before, nearest
        here = row_of[nearest]
