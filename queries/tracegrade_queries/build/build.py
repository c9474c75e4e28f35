"""Builds steps, agents and trajectories from the raw spans of every trace with new ones.

Traces are independent, so they are built in buckets that bound the memory of the engine, one on
each core. A bucket holds traces that arrived one after the other, so that it reads only the row
groups of its time. Its rows are staged as files at once, and one commit for each table includes
them all. The commit that writes the trajectories, the last one with results, also notes which
traces are built. A crash before it repeats work and changes nothing else. Afterwards the build
writes notes for the next one (`last_build.py`).

Evaluation results that came with the traces are added to the verdicts. Verdicts are not replaced
by trace, since the table also holds those of imports.

Makes:
    bucket_traces (from buckets): the traces of the current bucket
    span_sizes: sizes of spans, by receipt time
"""

import datetime
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import duckdb

from tracegrade_collector.importing.verdict_rows import add_clean_verdicts
from tracegrade_lake import Lake, Table
from tracegrade_queries.build.build_bucket import BuildSpecification, build_bucket, files_of
from tracegrade_queries.build.discovery import AFFECTED, NOTICED, Discovery, discovered
from tracegrade_queries.build.last_build import (
    BUILDS,
    RETRIEVAL_NOTED,
    STEPS_NOTED,
    note_files,
)
from tracegrade_queries.build.span_sizes import span_sizes
from tracegrade_queries.costs.pricing import NO_PRICES, Prices
from tracegrade_queries.dimensions.mapping import DimensionMapping
from tracegrade_queries.engine.bucket_work import (
    Bucket,
    Outcome,
    bucket_size,
    limits_between,
    limits_of_bucket,
    together,
    traces_by_bucket,
)
from tracegrade_queries.engine.executor import Executor, Threads
from tracegrade_queries.engine.machine import workers
from tracegrade_queries.engine.pinned import dated_on
from tracegrade_queries.engine.relations import count, make_table, put
from tracegrade_queries.engine.replacing import Replacement
from tracegrade_queries.engine.sql import query
from tracegrade_queries.engine.staged import of_traces, stage_dates
from tracegrade_queries.schema import (
    AGENTS,
    BUILT,
    BUILT_TRACES,
    STEPS,
    STEPS_VERSION,
    TRAJECTORIES,
)

BUCKET_SPANS: Final = 250_000
"""Spans that one bucket aims at; a trace is never split."""

BUCKET_BYTES: Final = 330_000_000
"""Target size of a bucket's attributes and events; the engine needs several times as much."""

LEAST_BUCKET_SPANS: Final = 25_000
"""Fewer are not divided: planning a bucket's queries takes as long."""

BUCKET_MB: Final = 2_000
"""Memory of the engine of one bucket; it spills beyond."""

WORKER_MB: Final = 2_500
"""Memory for the work on one bucket: rows that leave the engine are outside its limit."""


class BuildSummary(NamedTuple):
    """The result of one build."""

    new_spans: int
    """Spans, and their log records, that no earlier build has read."""
    traces: int
    """Traces they belong to; all of them were rebuilt."""
    trajectories: int
    """Trajectories of those traces."""
    steps: int
    """Steps of those trajectories."""
    unread: Mapping[str, int] = MappingProxyType({})
    """Traces without a trajectory, by the scope of their outermost span ('' if none was sent)."""
    apart: Mapping[str, int] = MappingProxyType({})
    """Model calls of those traces that belong to no agent's run, by reason; see
    `detached_model_calls`."""
    fragments: int = 0
    """Traces that are parts of runs in other traces."""
    copies: Mapping[str, int] = MappingProxyType({})
    """Spans of those traces that record a call which another span records, by reason; see
    `copies`."""
    unread_logs: Mapping[str, int] = MappingProxyType({})
    """New log records whose trace has no span, by the name of their event; '' without one."""
    all_built: bool = False
    """Whether these are all traces of the lake."""


NOTHING_BUILT: Final = BuildSummary(0, 0, 0, 0)


def build(
    lake: Lake,
    *,
    full: bool = False,
    prices: Prices = NO_PRICES,
    mapping: DimensionMapping | None = None,
    retrieval: bool | None = None,
    executor: Executor | None = None,
) -> BuildSummary:
    """Bring the tables in `BUILT` up to date with `raw_spans`, and say what was done.

    Args:
        lake: The lake to read and write. One build at a time.
        full: Build every trace, not just those with new spans.
        prices: Prices of models, for the traces that are built; `update_costs` handles the others.
        mapping: The mapping of dimensions, for these; `finish_labeling` handles the others.
        retrieval: Whether searches and operations on memory are steps; None: as built last. If it
            changes, every trace is built.
        executor: Runs the buckets; None for threads of this process.
    """
    at_work = executor or Threads(workers(WORKER_MB))
    here = min(at_work.slots, workers(WORKER_MB))  # others may be on other machines
    limits = limits_between(BUCKET_MB * here, here)
    with discovered(lake, limits, full=full, retrieval=retrieval) as found:
        if found is None:
            return NOTHING_BUILT
        specification = BuildSpecification(prices, mapping, found.last.retrieval)
        buckets = list(_buckets(lake, found, specification, at_work))
        built = together(at_work.run(build_bucket, buckets))
        _commit_all(lake, found, built, at_work, full=full)
        unread = _summed(_found(built, "unread_scopes"), "scope_name", "traces")
        apart = _summed(_found(built, "detached_model_calls"), "reason", "calls")
        traces, rows = count(found.con, AFFECTED), (built.rows(TRAJECTORIES), built.rows(STEPS))
        fragments = sum(row["traces"] for row in _found(built, "fragments"))
        copies = _summed(_found(built, "copies"), "reason", "calls")
        logs = found.unread_logs
        return BuildSummary(
            found.new_spans,
            traces,
            *rows,
            unread,
            apart,
            fragments,
            copies,
            logs,
            all_built=full or found.last.is_outdated or not found.last.number,
        )


