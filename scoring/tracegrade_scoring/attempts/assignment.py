"""Pairs rows with columns, each used at most once: the most pairs, or the largest gain."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class AssignedPair(NamedTuple):
    """A row and the column that it has, both counted from 0."""

    row: int
    column: int


def largest_matching(fitting: Sequence[Sequence[int]]) -> int:
    """Return how many rows can have a column of their own, given the columns that fit each."""
    holders: dict[int, int] = {}
    return sum(_find_column(row, fitting, holders) for row in range(len(fitting)))


def _find_column(row: int, fitting: Sequence[Sequence[int]], holders: dict[int, int]) -> bool:
    """Give a row a column, and move other rows to make room; False if no column can be freed."""
    row_wanting: dict[int, int] = {}
    waiting = [row]
    for asking in waiting:
        for column in fitting[asking]:
            if column in row_wanting:
                continue
            row_wanting[column] = asking
            if column not in holders:
                _make_room(column, row, row_wanting, holders)
                return True
            waiting.append(holders[column])
    return False


def _make_room(
    free: int, row: int, row_wanting: Mapping[int, int], holders: dict[int, int]
) -> None:
    """Move each row along the path to the free column by one, so that `row` has one too."""
    column_of = {holder: column for column, holder in holders.items()}
    asking = row_wanting[free]
    while asking != row:
        holders[free], free = asking, column_of[asking]
        asking = row_wanting[free]
    holders[free] = row


def largest_assignment(gains: Sequence[Sequence[int]]) -> int:
    """Return the largest sum of gains (none below 0) of pairs of a row and a column."""
    return sum(gains[pair.row][pair.column] for pair in best_pairs(gains))


def best_pairs(gains: Sequence[Sequence[int]]) -> list[AssignedPair]:
    """Return the pairs whose gains (none below 0) have the largest sum; none without a gain.

    The Hungarian method: rows are added one by one along a cheapest path, and prices of rows and
    columns keep every reduced cost at 0 or more. O(rows² · columns).

    Args:
        gains: At least one row; all of one length.
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
    return [AssignedPair(row, column) for column, row in row_of.items() if costs[row][column]]


def _cheapest_path(
    row: int,
    costs: Sequence[Sequence[int]],
    row_prices: Sequence[int],
    column_prices: Sequence[int],
    row_of: Mapping[int, int],
) -> tuple[dict[int, int], dict[int, int], int]:
    """Return how far the columns up to the nearest free one are, the row before each, and it."""
    open_ = {
        column: cost - row_prices[row] - column_prices[column]
        for column, cost in enumerate(costs[row])
    }
    known, before = dict[int, int](), dict.fromkeys(open_, row)
    while True:
        nearest = min(open_, key=open_.__getitem__)
        known[nearest] = traveled = open_.pop(nearest)
        if nearest not in row_of:
            return known, before, nearest
        here = row_of[nearest]
        for column, distance in open_.items():
            reached = traveled + costs[here][column] - row_prices[here] - column_prices[column]
            if reached < distance:
                open_[column], before[column] = reached, here
