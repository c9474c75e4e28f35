"""Sums of a metric by side, task and day, from which the tests of this folder are computed.

The last axis of each array has one entry for each cell. Simulations add an axis of repetitions
before it, so that they run the same code.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Indices: TypeAlias = npt.NDArray[np.int64]


class Cells(NamedTuple):
    """Observations of some tasks on some days, added up."""

    task: Indices
    """Number of each cell's task, from 0."""
    day: Indices
    """Number of each cell's day, from 0; days of two sides have different numbers."""
    side: Indices
    """0 for the base, 1 for the candidate."""
    scored: Floats
    """Number of observations."""
    weight: Floats
    """Sum of their sample weights."""
    weight_square: Floats
    """Sum of the squares of these."""
    value_sum: Floats
    """Sum of the values, by weight."""
    square_sum: Floats
    """Sum of the squares of the values, by weight."""

    def where(self, chosen: npt.NDArray[np.bool_]) -> "Cells":
        """Return the cells that a mask chooses."""
        return Cells(
            self.task[chosen],
            self.day[chosen],
            self.side[chosen],
            *(each[..., chosen] for each in self[3:]),
        )

    @property
    def tasks(self) -> int:
        """Number of tasks."""
        return int(self.task.max(initial=-1)) + 1

    @property
    def days(self) -> int:
        """Number of days."""
        return int(self.day.max(initial=-1)) + 1


def added_by(numbers: Indices, size: int, values: Floats) -> Floats:
    """Return the sums of the values whose cells have the same number.

    Args:
        numbers: One for each cell, from 0.
        size: One more than the greatest.
        values: The last axis has the cells.
    """
    if values.ndim == 1:
        added: Floats = np.bincount(numbers, values, size).astype(np.float64)
        return added
    flat = values.reshape(-1, values.shape[-1])
    rows = np.arange(len(flat))[:, np.newaxis] * size + numbers
    sums = np.bincount(rows.ravel(), flat.ravel(), len(flat) * size).astype(np.float64)
    return sums.reshape(*values.shape[:-1], size)


def numbered(values: Sequence[Any]) -> Indices:
    """Return a number for each value, from 0 in the order of first occurrence."""
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(each, len(numbers)) for each in values], dtype=np.int64)


def share(numerator: Floats, denominator: Floats) -> Floats:
    """Return quotients, 0 where the denominator is 0."""
    known = denominator > 0
    return np.where(known, numerator / np.where(known, denominator, 1), 0.0)
