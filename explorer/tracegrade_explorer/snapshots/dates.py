"""Single dates of a lake, each in a connection of its own, which plans queries of few files.

A query of one run over the tables of all dates takes longer to plan than to run. The engine reads
the columns of each file for it.
"""

import threading
from collections.abc import Mapping
from datetime import date
from typing import Final

import pyarrow as pa
from duckdb import DuckDBPyConnection

from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import Limits, connect_pinned
from tracegrade_queries.engine.pinned import PinnedLake, dated_on
from tracegrade_queries.engine.relations import given
from tracegrade_queries.schema import AGENTS, STEPS, TRAJECTORIES
from tracegrade_scoring.job.replaced import MADE_AGAIN
from tracegrade_scoring.schema import (
    CUSTOM_SCORES,
    DECISIONS,
    FAILED_CALLS,
    FAILURES,
    RUN_REASONS,
    SUB_GOALS,
    TRAJECTORY_SCORES,
)
from tracegrade_scoring.sql import unordered

TABLES: Final = (
    STEPS, TRAJECTORIES, AGENTS, TRAJECTORY_SCORES, DECISIONS, SUB_GOALS, FAILURES, FAILED_CALLS,
    RUN_REASONS, CUSTOM_SCORES,
)  # fmt: skip
"""Tables that pages read of one date; each more takes time when a date is opened."""
MAX_DATES: Final = 4
"""Dates, those asked for last: readers mostly stay within a few."""
LIMITS: Final = Limits("10%")
"""Limits for one date, as a share of the machine."""


class Dates:
    """The dates of a lake as of one scoring run."""

    def __init__(self, pinned: PinnedLake, whole: Mapping[str, pa.Table]) -> None:
        """Open none yet.

        Args:
            pinned: The lake.
            whole: By name, the rows of relations that are of the whole lake.
        """
        self._pinned = pinned
        self._whole = whole
        self._lock = threading.Lock()
        self._open: dict[date, DuckDBPyConnection] = {}

    def cursor(self, received: date) -> DuckDBPyConnection:
        """Return a cursor over `TABLES` of one date, and the relations made from them."""
        with self._lock:
            con = self._open.pop(received, None) or self._connect(received)
            self._open[received] = con
            if len(self._open) > MAX_DATES:
                # Not closed: pages may read it. It ends with the last cursor.
                self._open.pop(next(iter(self._open)))
            return con.cursor()

    def were_replaced(self, lake: Lake) -> bool:
        """Return whether files of these dates are no longer in the tables of the lake."""
        for name in MADE_AGAIN.intersection(self._pinned.tables):
            table = self._pinned.tables[name]
            if lake.version(name) != table.version:
                live = {file.path for file in lake.live_files(name)}
                if any(file.path not in live for file in table.files):
                    return True
        return False

    def close(self) -> None:
        """Close all."""
        with self._lock:
            for con in self._open.values():
                con.close()
            self._open.clear()

    def _connect(self, received: date) -> DuckDBPyConnection:
        keep = dated_on([received.isoformat()])
        part = self._pinned.only({table.name: keep for table in TABLES})
        con = connect_pinned(part, TABLES, LIMITS)
        for whole, rows in self._whole.items():
            with given(con, "_whole", rows):
                con.execute(f"CREATE TABLE {whole} AS FROM _whole")
        name = "observed_step_scores"
        con.execute(f"CREATE VIEW {name} AS {unordered(name)}")
        return con
