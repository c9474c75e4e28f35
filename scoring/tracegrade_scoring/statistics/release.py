"""Adds scores up to release scores: value, counts, interval and flags.

Grain: cohort (agent, release, run mode: never pooled), task category and metric. A task is the
unit that is resampled, since runs of one task resemble one another. Runs without a known task are
one unit together. A value is pooled, Σ numerators / Σ denominators, but for planning quality and
rollback-ability: there it is the mean over tasks of the mean over runs (docs/metrics.md,
section 7.4).
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from math import fsum
from typing import Final

import duckdb
import pyarrow as pa

from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_scoring.metric_definition import OwnMetric
from tracegrade_scoring.metrics import METRICS, Kind, Metric, counts_decision_points
from tracegrade_scoring.schema import RELEASE_SCORES
from tracegrade_scoring.sql import query
from tracegrade_scoring.statistics.intervals import LEVEL, MIN_TASKS, Interval, bootstrap, wilson

MIN_TASK_TYPES: Final = 10
MIN_DECISION_POINTS: Final = 50
"""Below these estimates have too much variance ([Triangle], "Measuring TSA")."""

_KEY: Final = ("release", "agent_name", "run_mode", "task_category", "metric")


def release_scores(
    con: duckdb.DuckDBPyConnection,
    level: float = LEVEL,
    metrics: Iterable[OwnMetric | Metric] = (),
) -> pa.Table:
    """Return the rows of `release_scores` over every trajectory of the lake, sorted by key.

    Args:
        con: Holds `current_sums`, see `sums.py`.
        level: Of the intervals, between 0 and 1.
        metrics: Of users' own, which say how their values add up.
    """
    own = {metric.name: metric.kind for metric in metrics}
    kinds = {**{name: metric.kind for name, metric in METRICS.items()}, **own}
    sums = con.sql(query("task_sums")).to_arrow_table().to_pylist()
    rows = [
        _release_score(key, list(tasks), level, kinds.get(key["metric"], Kind.RATIO))
        for key, tasks in _cells(sums)
    ]
    return pa.Table.from_pylist(rows, schema=RELEASE_SCORES.arrow())


def _cells(sums: Sequence[ResultRow]) -> Iterator[tuple[ResultRow, Iterator[ResultRow]]]:
    """Yield each cell with the sums of its tasks, in the order of task ids."""
    for key, tasks in groupby(sums, key=lambda row: tuple(row[name] for name in _KEY)):
        yield dict(zip(_KEY, key, strict=True)), tasks


def _release_score(
    key: ResultRow, tasks: Sequence[ResultRow], level: float, kind: Kind
) -> ResultRow:
    """Return the row of one cell.

    Args:
        key: Of the cell.
        tasks: The sums of each task in it.
        level: Of the interval.
        kind: How values of its metric add up.
    """
    scored = [task for task in tasks if task["scored"]]
    if kind is Kind.TASK_MEAN:
        scored = [_as_mean(task) for task in scored]
    numerator, denominator = total(scored, "numerator"), total(scored, "denominator")
    interval = interval_over_tasks(scored, level, is_share=kind is Kind.SHARE)
    return {
        **key,
        "value": numerator / denominator if numerator is not None and denominator else None,
        "numerator": numerator,
        "denominator": denominator,
        "low": interval and interval.low,
        "high": interval and interval.high,
        "interval_method": interval and interval.method,
        **{count: sum(task[count] for task in tasks) for count in _COUNTS},
        "trajectories": sum(task[count] for task in tasks for count in _COUNTS),
        "flags": _flags(key["metric"], scored),
        "mean": _mean(scored),
        "tasks": count_known_tasks(scored),
    }


_COUNTS: Final = ("scored", "not_applicable", "error")


def _as_mean(task: ResultRow) -> ResultRow:
    """Return the sums of a task as one observation: the mean of its runs."""
    return {**task, "numerator": task["value_sum"] / task["weight"], "denominator": 1.0}


def total(scored: Sequence[ResultRow], column: str) -> float | None:
    """Return the exact sum, rounded once; None if none was scored."""
    return fsum(task[column] for task in scored) if scored else None


def _mean(scored: Sequence[ResultRow]) -> float | None:
    values, weight = total(scored, "value_sum"), total(scored, "weight")
    return values / weight if values is not None and weight else None


def count_known_tasks(scored: Sequence[ResultRow]) -> int:
    """Return how many rows are of a known task."""
    return sum(task["task_id"] is not None for task in scored)


def interval_over_tasks(
    scored: Sequence[ResultRow], level: float, *, is_share: bool
) -> Interval | None:
    """Return Wilson's interval of a share if every task has one observation, else a bootstrap."""
    known = count_known_tasks(scored)
    single = known == len(scored) and all(task["single"] for task in scored)
    if scored and single and is_share:
        return wilson(sum(task["numerator"] for task in scored), len(scored), level)
    if known < MIN_TASKS:
        return None
    return bootstrap(
        [task["numerator"] for task in scored], [task["denominator"] for task in scored], level
    )


def _flags(metric: str, scored: Sequence[ResultRow]) -> list[str]:
    """Return what a reader must know about the sample; nothing where nothing was scored."""
    if not scored:
        return []
    known = count_known_tasks(scored)
    points = sum(task["observations"] for task in scored)
    few_points = counts_decision_points(metric) and points < MIN_DECISION_POINTS
    flags = ["insufficient_sample"] if known < MIN_TASK_TYPES or few_points else []
    return flags + (["few_tasks"] if known < MIN_TASKS else [])
