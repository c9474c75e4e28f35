"""Metrics of users' own in Python: how one is declared.

They are the operator's code, run in a process of their own, and are never kept by a lake. It
imports little, because that process imports it for each metric in each bucket.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

import pyarrow as pa

MetricTables: TypeAlias = Mapping[str, pa.Table]
"""The tables that a metric reads, by name."""

MetricFunction: TypeAlias = Callable[[MetricTables], pa.Table]


class PythonMetric(NamedTuple):
    """A function that is a metric."""

    function: MetricFunction
    declared: Mapping[str, object]
    """What it says about itself, as fields of a definition; not checked yet."""


def metric(  # noqa: PLR0913 - one for each thing that a header of SQL says
    name: str,
    *,
    version: str,
    meaning: str,
    reads: Sequence[str],
    kind: str,
    low: float | None = None,
    high: float | None = None,
    better: Literal["less", "none", "more"] = "none",
    unit: str = "runs",
    label: str | None = None,
) -> Callable[[MetricFunction], PythonMetric]:
    """Make a function a metric; an entry point of the group `tracegrade.metrics` names it.

    The function gets the relations that it reads as Arrow tables, and returns one row for each
    attempt with the columns of an answer. It must depend on nothing else, and not on the order of
    rows.

    Args:
        name: Small letters, digits and underscores.
        version: A new version makes all attempts be scored again.
        meaning: Its meaning, in a sentence.
        reads: Names of relations.
        kind: How values add up: share | count | ratio | task_mean.
        low: The least value; None without a bound.
        high: The greatest value; None without a bound.
        better: Which way is better: less | none | more.
        unit: What is counted.
        label: Its name for readers; None: made of its name.
    """
    declared = {
        "name": name,
        "version": version,
        "low": low,
        "high": high,
        "better": better,
        "kind": kind,
        "unit": unit,
        "meaning": meaning,
        "reads": tuple(sorted(reads)),
        **({} if label is None else {"label": label}),
    }
    return lambda function: PythonMetric(function, declared)
