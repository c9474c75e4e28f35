"""How a reader meets the metrics of users' own: as their definitions in the lake say."""

from collections.abc import Iterable
from typing import Final

from pydantic import ValidationError

from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_scoring.metric_definition import OwnMetric
from tracegrade_scoring.metrics import Metric

OWN_METRICS: Final = "own_metrics"
"""The query whose rows are read here."""


def own_metrics(rows: Iterable[ResultRow]) -> dict[str, Metric]:
    """Return them by name; without those whose definition another version wrote.

    Args:
        rows: Of OWN_METRICS.
    """
    found = {}
    for row in rows:
        try:
            found[row["name"]] = OwnMetric(**row).shown
        except ValidationError:  # it is shown under its name, as without a definition
            continue
    return found
