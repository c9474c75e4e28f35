"""Turns the spans of one bucket of traces into steps and trajectories.

Makes:
    label_rungs: the attributes that runs keep as labels
    optional_steps: the kinds of spans that are steps only if a build is asked for them
"""

from collections.abc import Collection
from typing import Final

import duckdb
import pyarrow as pa

from tracegrade_queries.dimensions.mapping import NO_MAPPING, DimensionMapping, label_rungs
from tracegrade_queries.engine.relations import put
from tracegrade_queries.graph import Run
from tracegrade_queries.relations import RELATIONS

FOUND: Final = ("evaluations", "unread_scopes", "detached_model_calls", "fragments", "copies")
"""Findings about a bucket in addition to the rows that are built."""

BUILD_TARGETS: Final = ("built_steps", "built_agents", "built_trajectories", *FOUND)
"""Relations that a build reads; all others are dropped after their last reader."""

_GIVEN: Final = ("spans", "logs", "bucket_traces", "label_rungs", "optional_steps")


def split_into_steps(
    con: duckdb.DuckDBPyConnection,
    targets: Collection[str] = BUILD_TARGETS,
    mapping: DimensionMapping = NO_MAPPING,
    *,
    retrieval: bool = False,
) -> Run:
    """Make relations of a bucket: its steps, its trajectories, and their sources.

    Args:
        con: Holds `spans`, `logs` and `bucket_traces` (trace_id, date, records, received_ns,
            imported): the traces to build.
        targets: The names of the relations to keep, with the sources of views among them.
        mapping: Names the attributes that runs keep as labels.
        retrieval: Searches and operations on memory are steps.
    """
    put(con, "label_rungs", label_rungs(mapping))
    kinds = ["retrieval"] if retrieval else []
    put(con, "optional_steps", pa.table({"kind": pa.array(kinds, pa.string())}))
    return RELATIONS.run(con, targets, _GIVEN)