def _buckets(
    lake: Lake, found: Discovery, specification: BuildSpecification, executor: Executor
) -> Iterator[Bucket[BuildSpecification]]:
    """Yield the affected traces bucket by bucket, each with the files of its time."""
    con = found.con
    put(con, "span_sizes", span_sizes(lake, found.spans))
    weight = {"span_bytes": BUCKET_BYTES // BUCKET_SPANS}
    make_table(con, "weighed_traces", query("weighed_traces"), weight)
    total = con.sql("SELECT coalesce(sum(weight), 0)::BIGINT FROM weighed_traces").fetchall()[0][0]
    size = bucket_size(total, BUCKET_SPANS, LEAST_BUCKET_SPANS, executor.slots)
    make_table(con, "buckets", query("buckets"), {"bucket_weight": size})
    divided = list(traces_by_bucket(con, "buckets"))
    at_a_time = min(executor.slots, len(divided))
    limits = limits_of_bucket(BUCKET_MB * at_a_time, executor.slots, len(divided))
    for traces in divided:
        yield Bucket(files_of(found.read, traces), traces, limits, specification)


def _found(built: Outcome, name: str) -> list[dict[str, Any]]:
    """Return the findings of the buckets other than rows; empty if there was no bucket."""
    return built.tables[name].to_pylist() if name in built.tables else []


def _summed(rows: Iterable[Mapping[str, Any]], key: str, number: str) -> Mapping[str, int]:
    """Return the sum of a number by a key, of what each bucket found."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts[row[key]] += row[number]
    return counts


def _commit_all(
    lake: Lake, found: Discovery, built: Outcome, executor: Executor, *, full: bool
) -> None:
    """Commit the built rows, then the notes for the next build."""
    number = found.last.number + 1
    noted = {source.app_id: seq for source, seq in found.watermarks.items()}
    noted |= {BUILDS: number, STEPS_NOTED: STEPS_VERSION}
    noted[RETRIEVAL_NOTED] = int(found.last.retrieval)
    everything = full or found.last.is_outdated
    leaving = None if everything else _leaving(lake, found, AFFECTED, BUILT, executor)
    _commit(lake, found.con, STEPS, built, {BUILDS: number}, leaving)
    _commit(lake, found.con, AGENTS, built, {}, leaving)
    if evaluations := _found(built, "evaluations"):
        add_clean_verdicts(lake, evaluations)  # they were redacted on arrival
    _commit(lake, found.con, TRAJECTORIES, built, noted, leaving)
    _commit_traces(lake, found, number, executor)
    note_files(lake, found.lake, number)


def _leaving(
    lake: Lake, found: Discovery, traces: str, tables: Sequence[Table], executor: Executor
) -> Replacement:
    """Let workers rewrite the files that hold rows of these traces, which get new rows."""
    ids = " UNION ".join(
        f"SELECT trace_id FROM {table.name} WHERE {of_traces(table, traces)}" for table in tables
    )
    dates = {table.name: _dates_to_rewrite(found.con, table, traces) for table in tables}
    files = {name: dated_on(map(str, days)) for name, days in dates.items()}
    leaving = Replacement(lake, found.con.sql(ids).to_arrow_table(), found.lake.only(files))
    leaving.share_out(executor)
    return leaving


def _commit(
    lake: Lake,
    con: duckdb.DuckDBPyConnection,
    table: Table,
    built: Outcome,
    transactions: dict[str, int],
    leaving: Replacement | None,
) -> None:
    """Commit the new rows in place of those that leave; None for all."""
    files = built.files.get(table.name, ())
    if leaving:
        leaving.commit(table, files, transactions)
        return
    dates = _dates_to_rewrite(con, table, None)
    if files or dates or transactions:
        lake.put_files(table, files, list(map(str, dates)), transactions)


def _commit_traces(lake: Lake, found: Discovery, number: int, executor: Executor) -> None:
    """Commit the receipt times of each trace, including traces with only log records."""
    con = found.con
    new = con.sql("SELECT DISTINCT last_date FROM trace_receipts ORDER BY last_date").fetchall()
    rows = "SELECT * RENAME (last_date AS date) FROM trace_receipts WHERE last_date = $date"
    files = stage_dates(
        lake,
        BUILT_TRACES,
        [date for (date,) in new],
        lambda date: con.sql(rows, params={"date": date}),
    )
    if not found.is_whole:
        leaving = _leaving(lake, found, NOTICED, (BUILT_TRACES,), executor)
        leaving.commit(BUILT_TRACES, files, {BUILDS: number})
        return
    dates = _dates_to_rewrite(con, BUILT_TRACES, None)
    lake.put_files(BUILT_TRACES, files, list(map(str, dates)), {BUILDS: number})


def _dates_to_rewrite(
    con: duckdb.DuckDBPyConnection, table: Table, traces: str | None
) -> list[datetime.date]:
    """Return the dates, sorted, that hold rows of these traces; all dates for None."""
    rows = of_traces(table, traces) if traces else "true"
    found = con.sql(f"SELECT DISTINCT date FROM {table.name} WHERE {rows} ORDER BY date")
    return [date for (date,) in found.fetchall()]
