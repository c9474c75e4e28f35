"""Reads labels and meanings of users' own metrics from their definitions in the lake."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from duckdb import DuckDBPyConnection
from pydantic import ValidationError

from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_scoring.metric_definition import OwnMetric
from tracegrade_scoring.metrics import Metric
from tracegrade_scoring.rendering.rows import read_rows

OWN_METRICS: Final = "own_metrics"
"""The query whose rows are read here."""


def own_metrics(rows: Iterable[ResultRow]) -> dict[str, Metric]:
    """Return them by name; without those whose definition another version wrote.

    Args:
        rows: Of OWN_METRICS.
    """
    return {name: metric for name, metric in _read(rows) if metric is not None}


def note_unreadable(con: DuckDBPyConnection, note: Callable[[str], object]) -> None:
    """Note in one line which metrics have a definition that cannot be read, if any has.

    Args:
        con: A connection with the layer of scores.
        note: Gets the line.
    """
    names = [name for name, metric in _read(read_rows(con, OWN_METRICS)) if metric is None]
    if names:
        note(
            f"another version wrote the definitions of these metrics: {', '.join(names)}; each "
            "has its name as its label, and is a ratio over all runs; define them again with "
            "tracegrade score --metrics"
        )


def _read(rows: Iterable[ResultRow]) -> Iterator[tuple[str, Metric | None]]:
    for row in rows:
        try:
            yield row["name"], OwnMetric(**row).shown
        except ValidationError:
            yield row["name"], None
