"""Finds the traces to build, in time that depends on new files, not on the size of the lake.

Only files of the raw tables that no build has read are read. Traces with rows past the watermarks
in them are *noticed*. If an earlier build knew a noticed trace, older files with rows of its time
are read too. Files are compared instead of request numbers, since a compacted file has rows of
several collectors, each with numbers of its own.

If the built files are not known (`last_build.py`), every file is read.

Makes:
    noticed (from noticed_traces): the traces with new rows
    watermarks: the number up to which spans and logs of each collector are built
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Final, NamedTuple

import duckdb
import pyarrow as pa

from tracegrade_lake import RAW_SPANS, Lake
from tracegrade_lake.commit import LiveFile
from tracegrade_queries.build.last_build import RAW, LastBuild, last_build
from tracegrade_queries.engine.connection import (
    DEDUPLICATED,
    Limits,
    connect_pinned,
    read_pinned,
)
from tracegrade_queries.engine.pinned import (
    FileCondition,
    PinnedLake,
    among,
    dated_on,
    either,
    pin,
    received_in_any,
)
from tracegrade_queries.engine.relations import given, make_table, make_view, put
from tracegrade_queries.engine.sql import query
from tracegrade_queries.schema import BUILT, BUILT_TRACES, TRAJECTORIES

TABLES: Final = {table.name: table for table in (*RAW, *BUILT, BUILT_TRACES)}
"""The tables to read, by name."""

AFFECTED: Final = "affected_traces"
"""The relation of the traces that have to be built."""

NOTICED: Final = "noticed"
"""The relation of traces with new rows; traces with only log records are not built yet."""

Files = Mapping[str, Collection[str]]
"""Paths of files by table."""

_SIGNALS: Final = {"traces": "raw_spans", "logs": "raw_logs"}


class Source(NamedTuple):
    """Rows of one signal from one collector, which land in the order of their numbers."""

    signal: str
    collector_id: str

    @property
    def app_id(self) -> str:
        """Name of the watermark in the commit; logs land apart from spans."""
        logs = "-logs" if self.signal == "logs" else ""
        return f"built{logs}/{self.collector_id}"


class Discovery(NamedTuple):
    """The traces and files that a build must read."""

    con: duckdb.DuckDBPyConnection
    """Holds `trace_receipts`, `affected_traces` and `unread_logs`; of the built tables it shows
    whole dates, all on which these traces have rows."""
    lake: PinnedLake
    """The lake that they were found in, whole."""
    read: PinnedLake
    """Its files that hold rows of these traces, among others."""
    last: LastBuild
    watermarks: Mapping[Source, int]
    """The number up to which each source is built then, for sources with files to read."""
    is_whole: bool
    """Whether every trace of the lake was examined."""

    @property
    def spans(self) -> Sequence[LiveFile]:
        """The files that are read for their spans."""
        table = self.read.tables.get(RAW_SPANS.name)
        return table.files if table else ()

    @property
    def new_spans(self) -> int:
        """Spans, and their log records, that no earlier build has read."""
        found = self.con.sql("SELECT coalesce(sum(new), 0)::BIGINT FROM affected_traces")
        return int(found.fetchall()[0][0])

    @property
    def unread_logs(self) -> dict[str, int]:
        """New log records whose trace has no span, by the name of their event; '' without one."""
        return dict(self.con.sql("SELECT event_name, records FROM unread_logs").fetchall())


class _Noticed(NamedTuple):
    """The content of files that no build has read."""

    traces: pa.Table
    """Ids of the traces that have rows past the watermarks."""
    known: pa.Table
    """The noticed traces that earlier builds knew, as rows of `built_traces`."""
    received: Mapping[Source, int]
    seen: Mapping[Source, int]
    """The number up to which each source is built: its watermark."""


@contextmanager
def discovered(
    lake: Lake, limits: Limits, *, full: bool = False, retrieval: bool | None = None
) -> Iterator[Discovery | None]:
    """Find the traces to build; None if every file has been built.

    Args:
        lake: The lake to read.
        limits: Limits of the engine.
        full: Build every trace, not only those with new rows.
        retrieval: As for `last_build`.
    """
    found = _found(lake, limits, last_build(lake, retrieval=retrieval), full=full)
    if found is None:
        yield None
        return
    with found.con:
        yield found


class Unbuilt(NamedTuple):
    """Counts of new rows that a build would find."""

    spans: int = 0
    """New spans, and their log records."""
    unread_logs: Mapping[str, int] = MappingProxyType({})
    """Log records whose trace has no span, by the name of their event; '' without one."""


def unbuilt(lake: Lake, limits: Limits, *, retrieval: bool | None = None) -> Unbuilt:
    """Return what a build would find new; all there is, if it would build everything again.

    Args:
        lake: The lake to read.
        limits: Of the engine.
        retrieval: As for `last_build`.
    """
    with discovered(lake, limits, retrieval=retrieval) as found:
        return Unbuilt(found.new_spans, found.unread_logs) if found else Unbuilt()


def has_unbuilt_files(lake: Lake) -> bool:
    """Return whether a raw table has files that no build has seen; their rows may be known."""
    last = last_build(lake)
    pinned = pin(lake, [table.name for table in RAW])
    built = {} if last.is_outdated or last.files is None else last.files
    return any(_unbuilt(pinned, built).values())


def unbuilt_spans(lake: Lake, limits: Limits) -> int:
    """Return the number of new spans, and of their log records, that a build would find."""
    return unbuilt(lake, limits).spans


def _found(lake: Lake, limits: Limits, last: LastBuild, *, full: bool) -> Discovery | None:
    """Find the traces to build; repeat if files were removed during it, as by an erasure."""
    full = full or last.is_outdated

    def find(pinned: PinnedLake) -> Discovery | None:
        if full or last.files is None:
            return _of_everything(lake, last, pinned, limits, full=full)
        return _of_what_is_new(lake, last, pinned, limits)

    return read_pinned(lake, TABLES, find)


def _of_everything(
    lake: Lake, last: LastBuild, pinned: PinnedLake, limits: Limits, *, full: bool
) -> Discovery | None:
    if not any(table.files for table in pinned.tables.values()):
        return None
    con = connect_pinned(pinned, TABLES.values(), limits)
    received = _received(con)
    seen = _seen(lake, received)
    seen_now = {} if full else seen
    _find_new_logs(con, seen_now)
    _find_affected(con, seen_now)
    return Discovery(con, pinned, pinned, last, _later(received, seen), is_whole=True)


def _of_what_is_new(
    lake: Lake, last: LastBuild, pinned: PinnedLake, limits: Limits
) -> Discovery | None:
    unbuilt = _unbuilt(pinned, last.files or {})
    if not any(unbuilt.values()):
        return None
    noticed = _noticed(lake, pinned, unbuilt, limits)
    read = _about(pinned, unbuilt, noticed.known)
    con = connect_pinned(read, TABLES.values(), limits)
    _find_new_logs(con, noticed.seen)
    put(con, "noticed", noticed.traces)
    for table in DEDUPLICATED:
        rows = (
            f"SELECT * FROM memory.main.{table} WHERE trace_id IN (SELECT trace_id FROM noticed)"
        )
        make_view(con, table, rows)
    _find_affected(con, _seen(lake, _sources(con)))
    watermarks = _later(noticed.received, noticed.seen)
    return Discovery(con, pinned, read, last, watermarks, is_whole=False)


def _unbuilt(pinned: PinnedLake, built: Files) -> Files:
    """Return the files of the raw tables that are not among those that are built."""
    return {
        name: {file.path for file in pinned.tables[name].files} - set(built.get(name, ()))
        for name in _SIGNALS.values()
        if name in pinned.tables
    }


def _noticed(lake: Lake, pinned: PinnedLake, unbuilt: Files, limits: Limits) -> _Noticed:
    """Return the traces with new rows in unbuilt files, and those that are known."""
    files = pinned.only({**_named(unbuilt), BUILT_TRACES.name: lambda _: True})
    with connect_pinned(files, (*RAW, BUILT_TRACES), limits) as con:
        received = _received(con)
        seen = _seen(lake, received)
        with given(con, "watermarks", watermark_rows(seen)):
            make_table(con, "noticed", query("noticed_traces"))
        known = con.sql("FROM built_traces SEMI JOIN noticed USING (trace_id)")
        return _Noticed(
            con.table("noticed").to_arrow_table(), known.to_arrow_table(), received, seen
        )


def _about(pinned: PinnedLake, unbuilt: Files, known: pa.Table) -> PinnedLake:
    """Return the files that hold rows of the noticed traces: unbuilt ones, and of known traces.

    Files of built tables hold whole dates.
    """
    is_of_known = received_in_any(known["first_ns"].to_numpy(), known["last_ns"].to_numpy())
    raw = {name: either(is_new, is_of_known) for name, is_new in _named(unbuilt).items()}
    is_of_date = dated_on(map(str, known["first_date"].drop_null().unique().to_pylist()))
    built = {table.name: is_of_date for table in BUILT}
    seen_on = dated_on(map(str, known["date"].unique().to_pylist()))
    return pinned.only({**raw, **built, BUILT_TRACES.name: seen_on})


def _named(files: Files) -> dict[str, FileCondition]:
    """Return for each table the condition that a file is one of these."""
    return {name: among(paths) for name, paths in files.items()}


def _received(con: duckdb.DuckDBPyConnection) -> dict[Source, int]:
    """Return the newest sequence number of each collector's spans, and of its log records."""
    return {
        Source(signal, collector): seq
        for signal, table in _SIGNALS.items()
        for collector, seq in con.sql(
            f"SELECT collector_id, max(wal_seq) FROM {table} GROUP BY collector_id"
        ).fetchall()
    }


