"""Builds steps and trajectories from the raw spans of every trace that got new ones.

Traces are independent, so they are worked off in buckets that bound the memory of the engine, two
at a time. A bucket holds traces that arrived after one another, so that it reads only the row
groups of its time. Its rows are staged as files at once, and one commit for each table takes them
all. What has been built is noted in the commit that writes the trajectories, which comes last: a
crash before it repeats work and changes nothing else.

Evaluation results that came with the traces are added to the verdicts, which are not replaced by
trace: those of an import stand there too.

Makes:
    bucket_traces (from buckets): the traces of the bucket that is worked on
    watermarks: up to which number the spans and logs of each collector are built
"""

import datetime
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import duckdb
import pyarrow as pa

from tracegrade_collector.importing.verdict_rows import add_clean_verdicts
from tracegrade_lake import Lake, Table
from tracegrade_queries.build.build_bucket import build_bucket, files_of
from tracegrade_queries.costs.pricing import NO_PRICES, Prices
from tracegrade_queries.engine.bucket_work import (
    Bucket,
    Outcome,
    bucket_size,
    limits_between,
    limits_of_bucket,
    together,
    traces_by_bucket,
)
from tracegrade_queries.engine.connection import connect_job
from tracegrade_queries.engine.executor import Executor, Threads
from tracegrade_queries.engine.pinned import PinnedLake
from tracegrade_queries.engine.relations import count, given, make_table
from tracegrade_queries.engine.sql import query
from tracegrade_queries.engine.staged import of_traces, stage_other_traces
from tracegrade_queries.schema import STEPS, TRAJECTORIES

BUCKET_SPANS: Final = 250_000
"""Spans that one bucket aims at; a trace is never split."""

LEAST_BUCKET_SPANS: Final = 25_000
"""Fewer are not divided: planning a bucket's queries takes as long."""

WORKERS: Final = 2
"""Buckets at a time, each on its share of the cores: rows of one bucket's size are worked off with
less effort by one core than by several."""

BUILDS: Final = "builds"
"""Under which the last commit of a build notes how many there were."""

MEMORY_MB: Final = 4_000
"""Of the engines of all buckets that are worked on at a time; they spill beyond."""

_AFFECTED: Final = "affected_traces"

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
    """Traces they belong to; all of them were rebuilt."""
    trajectories: int
    """Trajectories of those traces."""
    steps: int
    """Steps of those trajectories."""
    unread: Mapping[str, int] = MappingProxyType({})
    """Those of the traces that gave no trajectory, by the scope of their outermost span ('' if
    none was sent)."""
    apart: Mapping[str, int] = MappingProxyType({})
    """Model calls of those traces that belong to no agent's run, by reason; see
    `model_calls_apart`."""


def build(
    lake: Lake,
    *,
    full: bool = False,
    prices: Prices = NO_PRICES,
    executor: Executor | None = None,
) -> BuildSummary:
    """Bring `steps` and `trajectories` up to date with `raw_spans`, and say what was done.

    Args:
        lake: The lake to read and write. One build at a time.
        full: Build every trace, not just those with new spans.
        prices: What models cost, for the traces that are built; `update_costs` sees to others.
        executor: Who works on the buckets; None for threads of this process.
    """
    at_work = executor or Threads(WORKERS)
    reader, pinned = connect_job(lake, limits=limits_between(MEMORY_MB, at_work.slots))
    with reader as con:
        received = _received(con)
        seen = {} if full else _seen(lake, received)
        new_spans = _find_new(con, seen)
        traces = count(con, _AFFECTED)
        if not traces and not (full and count(con, TRAJECTORIES.name)):
            return BuildSummary(0, 0, 0, 0)
        buckets = list(_buckets(con, pinned, prices, at_work))
        built = together(at_work.run(build_bucket, buckets))
        _commit(lake, con, STEPS, built, {}, full=full)
        if evaluations := _found(built, "evaluations"):
            add_clean_verdicts(lake, evaluations)  # they were redacted on arrival
        _commit(lake, con, TRAJECTORIES, built, _transactions(lake, received), full=full)
        unread = _summed(_found(built, "unread_scopes"), "scope_name", "traces")
        apart = _summed(_found(built, "model_calls_apart"), "reason", "calls")
        rows = built.rows(TRAJECTORIES), built.rows(STEPS)
        return BuildSummary(new_spans, traces, *rows, unread, apart)


