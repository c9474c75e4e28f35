"""The definitions of users' own metrics in a lake: all metrics of its last scoring run.

Its own module because the operator may not have written a text in a lake: anyone who can write to
the lake may have. So it is read as a definition, and runs only on request.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pydantic import ValidationError

from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import open_lake
from tracegrade_scoring.errors import MetricInvalid
from tracegrade_scoring.metric_definition import METRIC_DEFINITIONS, OwnMetric

_DERIVED: Final = {"position", "metric_hash"}


def store_metrics(lake: Lake, metrics: Sequence[OwnMetric]) -> None:
    """Let the lake keep these definitions; nothing is written if it does."""
    rows = list(definition_rows(metrics))
    if rows != _stored_rows(lake):
        lake.replace(METRIC_DEFINITIONS, pa.Table.from_pylist(rows, METRIC_DEFINITIONS.arrow()))


def stored_metrics(lake: Lake) -> tuple[OwnMetric, ...]:
    """Return the metrics stored in a lake, by name; none of them may run yet.

    Raises:
        MetricInvalid: Another version wrote a metric.
    """
    return metrics_of(_stored_rows(lake), str(lake.location))


def stored_metric_names(location: str | Path, note: Callable[[str], object]) -> list[str]:
    """Return the names of the metrics that the lake at a path or URL keeps.

    Args:
        location: Of the lake.
        note: Gets a line if reading it takes longer.
    """
    return [metric.name for metric in stored_metrics(open_lake(location, note))]


def metrics_of(rows: Sequence[dict[str, Any]], location: str) -> tuple[OwnMetric, ...]:
    """Return the metrics in rows of METRIC_DEFINITIONS; none of them may run yet.

    Args:
        rows: In their order.
        location: Location of the lake, for messages.

    Raises:
        MetricInvalid: Another version wrote a metric.
    """
    try:
        return tuple(
            OwnMetric(**{k: v for k, v in row.items() if k not in _DERIVED}, runs=False)
            for row in rows
        )
    except ValidationError as error:
        msg = (
            f"metrics that the lake at {location} keeps are of another version; give them again "
            "with --metrics, or drop them with --forget-metrics"
        )
        raise MetricInvalid(msg) from error


def definition_rows(metrics: Sequence[OwnMetric]) -> Iterator[dict[str, Any]]:
    """Yield the rows of `METRIC_DEFINITIONS` of these metrics."""
    for position, metric in enumerate(metrics):
        fields = metric.model_dump(mode="json", exclude={"runs"})
        row = {"position": position, **fields, "metric_hash": metric.hash}
        yield {**row, "reads": [*metric.reads]}


def _stored_rows(lake: Lake) -> list[dict[str, Any]]:
    dataset = lake.dataset(METRIC_DEFINITIONS.name)
    rows = dataset.to_table().to_pylist() if dataset else []
    return sorted(rows, key=lambda row: row["position"])
