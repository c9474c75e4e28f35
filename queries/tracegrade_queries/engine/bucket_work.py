"""One bucket of a job: the input that a worker gets, and the outcome that it returns.

A job finds new rows and divides their traces into independent buckets. The work on a bucket is a
function of a `Bucket` that reads the pinned files, stages files and returns an `Outcome`. It takes
no lock, commits nothing and does not depend on other buckets. So it may run in any order, twice,
in another process, or on another machine that has the lake's folder for staged files. Only the
files that the job commits count.
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
    """The whole input of the work on one bucket; it can be pickled."""

    lake: PinnedLake
    """The files to read."""
    traces: pa.Table
    """The traces of the bucket, one row each: `trace_id` and the job's own columns."""
    limits: Limits
    specification: Specification
    """The part that all buckets of the job share."""


class Outcome(NamedTuple):
    """The result of the work on one bucket, or on all of them."""

    files: Mapping[str, Sequence[StagedFile]]
    """Staged, uncommitted files of each table, by its name."""
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
        bucket: Its files are read, and its traces are the table `bucket_traces`.
        tables: Tables to read; a table is empty if the bucket has no file of it.
    """
    with copied_locally(bucket.lake) as lake, connect_pinned(lake, tables, bucket.limits) as con:
        _open.add(con)
        try:
            put(con, "bucket_traces", bucket.traces)
            yield con
        finally:
            _open.discard(con)


def end_open() -> None:
    """End the work on every open bucket of this process with an error, and wait.

    An interrupt ends the query that is running. Work may be between two of them, so it takes more
    than one.
    """
    while _open:
        for con in tuple(_open):
            with contextlib.suppress(duckdb.Error):  # closed by another thread
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
    """Return the size at which buckets are about even and every slot gets equally many.

    Args:
        total: Size of all buckets together.
        most: Maximum of a bucket, as far as single traces allow.
        least: Minimum of a bucket: a smaller total is not divided further.
        slots: Buckets that run at the same time.
    """
    rounds = max(1, -(-total // (most * slots)))
    return min(most, max(least, -(-total // (rounds * slots))))


def limits_of_bucket(memory_mb: int, slots: int, buckets: int) -> Limits:
    """Return the limits of each bucket's engine on this machine.

    Args:
        memory_mb: Memory of all engines that run at the same time.
        slots: Buckets that run at the same time; each gets its share of the cores.
        buckets: Number of all buckets.
    """
    at_a_time = max(1, min(slots, buckets))
    return Limits(f"{memory_mb // at_a_time}MB", max(1, machine.cores() // slots))


def limits_between(memory_mb: int, slots: int) -> Limits:
    """Return the limits of an engine that stays open while buckets run."""
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