def unbuilt_spans(lake: Lake, con: duckdb.DuckDBPyConnection) -> int:
    """Return how many spans, and log records of theirs, a build would find new."""
    return _find_new(con, _seen(lake, _received(con)))


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


def _transactions(lake: Lake, received: dict[Source, int]) -> dict[str, int]:
    """Return what the last commit of a build notes: what is built, and the build's own number.

    By its number it is told from earlier ones, which may have built as much.
    """
    number = lake.transaction_version(TRAJECTORIES.name, BUILDS) or 0
    return {source.app_id: seq for source, seq in received.items()} | {BUILDS: number + 1}


def _find_new(con: duckdb.DuckDBPyConnection, seen: dict[Source, int]) -> int:
    """Make `affected_traces` (trace_id, date, spans) and return what is new of them."""
    marks = pa.table(
        {
            "signal": pa.array([source.signal for source in seen], pa.string()),
            "collector_id": pa.array([source.collector_id for source in seen], pa.string()),
            "wal_seq": pa.array(list(seen.values()), pa.int64()),
        }
    )
    with given(con, "watermarks", marks):
        con.execute(f"CREATE TABLE {_AFFECTED} AS {query('affected_traces')}")
    new = con.sql("SELECT coalesce(sum(new), 0) FROM affected_traces").fetchall()[0][0]
    return int(new)


def _buckets(
    con: duckdb.DuckDBPyConnection, pinned: PinnedLake, prices: Prices, executor: Executor
) -> Iterator[Bucket[Prices]]:
    """Yield the affected traces bucket by bucket, each with the files of its time."""
    spans = con.sql(f"SELECT coalesce(sum(spans), 0)::BIGINT FROM {_AFFECTED}").fetchall()[0][0]
    size = bucket_size(spans, BUCKET_SPANS, LEAST_BUCKET_SPANS, executor.slots)
    make_table(con, "buckets", query("buckets"), {"bucket_spans": size})
    found = list(traces_by_bucket(con, "buckets"))
    limits = limits_of_bucket(MEMORY_MB, executor.slots, len(found))
    for traces in found:
        yield Bucket(files_of(pinned, traces), traces, limits, prices)


def _found(built: Outcome, name: str) -> list[dict[str, Any]]:
    """Return what was found beside the rows that are built; nothing where no bucket was."""
    return built.tables[name].to_pylist() if name in built.tables else []


def _summed(rows: Iterable[Mapping[str, Any]], key: str, number: str) -> Mapping[str, int]:
    """Return the sum of a number by a key, of what each bucket found."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts[row[key]] += row[number]
    return counts


def _commit(
    lake: Lake,
    con: duckdb.DuckDBPyConnection,
    table: Table,
    built: Outcome,
    transactions: dict[str, int],
    *,
    full: bool,
) -> None:
    """Commit the new rows of the affected traces; rewrite only dates that hold older ones."""
    dates = _dates_to_rewrite(con, table, full=full)
    kept = [] if full else stage_other_traces(lake, con, table, dates, _AFFECTED)
    files = [*kept, *built.files.get(table.name, ())]
    lake.put_files(table, files, list(map(str, dates)), transactions)


def _dates_to_rewrite(
    con: duckdb.DuckDBPyConnection, table: Table, *, full: bool
) -> list[datetime.date]:
    """Return the dates, sorted, that hold rows of affected traces; every date for a full build."""
    rows = "true" if full else of_traces(table, _AFFECTED)
    found = con.sql(f"SELECT DISTINCT date FROM {table.name} WHERE {rows} ORDER BY date")
    return [date for (date,) in found.fetchall()]
