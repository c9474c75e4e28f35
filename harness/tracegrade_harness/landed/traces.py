"""Reads traces of a lake as steps, by the pass that builds them, without building anything.

Makes:
    bucket_traces (from landed_traces): the traces that the pass over spans reads
"""

import duckdb

from tracegrade_harness.sql import QUERIES
from tracegrade_queries.build.passes import split_into_steps
from tracegrade_queries.engine.relations import make_table


def split_traces(con: duckdb.DuckDBPyConnection) -> None:
    """Make what the pass makes of the chosen traces: `built_steps`, `message_parts` and others.

    Args:
        con: Holds `spans`, `logs` and `chosen_traces` (trace_id, one row each).
    """
    make_table(con, "bucket_traces", QUERIES.unordered("landed_traces"))
    split_into_steps(con)