def _sources(con: duckdb.DuckDBPyConnection) -> list[Source]:
    """Return the sources of the rows that `spans` and `logs` show."""
    return [
        Source(signal, collector)
        for signal, view in (("traces", "spans"), ("logs", "logs"))
        for (collector,) in con.sql(f"SELECT DISTINCT collector_id FROM {view}").fetchall()
    ]


def _seen(lake: Lake, sources: Collection[Source]) -> dict[Source, int]:
    """Return the sequence number up to which each source is built."""
    noted = lake.transaction_versions(TRAJECTORIES.name, [source.app_id for source in sources])
    return {source: noted[source.app_id] for source in sources if source.app_id in noted}


def _later(received: Mapping[Source, int], seen: Mapping[Source, int]) -> Mapping[Source, int]:
    """Return the later number of each source; rows that were received may be gone again."""
    return {source: max(seq, seen.get(source, seq)) for source, seq in received.items()}


def _find_new_logs(con: duckdb.DuckDBPyConnection, seen: Mapping[Source, int]) -> None:
    """Make `new_logs`, also of records that name no trace."""
    with given(con, "watermarks", watermark_rows(seen)):
        make_table(con, "new_logs", query("new_logs"))


def _find_affected(con: duckdb.DuckDBPyConnection, seen: Mapping[Source, int]) -> None:
    """Make `trace_receipts`, `affected_traces` and `unread_logs` from the engine's views."""
    with given(con, "watermarks", watermark_rows(seen)):
        make_table(con, "trace_receipts", query("trace_receipts"))
    make_table(con, AFFECTED, query(AFFECTED))
    make_table(con, "unread_logs", query("unread_logs"))


def watermark_rows(seen: Mapping[Source, int]) -> pa.Table:
    """Return the rows of `watermarks` for the numbers up to which each source is built."""
    return pa.table(
        {
            "signal": pa.array([source.signal for source in seen], pa.string()),
            "collector_id": pa.array([source.collector_id for source in seen], pa.string()),
            "wal_seq": pa.array(list(seen.values()), pa.int64()),
        }
    )
