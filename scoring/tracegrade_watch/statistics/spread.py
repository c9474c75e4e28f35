"""How much observations of a task vary, and days more than these explain."""

from typing import Final

import numpy as np

from tracegrade_watch.statistics.cells import Cells, Floats, added_by, share

SIDES: Final = 2


class TaskSides:
    """Sums of both sides for each task; the last axis has the tasks."""

    def __init__(self, cells: Cells) -> None:
        """Add up the cells of each task and side."""
        numbers = cells.side * cells.tasks + cells.task
        weights, squares, values, value_squares = (
            np.split(added_by(numbers, SIDES * cells.tasks, each), SIDES, -1)
            for each in (cells.weight, cells.weight_square, cells.value_sum, cells.square_sum)
        )
        self.weights = weights
        """Sums of weights, by side."""
        self.counts = [share(w**2, s) for w, s in zip(weights, squares, strict=True)]
        """Observations of weight 1 that say as much, by side."""
        self.means = [share(v, w) for v, w in zip(values, weights, strict=True)]
        """By side."""
        weight = np.add(*weights)
        self.total = share(weight**2, np.add(*squares))
        """As `counts`, of both sides together."""
        self.mean = share(np.add(*values), weight)
        """Of both sides together."""
        own = np.maximum(share(np.add(*value_squares), weight) - self.mean**2, 0)
        of_all = share(
            (self.total * own).sum(-1, keepdims=True),
            np.maximum(self.total - 1, 0).sum(-1, keepdims=True),
        )
        self.variance = share(self.total * own + of_all, self.total)
        """Of one observation: the task's own, and that of all tasks as one more observation."""


def overdispersion(cells: Cells, tasks: TaskSides) -> Floats:
    """Return the variance of day totals in relation to that of chance alone; at least 1.

    A day's total is compared with that of the same runs at the means of their side's tasks. For
    one task this is Pearson's chi-square of the days, divided by their number less the sides.
    """
    means = np.stack(tasks.means, -2)[..., cells.side, cells.task]
    weights = np.stack(tasks.weights, -2)[..., cells.side, cells.task]
    variance = tasks.variance[..., cells.task] * cells.weight_square
    excess, chance, free = (
        added_by(cells.day, cells.days, each)
        for each in (
            cells.value_sum - cells.weight * means,
            variance,
            variance * (1 - share(cells.weight, weights)),
        )
    )
    freedom = share(free, chance).sum(-1)
    return np.maximum(1, share(share(excess**2, chance).sum(-1), freedom))
