"""Says per metric how many trajectories were scored, and why the others were not."""

from collections.abc import Iterator
from itertools import groupby
from typing import Final

import duckdb

from tracegrade_collector.lake import Lake
from tracegrade_queries.connection import connect
from tracegrade_queries.sql import query
from tracegrade_scoring.metrics import METRICS
from tracegrade_scoring.schema import SCORE_TABLES

_ORDER: Final = {name: place for place, name in enumerate(METRICS)}


def summary_lines(lake: Lake) -> Iterator[str]:
    """Yield one line per metric: scored, not applicable and in error, with the reasons."""
    with connect(lake, tables=SCORE_TABLES) as con:
        rows = _statuses(con)
    rows.sort(key=lambda row: (_ORDER[row[0]], row[1] != "scored", row[1], -row[3], row[2] or ""))
    for metric, found in groupby(rows, key=lambda row: row[0]):
        parts = [
            f"{count} {status.replace('_', ' ')}" + (f" ({reason})" if reason else "")
            for _, status, reason, count in found
        ]
        yield f"{metric:<30} {', '.join(parts)}"


def _statuses(con: duckdb.DuckDBPyConnection) -> list[tuple[str, str, str | None, int]]:
    return con.sql(query("score_statuses")).fetchall()
