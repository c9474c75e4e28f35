"""One bucket of a job: the input that a worker gets, and the outcome that it returns.

A job finds what is new and divides it into buckets of traces, which are independent of one
another. Working on a bucket is a function of a `Bucket` that reads the pinned files, stages files
and returns an `Outcome`. It takes no lock, commits nothing and knows of no other bucket, so it may
run in any order, twice, in another process or on another machine that has the lake's folder for
staged files: only the files that the job commits count.
"""

import contextlib
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

import duckdb
import pyarrow as pa

from tracegrade_lake import StagedFile, Table
from tracegrade_queries.engine import machine
from tracegrade_queries.engine.connection import Limits, connect_pinned
from tracegrade_queries.engine.pinned import PinnedLake
from tracegrade_queries.engine.relations import put
from tracegrade_queries.engine.stage_in import copied_locally

Specification = TypeVar("Specification")


class Bucket(NamedTuple, Generic[Specification]):
    """All that working on one bucket takes; it can be pickled."""

    lake: PinnedLake
    """The files to read."""
    traces: pa.Table
    """The traces of the bucket, one row each: `trace_id` and what the job knows of each."""
    limits: Limits
    specification: Specification
    """What all buckets of the job have in common."""


class Outcome(NamedTuple):
    """What working on one bucket made, or on all of them."""

    files: Mapping[str, Sequence[StagedFile]]
    """Of each table by its name, staged and not committed."""
    tables: Mapping[str, pa.Table]
    """Few rows, by a name of the job's, which it adds up over all buckets."""

    def rows(self, table: Table) -> int:
        """Return how many rows the files of a table have."""
        return sum(file.rows for file in self.files.get(table.name, ()))


BucketFunction: TypeAlias = Callable[[Bucket[Any]], Outcome]
"""A function of a module, so that other processes find it under its name."""

_BETWEEN_INTERRUPTS_SECS: Final = 0.02

_open: Final[set[duckdb.DuckDBPyConnection]] = set()


@contextmanager
def opened(bucket: Bucket[Any], tables: Sequence[Table]) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open an engine of the bucket's own; it ends with the block.

    Args:
        bucket: Whose files are read, and whose traces are the table `bucket_traces`.
        tables: What there is to read; empty where the bucket has no file of one.
    """
    with copied_locally(bucket.lake) as lake, connect_pinned(lake, tables, bucket.limits) as con:
        _open.add(con)
        try:
            put(con, "bucket_traces", bucket.traces)
            yield con
        finally:
            _open.discard(con)


def end_open() -> None:
    """Let the work on every bucket that is open in this process end with an error, and wait.

    An interrupt ends the query that is running. Work may be between two of them, so it takes more
    than one.
    """
    while _open:
        for con in tuple(_open):
            with contextlib.suppress(duckdb.Error):  # closed meanwhile
                con.interrupt()
        time.sleep(_BETWEEN_INTERRUPTS_SECS)


def together(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the files and rows of all outcomes as one."""
    files: defaultdict[str, list[StagedFile]] = defaultdict(list)
    tables: defaultdict[str, list[pa.Table]] = defaultdict(list)
    for outcome in outcomes:
        for name, staged in outcome.files.items():
            files[name].extend(staged)
        for name, rows in outcome.tables.items():
            tables[name].append(rows)
    return Outcome(files, {name: pa.concat_tables(parts) for name, parts in tables.items()})


def bucket_size(total: int, most: int, least: int, slots: int) -> int:
    """Return the size at which buckets are about even and every slot has as many of them.

    Args:
        total: Size of all buckets together.
        most: A bucket's, as far as single traces allow.
        least: A bucket's: fewer are not divided any further.
        slots: Buckets that are worked on at a time.
    """
    rounds = max(1, -(-total // (most * slots)))
    return min(most, max(least, -(-total // (rounds * slots))))


def limits_of_bucket(memory_mb: int, slots: int, buckets: int) -> Limits:
    """Return what the engine of each bucket may take of this machine.

    Args:
        memory_mb: What all engines that work at a time may use.
        slots: Buckets that are worked on at a time; each gets its share of the cores.
        buckets: All there are.
    """
    at_a_time = max(1, min(slots, buckets))
    return Limits(f"{memory_mb // at_a_time}MB", max(1, machine.cores() // slots))


def limits_between(memory_mb: int, slots: int) -> Limits:
    """Return what an engine may take that stays open while buckets are worked on."""
    return Limits(f"{memory_mb}MB", max(1, 1 + machine.cores() - slots))


def traces_by_bucket(con: duckdb.DuckDBPyConnection, rows: str) -> Iterator[pa.Table]:
    """Yield the rows of each bucket, without its number.

    Args:
        con: The connection.
        rows: The name of a relation with `bucket`.
    """
    numbers = con.sql(f"SELECT DISTINCT bucket FROM {rows} ORDER BY bucket").fetchall()
    for (number,) in numbers:
        yield con.sql(
            f"SELECT * EXCLUDE (bucket) FROM {rows} WHERE bucket = $bucket",
            params={"bucket": number},
        ).to_arrow_table()
