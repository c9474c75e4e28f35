"""Builds one bucket of traces: from their spans to staged files of what a build makes."""

from typing import Final, NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from tracegrade_lake import RAW_LOGS, RAW_SPANS, Table
from tracegrade_queries.build.split import FOUND, split_into_steps
from tracegrade_queries.costs.pricing import (
    COSTED,
    NO_PRICES,
    Prices,
    create_prices,
    with_costs,
    work_out_costs,
)
from tracegrade_queries.dimensions.labeling import with_labels
from tracegrade_queries.dimensions.mapping import NO_MAPPING, DimensionMapping
from tracegrade_queries.engine.bucket_work import Bucket, Outcome, opened
from tracegrade_queries.engine.connection import DEDUPLICATED
from tracegrade_queries.engine.pinned import PinnedLake, received_between
from tracegrade_queries.engine.relations import make_table, make_view
from tracegrade_queries.engine.staged import stage_rows
from tracegrade_queries.schema import STEPS

RAW: Final = (RAW_SPANS, RAW_LOGS)
"""The tables that are read."""


class BuildSpecification(NamedTuple):
    """What all buckets of a build share."""

    prices: Prices = NO_PRICES
    """Prices of models."""
    mapping: DimensionMapping | None = None
    """Names the attributes that runs' dimensions are read from; None for the release alone."""
    retrieval: bool = False
    """Searches and operations on memory are steps."""


def build_bucket(bucket: Bucket[BuildSpecification]) -> Outcome:
    """Stage the steps, agents and trajectories of one bucket; return what else its spans say.

    Args:
        bucket: Its traces as `buckets.sql` has them.
    """
    lake = bucket.lake.open()
    with opened(bucket, RAW) as con:
        _narrow(con, bucket.traces)
        prices, mapping, retrieval = bucket.specification
        split_into_steps(con, mapping=mapping or NO_MAPPING, retrieval=retrieval)
        steps = stage_rows(lake, STEPS, con.table("built_steps").to_arrow_table())
        label_built_runs(con, mapping)
        create_prices(con, prices)
        costed = {table.name: stage_rows(lake, table, costed_rows(con, table)) for table in COSTED}
        return Outcome(
            {STEPS.name: steps, **costed},
            {name: con.table(name).to_arrow_table() for name in FOUND},
        )


def label_built_runs(con: duckdb.DuckDBPyConnection, mapping: DimensionMapping | None) -> None:
    """Give the trajectories that `split_into_steps` made their dimensions."""
    make_table(con, "built_trajectories", with_labels(con, mapping, "built_trajectories"))


def costed_rows(con: duckdb.DuckDBPyConnection, table: Table) -> pa.Table:
    """Return what was built for a table, with its costs.

    Args:
        con: Holds `prices`, and what `split_into_steps` makes.
        table: One of `COSTED`.
    """
    work_out_costs(con, table, f"built_{table.name}")
    return with_costs(con, table, f"built_{table.name}").to_arrow_table()


def files_of(lake: PinnedLake, traces: pa.Table) -> PinnedLake:
    """Return those files of a lake that hold rows of the time of these traces."""
    keep = received_between(*_time(traces))
    return lake.only({table.name: keep for table in RAW})


def _narrow(con: duckdb.DuckDBPyConnection, traces: pa.Table) -> None:
    """Let `spans` and `logs` be of no other time than that of the traces."""
    first, last = _time(traces)
    for table in DEDUPLICATED:
        rows = f"SELECT * FROM memory.main.{table} WHERE received_ns BETWEEN {first} AND {last}"
        make_view(con, table, rows)


def _time(traces: pa.Table) -> tuple[int, int]:
    """Return when the first and the last row of the traces were received, ns since 1970."""
    return pc.min(traces["first_ns"]).as_py(), pc.max(traces["received_ns"]).as_py()
