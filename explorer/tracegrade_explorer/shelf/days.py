"""Single dates of a lake, each in a connection of its own, which plans queries for few files.

A query of one run over the tables of all dates takes longer to plan than to run: the engine looks
into each file for its columns.
"""

import threading
from datetime import date
from typing import Final

import pyarrow as pa
from duckdb import DuckDBPyConnection

from tracegrade_lake import RAW_LOGS, RAW_SPANS
from tracegrade_queries.engine.connection import Limits, connect_part
from tracegrade_queries.engine.pinned import PinnedLake, dated_on
from tracegrade_queries.engine.relations import given
from tracegrade_scoring.layer import SCORES

KEPT: Final = 4
"""Dates, those asked for last: readers mostly stay within a few."""
LIMITS: Final = Limits("10%")
"""Of the machine, for one date."""


class Days:
    """The dates of a lake as of one scoring run."""

    def __init__(self, pinned: PinnedLake, optima: pa.Table) -> None:
        """Open none yet.

        Args:
            pinned: The lake.
            optima: The rows of `observed_optima`, which are of the whole lake.
        """
        self._pinned = pinned
        self._optima = optima
        self._lock = threading.Lock()
        self._open: dict[date, DuckDBPyConnection] = {}

    def cursor(self, day: date) -> DuckDBPyConnection:
        """Return a cursor over the built tables and scores of one date, and no spans."""
        with self._lock:
            con = self._open.pop(day, None) or self._connect(day)
            self._open[day] = con
            if len(self._open) > KEPT:
                # Not closed: pages may read it. It ends with the last cursor.
                self._open.pop(next(iter(self._open)))
            return con.cursor()

    def close(self) -> None:
        """Close all."""
        with self._lock:
            for con in self._open.values():
                con.close()
            self._open.clear()

    def _connect(self, day: date) -> DuckDBPyConnection:
        keep = dated_on([day.isoformat()])
        tables = self._pinned.tables.keys() - {RAW_SPANS.name, RAW_LOGS.name}
        con = connect_part(self._pinned.only(dict.fromkeys(tables, keep)), (SCORES,), LIMITS)
        con.execute("DROP VIEW IF EXISTS observed_optima")
        with given(con, "_optima", self._optima):
            con.execute("CREATE TABLE observed_optima AS FROM _optima")
        return con
