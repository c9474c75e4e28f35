"""Reads traces of a lake as steps, by the pass that builds them, without building anything.

Makes:
    bucket_traces (from landed_traces): the traces that the pass over spans reads
    chosen_traces: the traces that are read
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Final

import duckdb
import pyarrow as pa

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.sql import QUERIES
from tracegrade_lake import RAW_LOGS, RAW_SPANS, Lake
from tracegrade_queries.build.split import split_into_steps
from tracegrade_queries.engine.connection import Limits, connect_pinned
from tracegrade_queries.engine.pinned import PinnedLake, pin, received_between
from tracegrade_queries.engine.relations import make_table, put
from tracegrade_queries.graph import headers
from tracegrade_queries.relations import RELATIONS

_RAW: Final = (RAW_SPANS, RAW_LOGS)
_LIMITS: Final = Limits("1GB")


def pinned_since(lake: Lake, first_ns: int, last_ns: int) -> PinnedLake:
    """Return the files that may have spans or logs received in a time, ns since 1970."""
    names = [table.name for table in _RAW]
    keep = received_between(first_ns, last_ns)
    return pin(lake, names).only(dict.fromkeys(names, keep))


@contextmanager
def steps_of_traces(
    pinned: PinnedLake, traces: Collection[str], *queries: str
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open an engine with the content of some traces for queries; it ends with the block.

    Raises:
        EnvironmentFailed: They cannot be read.
    """
    try:
        with connect_pinned(pinned, _RAW, _LIMITS) as con:
            put(con, "chosen_traces", pa.table({"trace_id": pa.array(traces, pa.string())}))
            split_traces(con, *queries)
            yield con
    except duckdb.Error as error:
        msg = f"{len(traces)} traces cannot be read from the lake: {error}"
        raise EnvironmentFailed(msg) from error


def split_traces(con: duckdb.DuckDBPyConnection, *queries: str) -> None:
    """Build the tables about the chosen traces' steps that this package's queries read.

    Args:
        con: Holds `spans`, `logs` and `chosen_traces` (trace_id, one row each).
        queries: Their names.
    """
    make_table(con, "bucket_traces", QUERIES.unordered("landed_traces"))
    read = set().union(*(headers.reads(QUERIES.text(name)) for name in queries))
    split_into_steps(con, sorted(read & RELATIONS.names))
