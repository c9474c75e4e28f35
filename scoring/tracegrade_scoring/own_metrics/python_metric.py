"""Metrics of users' own in Python: how one is declared, and how it is run.

They are the operator's code, run where scoring runs, and are never kept by a lake.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import pyarrow as pa

from tracegrade_scoring.metric_definition import Better, OwnMetric
from tracegrade_scoring.metrics import Kind
from tracegrade_scoring.own_metrics.answers import COLUMNS, MOST_EVIDENCE, columns_fault
from tracegrade_scoring.own_metrics.header import words_of

MetricAnswer: TypeAlias = pa.Table | str
"""The rows of a metric, with the columns of an answer; or why there are none."""

MetricTables: TypeAlias = Mapping[str, pa.Table]
"""What a metric reads, by name."""

MetricFunction: TypeAlias = Callable[[MetricTables], pa.Table]


class PythonMetric(NamedTuple):
    """A function that is a metric."""

    function: MetricFunction
    definition: OwnMetric
    """What it says about itself; where it comes from is not known yet."""


def metric(  # noqa: PLR0913 - one for each thing that a header of SQL says
    name: str,
    *,
    version: str,
    meaning: str,
    reads: Sequence[str],
    kind: str,
    low: float | None = None,
    high: float | None = None,
    better: Better = "none",
    unit: str = "runs",
    label: str | None = None,
) -> Callable[[MetricFunction], PythonMetric]:
    """Let a function be a metric; an entry point of the group `tracegrade.metrics` names it.

    The function gets the relations that it reads as Arrow tables, and returns one row for each
    attempt with the columns of an answer. It depends on nothing else, nor on the order of rows.

    Args:
        name: Small letters, digits and underscores.
        version: Another one has all attempts scored again.
        meaning: What it says, in a sentence.
        reads: Names of relations.
        kind: How values add up: share | count | ratio | task_mean.
        low: The least value; None without a bound.
        high: The greatest value; None without a bound.
        better: Which way is better: less | none | more.
        unit: What is counted.
        label: Its name for readers; None: made of its name.

    Raises:
        pydantic.ValidationError: One of these cannot be so.
    """
    definition = OwnMetric(
        name=name,
        version=version,
        low=low,
        high=high,
        better=better,
        kind=Kind(kind),
        unit=unit,
        label=label or words_of(name),
        meaning=meaning,
        reads=tuple(sorted(reads)),
        origin="",
    )
    return lambda function: PythonMetric(function, definition)


def run_function(function: MetricFunction, rows: MetricTables) -> MetricAnswer:
    """Return the rows that a function answers, or why there are none; whatever it raises.

    Args:
        function: Of a metric.
        rows: All that it reads.
    """
    try:
        return _answer(function(rows))
    except Exception as error:  # noqa: BLE001 - it is not our code, and harms no other metric
        return " ".join(f"{type(error).__name__}: {error}".split())


def _answer(found: pa.Table) -> MetricAnswer:
    if fault := columns_fault(found.column_names):
        return fault
    columns = [_column(found, field) for field in COLUMNS]
    return pa.table(columns, pa.schema(COLUMNS))


def _column(found: pa.Table, field: pa.Field) -> pa.ChunkedArray | pa.Array:
    if field.name in found.column_names:
        column = found[field.name]
        if field.name == "evidence":
            lists = [(steps or ())[:MOST_EVIDENCE] for steps in column.to_pylist()]
            return pa.array(lists, field.type)
        return column.cast(field.type)
    filled = 1.0 if field.name == "denominator" else None
    return pa.repeat(pa.scalar(filled, field.type), len(found))
