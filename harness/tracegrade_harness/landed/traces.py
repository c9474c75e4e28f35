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
from tracegrade_queries.build.passes import split_into_steps
from tracegrade_queries.engine.connection import Limits, connect_pinned
from tracegrade_queries.engine.pinned import PinnedLake, pin, received_between
from tracegrade_queries.engine.relations import make_table, put

_RAW: Final = (RAW_SPANS, RAW_LOGS)
_LIMITS: Final = Limits("1GB")


def pinned_since(lake: Lake, first_ns: int, last_ns: int) -> PinnedLake:
    """Return the files of a lake that may have spans and logs received then, ns since 1970."""
    names = [table.name for table in _RAW]
    keep = received_between(first_ns, last_ns)
    return pin(lake, names).only(dict.fromkeys(names, keep))


@contextmanager
def steps_of_traces(
    pinned: PinnedLake, traces: Collection[str]
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open an engine that holds what the pass makes of some traces; it ends with the block.

    Raises:
        EnvironmentFailed: They cannot be read.
    """
    try:
        with connect_pinned(pinned, _RAW, _LIMITS) as con:
            put(con, "chosen_traces", pa.table({"trace_id": pa.array(traces, pa.string())}))
            split_traces(con)
            yield con
    except duckdb.Error as error:
        msg = f"{len(traces)} traces cannot be read from the lake: {error}"
        raise EnvironmentFailed(msg) from error


def split_traces(con: duckdb.DuckDBPyConnection) -> None:
    """Make what the pass makes of the chosen traces: `built_steps`, `message_parts` and others.

    Args:
        con: Holds `spans`, `logs` and `chosen_traces` (trace_id, one row each).
    """
    make_table(con, "bucket_traces", QUERIES.unordered("landed_traces"))
    split_into_steps(con)
