"""Checks that the answer of a metric does not depend on the order of its input rows.

It must not: the order is one of many, and another engine, version or bucket may bring another.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, Final, TypeAlias

import pyarrow as pa

from tracegrade_scoring.metric_definition import OwnMetric
from tracegrade_scoring.own_metrics.header import MetricFault
from tracegrade_scoring.own_metrics.run_apart import MetricAnswer, run_metrics

_ROUNDING: Final = 1e-9
"""Tolerance for a number: sums of the same numbers in another order differ less."""
_SHUFFLES: Final = 3

_AnswerRows: TypeAlias = Mapping[str | None, Sequence[Mapping[str, Any]]]
"""By attempt."""


def order_faults(
    metrics: Sequence[OwnMetric], rows: Mapping[str, pa.Table]
) -> Iterator[tuple[str, MetricFault]]:
    """Yield the name of each metric that fails, or depends on the order of rows, with the reason.

    Numbers are compared up to rounding, and NaN is equal to itself; evidence has no order.

    Args:
        metrics: Metrics without other faults.
        rows: Rows of all relations, used in several orders.
    """
    answers = [run_metrics(metrics, each) for each in _orders(rows)]
    for metric in metrics:
        found = [each[metric.name] for each in answers]
        failed = next((each for each in found if isinstance(each, str)), None)
        if failed is not None:
            fact = f"over the runs of `tracegrade sample`: {failed}; let it bear all rows"
            yield metric.name, MetricFault(metric.origin, "does_not_run", fact)
        elif difference := next(
            filter(None, (_difference(found[0], each) for each in found)), None
        ):
            way_out = "let it sort what it takes by place, as in first(x ORDER BY step_index)"
            fact = f"{difference}; {way_out}"
            yield metric.name, MetricFault(metric.origin, "depends_on_order", fact)


def _orders(rows: Mapping[str, pa.Table]) -> Iterator[dict[str, pa.Table]]:
    """Yield rows in their order, backwards, and in a random order that is the same each time."""
    yield dict(rows)
    yield {
        name: table.take(pa.array(range(len(table))[::-1], pa.int64()))
        for name, table in rows.items()
    }
    for seed in range(_SHUFFLES):
        chance = Random(seed)  # noqa: S311 - no secret
        yield {
            name: table.take(pa.array(chance.sample(range(len(table)), len(table)), pa.int64()))
            for name, table in rows.items()
        }


def _difference(one: MetricAnswer, other: MetricAnswer) -> str | None:
    """Return in which attempt and column two answers differ first; None if they do not."""
    before, after = _by_attempt(one), _by_attempt(other)
    for attempt in sorted({*before, *after}, key=str):
        ours, theirs = before.get(attempt, ()), after.get(attempt, ())
        if len(ours) != len(theirs):
            counts = f"has {len(ours)} rows in one order of the rows and {len(theirs)} in another"
            return f"attempt {attempt} {counts}"
        for left, right in zip(ours, theirs, strict=True):
            for name, value in left.items():
                if not _equal(value, right[name]):
                    values = f"{value} in one order of the rows and {right[name]} in another"
                    return f"{name} of attempt {attempt} is {values}"
    return None


def _by_attempt(answer: MetricAnswer) -> _AnswerRows:
    found: dict[str | None, list[dict[str, Any]]] = {}
    for row in answer.to_pylist() if isinstance(answer, pa.Table) else ():
        steps = sorted(map(repr, row.pop("evidence") or ()))
        found.setdefault(row.pop("attempt_id"), []).append({**row, "evidence": steps})
    return {attempt: sorted(each, key=repr) for attempt, each in found.items()}


def _equal(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        both_missing = math.isnan(one) and math.isnan(other)
        return both_missing or math.isclose(one, other, rel_tol=_ROUNDING, abs_tol=_ROUNDING)
    return one == other
