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
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple

import duckdb
import pyarrow as pa

from tracegrade_collector.importing.verdict_rows import Verdict, add_clean_verdicts
from tracegrade_lake import Lake, StagedFile, Table
from tracegrade_queries.build.passes import split_into_steps
from tracegrade_queries.costs.pricing import (
    NO_PRICES,
    Prices,
    create_prices,
    with_costs,
    work_out_costs,
)
from tracegrade_queries.engine.connection import DEDUPLICATED, connect
from tracegrade_queries.engine.relations import count, given
from tracegrade_queries.engine.sql import query
from tracegrade_queries.engine.staged import of_traces, stage_other_traces, stage_rows
from tracegrade_queries.schema import STEPS, TRAJECTORIES

BUCKET_SPANS: Final = 250_000
"""Spans that one bucket aims at; a trace is never split."""

LEAST_BUCKET_SPANS: Final = 25_000
"""Fewer are not split among the workers: planning a bucket's queries takes as long."""

WORKERS: Final = 2
"""Buckets at a time, each on its share of the cores: rows of one bucket's size are worked off with
less effort by one core than by several."""

BUILDS: Final = "builds"
"""Under which the last commit of a build notes how many there were."""

MEMORY_LIMIT: Final = "4GB"
"""Of the engine; it spills beyond."""

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
    """Traces they belong to; all of them were built anew."""
    trajectories: int
    """Trajectories of those traces."""
    steps: int
    """Steps of those trajectories."""
    unread: Mapping[str, int] = MappingProxyType({})
    """Those of the traces that gave no trajectory, by the scope of their outermost span ('' if
    none was sent)."""


@dataclass
class Built:
    """Files with the new rows of one table, staged but not yet committed."""

    table: Table
    files: list[StagedFile] = field(default_factory=list)
    rows: int = 0

    def stage(self, lake: Lake, rows: duckdb.DuckDBPyRelation) -> None:
        """Write the rows of one bucket."""
        files = stage_rows(lake, self.table, rows.to_arrow_table())
        self.files.extend(files)
        self.rows += sum(file.rows for file in files)


def build(lake: Lake, *, full: bool = False, prices: Prices = NO_PRICES) -> BuildSummary:
    """Bring `steps` and `trajectories` up to date with `raw_spans`, and say what was done.

    Args:
        lake: The lake to read and write. One build at a time.
        full: Build every trace, not just those with new spans.
        prices: What models cost, for the traces that are built; `update_costs` sees to others.
    """
    threads = max(1, (os.cpu_count() or 1) // WORKERS) if lake.is_local else None
    with connect(lake, others=False, memory_limit=MEMORY_LIMIT, threads=threads) as con:
        received = _received(con)
        seen = {} if full else _seen(lake, received)
        new_spans = _find_new(con, seen)
        rewrites = full and count(con, TRAJECTORIES.name) > 0
        if not count(con, "affected_traces") and not rewrites:
            return BuildSummary(0, 0, 0, 0)
        create_prices(con, prices)
        steps, trajectories = Built(STEPS), Built(TRAJECTORIES)
        evaluations, unread = _build_buckets(lake, con, steps, trajectories)
        _write(lake, con, steps, {}, full=full)
        if evaluations:
            add_clean_verdicts(lake, evaluations)  # they were redacted on arrival
        _write(lake, con, trajectories, _transactions(lake, received), full=full)
        traces = count(con, "affected_traces")
        return BuildSummary(new_spans, traces, trajectories.rows, steps.rows, unread)


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


def _build_buckets(
    lake: Lake, con: duckdb.DuckDBPyConnection, steps: Built, trajectories: Built
) -> tuple[list[Verdict], Mapping[str, int]]:
    """Stage the rows of all affected traces; return what evaluators say, and what was not read."""
    con.execute(
        f"CREATE TABLE buckets AS {query('buckets')}", {"bucket_spans": _bucket_spans(con)}
    )
    buckets = con.sql("SELECT DISTINCT bucket FROM buckets ORDER BY bucket").fetchall()
    evaluations: list[Verdict] = []
    unread: list[tuple[str, int]] = []

    def work_off(bucket: int) -> None:
        # A cursor does not see the datasets that are registered for an object store.
        reader = con.cursor() if lake.is_local else con
        _choose_bucket(reader, bucket)
        split_into_steps(reader)
        steps.stage(lake, reader.table("built_steps"))
        work_out_costs(reader, "built_trajectories")
        trajectories.stage(lake, with_costs(reader, "built_trajectories"))
        evaluations.extend(reader.table("evaluations").to_arrow_table().to_pylist())
        unread.extend(reader.table("unread_scopes").fetchall())
        if lake.is_local:
            reader.close()

    with ThreadPoolExecutor(WORKERS if lake.is_local else 1) as pool:
        for _ in pool.map(work_off, [bucket for (bucket,) in buckets]):
            pass
    counts: Counter[str] = Counter()
    for scope, traces in unread:
        counts[scope] += traces
    return evaluations, counts


def _bucket_spans(con: duckdb.DuckDBPyConnection) -> int:
    """Return how many spans each bucket aims at: all workers have something to do."""
    found = con.sql("SELECT coalesce(sum(spans), 0)::BIGINT FROM affected_traces").fetchall()
    spans: int = found[0][0]
    return min(BUCKET_SPANS, max(LEAST_BUCKET_SPANS, -(-spans // WORKERS)))


def _choose_bucket(con: duckdb.DuckDBPyConnection, bucket: int) -> None:
    """Make `bucket_traces`, and `spans` and `logs` of no other time than theirs."""
    con.execute(
        "CREATE OR REPLACE TEMP TABLE bucket_traces AS "
        "SELECT trace_id, date, first_ns, last_ns, last_ns AS received_ns, records, imported "
        "FROM buckets WHERE bucket = $bucket",
        {"bucket": bucket},
    )
    first, last = con.sql("SELECT min(first_ns), max(last_ns) FROM bucket_traces").fetchall()[0]
    for table in DEDUPLICATED:
        con.execute(
            f"CREATE OR REPLACE TEMP VIEW {table} AS SELECT * FROM memory.main.{table} "
            f"WHERE received_ns BETWEEN {first} AND {last}"
        )


def _write(
    lake: Lake,
    con: duckdb.DuckDBPyConnection,
    built: Built,
    transactions: dict[str, int],
    *,
    full: bool,
) -> None:
    """Commit the new rows of the affected traces; rewrite only dates that hold older ones."""
    dates = _dates_to_rewrite(con, built.table, full=full)
    kept = [] if full else stage_other_traces(lake, con, built.table, dates, _AFFECTED)
    lake.put_files(built.table, [*kept, *built.files], list(map(str, dates)), transactions)


def _dates_to_rewrite(
    con: duckdb.DuckDBPyConnection, table: Table, *, full: bool
) -> list[datetime.date]:
    """Return the dates, sorted, that hold rows of affected traces; every date for a full build."""
    rows = "true" if full else of_traces(table, _AFFECTED)
    found = con.sql(f"SELECT DISTINCT date FROM {table.name} WHERE {rows} ORDER BY date")
    return [date for (date,) in found.fetchall()]
