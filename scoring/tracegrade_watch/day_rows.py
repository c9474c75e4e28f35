"""Turns rows of `day_sums` into the sums of tests, and into what an alert shows."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Final, TypeAlias

import numpy as np

from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_watch.alert import DayMean, Side, TaskChange
from tracegrade_watch.statistics.cells import Cells, numbered

DayRows: TypeAlias = Sequence[ResultRow]

MOST_TASKS: Final = 5
MOST_DAYS: Final = 60

_SUMS: Final = ("scored", "weight", "weight_square", "value_sum", "square_sum")


def scored_rows(rows: DayRows) -> list[ResultRow]:
    """Return the rows with a value."""
    return [row for row in rows if row["scored"]]


def cells_of(sides: Sequence[DayRows], *, by_task: bool = True) -> Cells:
    """Return the cells of rows with values, the days of each side numbered by themselves.

    Args:
        sides: Rows of each side, ordered by date.
        by_task: False takes all runs as those of one task.
    """
    rows = [(number, row) for number, side in enumerate(sides) for row in side]
    tasks = [row["task_id"] if by_task else None for _, row in rows]
    sums = (np.array([row[name] for _, row in rows], dtype=np.float64) for name in _SUMS)
    return Cells(
        numbered(tasks),
        numbered([(number, row["date"]) for number, row in rows]),
        np.array([number for number, _ in rows], dtype=np.int64),
        *sums,
    )


def side_of(release: str | None, rows: DayRows) -> Side:
    """Return the counts of one side."""
    weight = sum(row["weight"] for row in rows)
    scored = sum(row["scored"] for row in rows)
    mean = sum(row["value_sum"] for row in rows) / weight if weight else 0.0
    return Side(
        release,
        runs=sum(row["runs"] for row in rows),
        scored=scored,
        value_sum=round(mean * scored, 9),
        days=len({row["date"] for row in rows if row["scored"]}),
    )


def day_means(sides: Collection[tuple[str | None, DayRows]]) -> tuple[DayMean, ...]:
    """Return the means of the newest days of releases, the oldest first."""
    found = []
    for release, rows in sides:
        by_day: defaultdict[object, list[ResultRow]] = defaultdict(list)
        for row in scored_rows(rows):
            by_day[row["date"]].append(row)
        found += [DayMean(each[0]["date"], release, *_mean(each)) for each in by_day.values()]
    return tuple(sorted(found, key=lambda day: (day.date, str(day.release)))[-MOST_DAYS:])


def task_changes(base: DayRows, candidate: DayRows, better: int) -> tuple[TaskChange, ...]:
    """Return the tasks that got worse most, by the number of their runs; at most five."""
    sides = [_by_task(rows) for rows in (base, candidate)]
    changes = [
        (task, *_mean(sides[0][task]), *_mean(sides[1][task]))
        for task in sides[0].keys() & sides[1].keys()
    ]
    found = [TaskChange(*each) for each in changes]
    worse = [each for each in found if _worsened(each, better) > 0]
    worse.sort(key=lambda each: (-_worsened(each, better), str(each.task_id)))
    return tuple(worse[:MOST_TASKS])


def common_tasks(base: DayRows, candidate: DayRows) -> tuple[DayRows, DayRows]:
    """Return the rows of tasks that both sides have."""
    tasks = {row["task_id"] for row in base} & {row["task_id"] for row in candidate}
    first, last = ([row for row in rows if row["task_id"] in tasks] for rows in (base, candidate))
    return first, last


def _by_task(rows: DayRows) -> dict[str | None, list[ResultRow]]:
    found: defaultdict[str | None, list[ResultRow]] = defaultdict(list)
    for row in scored_rows(rows):
        found[row["task_id"]].append(row)
    return found


def _mean(rows: DayRows) -> tuple[int, float]:
    """Return the number of observations and their mean."""
    weight = sum(row["weight"] for row in rows)
    mean = sum(row["value_sum"] for row in rows) / weight
    return sum(row["scored"] for row in rows), round(mean, 9)


def _worsened(change: TaskChange, better: int) -> float:
    counts = (change.base_scored, change.candidate_scored)
    matters = counts[0] * counts[1] / sum(counts)
    return better * (change.base_mean - change.candidate_mean) * matters
