"""Builds steps and trajectories from the raw spans of every trace that got new ones.

Traces are independent, so they are worked off in buckets (hashes of the trace id) that bound the
memory of the engine. What has been built is noted in the commit that writes the trajectories,
which comes last: a crash before it repeats work and changes nothing else.
"""

import datetime
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import duckdb
import pyarrow as pa

from tracegrade_collector.lake import Lake, Table
from tracegrade_queries.connection import connect
from tracegrade_queries.passes import split_into_steps
from tracegrade_queries.schema import STEPS, TRAJECTORIES
from tracegrade_queries.sql import query

BUCKET_SPANS: Final = 500_000
"""Spans that one bucket aims at."""


_RAW: Final = {"traces": "raw_spans", "logs": "raw_logs"}


class Source(NamedTuple):
    """Rows of one signal from one collector, which land in the order of their numbers."""

    signal: str
    collector_id: str

    @property
    def app_id(self) -> str:
        """Under which the commit notes what is built; logs land apart from spans."""
        logs = "-logs" if self.signal == "logs" else ""
        return f"built{logs}/{self.collector_id}"


class BuildSummary(NamedTuple):
    """What one build did."""

    new_spans: int
    """Spans, and log records of theirs, that no earlier build had seen."""
    traces: int
    """Traces they belong to; all of them were built anew."""
    trajectories: int
    """Trajectories of those traces."""
    steps: int
    """Steps of those trajectories."""


def build(lake: Lake, *, full: bool = False) -> BuildSummary:
    """Bring `steps` and `trajectories` up to date with `raw_spans`, and say what was done.

    Args:
        lake: The lake to read and write. One build at a time.
        full: Build every trace, not just those with new spans.
    """
    with connect(lake) as con:
        received = _received(con)
        seen = {} if full else _seen(lake, received)
        new_spans = _find_new(con, seen)
        if not new_spans and not full:
            return BuildSummary(0, 0, 0, 0)
        built = [pa.concat_tables(tables) for tables in zip(*_buckets(con), strict=True)]
        steps, trajectories = built
        _write(lake, con, STEPS, steps, {}, full=full)
        _write(lake, con, TRAJECTORIES, trajectories, _transactions(received), full=full)
        traces = _count(con, "affected_traces")
        return BuildSummary(new_spans, traces, trajectories.num_rows, steps.num_rows)


def _received(con: duckdb.DuckDBPyConnection) -> dict[Source, int]:
    """Return the newest sequence number of each collector's spans, and of its log records."""
    return {
        Source(signal, collector): seq
        for signal, table in _RAW.items()
        for collector, seq in con.sql(
            f"SELECT collector_id, max(wal_seq) FROM {table} GROUP BY collector_id"
        ).fetchall()
    }


def _seen(lake: Lake, sources: Iterable[Source]) -> dict[Source, int]:
    """Return the sequence number up to which each source is built."""
    versions = {
        source: lake.transaction_version(TRAJECTORIES.name, source.app_id) for source in sources
    }
    return {source: version for source, version in versions.items() if version is not None}


def _transactions(received: dict[Source, int]) -> dict[str, int]:
    return {source.app_id: seq for source, seq in received.items()}


def _find_new(con: duckdb.DuckDBPyConnection, seen: dict[Source, int]) -> int:
    """Make `affected_traces` (trace_id, date, spans) and return what is new of them."""
    marks = pa.table(
        {
            "signal": pa.array([source.signal for source in seen], pa.string()),
            "collector_id": pa.array([source.collector_id for source in seen], pa.string()),
            "wal_seq": pa.array(list(seen.values()), pa.int64()),
        }
    )
    con.register("watermarks", marks)
    con.execute(f"CREATE TEMP TABLE affected_traces AS {query('affected_traces')}")
    new = con.sql("SELECT coalesce(sum(new), 0) FROM affected_traces").fetchall()[0][0]
    return int(new)


def _buckets(con: duckdb.DuckDBPyConnection) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Yield the steps and the trajectories of each bucket of affected traces."""
    spans = con.sql("SELECT coalesce(sum(spans), 0) FROM affected_traces").fetchall()[0][0]
    buckets = 1 + int(spans) // BUCKET_SPANS
    for bucket in range(buckets):
        con.execute(
            "CREATE OR REPLACE TEMP TABLE bucket_traces AS SELECT trace_id, date "
            "FROM affected_traces WHERE hash(trace_id) % $buckets = $bucket",
            {"buckets": buckets, "bucket": bucket},
        )
        split_into_steps(con)
        yield (
            _as(STEPS, con.table("built_steps")),
            _as(TRAJECTORIES, con.table("built_trajectories")),
        )


def _write(
    lake: Lake,
    con: duckdb.DuckDBPyConnection,
    table: Table,
    rows: pa.Table,
    transactions: dict[str, int],
    *,
    full: bool,
) -> None:
    """Replace the rows of the affected traces; rewrite only dates that hold older rows of them.

    Rewritten dates are one commit, new rows of other dates a second one: after a crash between the
    two the next build finds the same traces affected and does both again.
    """
    dates = _dates_to_rewrite(con, table, full=full)
    con.register("new_rows", rows)
    within = "FROM new_rows WHERE list_contains($dates, date)"
    beside = "FROM new_rows WHERE NOT list_contains($dates, date)"
    if dates:
        kept = _rows_of_other_traces(con, table, dates, full=full)
        rewritten = _as(table, con.sql(within, params={"dates": dates}))
        lake.replace_dates(table, pa.concat_tables([kept, rewritten]), list(map(str, dates)))
    lake.append(table, _as(table, con.sql(beside, params={"dates": dates})), transactions)
    con.unregister("new_rows")


def _dates_to_rewrite(
    con: duckdb.DuckDBPyConnection, table: Table, *, full: bool
) -> list[datetime.date]:
    """Return the dates, sorted, that hold rows of affected traces; every date for a full build."""
    affected = "" if full else "SEMI JOIN affected_traces USING (trace_id)"
    found = con.sql(f"SELECT DISTINCT date FROM {table.name} {affected} ORDER BY date")
    return [date for (date,) in found.fetchall()]


def _rows_of_other_traces(
    con: duckdb.DuckDBPyConnection, table: Table, dates: list[datetime.date], *, full: bool
) -> pa.Table:
    """Return the rows of these dates that stay as they are; none for a full build."""
    kept = con.sql(
        f"SELECT {table.name}.* FROM {table.name} ANTI JOIN affected_traces USING (trace_id) "
        "WHERE NOT $full AND list_contains($dates, date)",
        params={"dates": dates, "full": full},
    )
    return _as(table, kept)


def _as(table: Table, rows: duckdb.DuckDBPyRelation) -> pa.Table:
    made: pa.Table = rows.to_arrow_table()
    return made.select(table.arrow().names).cast(table.arrow())


def _count(con: duckdb.DuckDBPyConnection, table: str) -> int:
    rows: int = con.sql(f"SELECT count(*) FROM {table}").fetchall()[0][0]
    return rows
