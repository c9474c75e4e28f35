"""Scores spans without a lake: builds and scores them in one bucket, in memory.

Its own module because it is what a scoring job does, without what makes a job safe to repeat:
files, commits, locks and notes. The relations are the same, so the rows are the same. All traces
count as complete, like those of an import.

Makes:
    bucket_traces: the traces, for the build
    watermarks: none, since nothing was built before
"""

from collections.abc import Mapping
from typing import Final

import duckdb
import pyarrow as pa

from tracegrade_collector.importing.verdict_rows import distinct_rows
from tracegrade_lake import RAW_LOGS, RAW_SPANS, VERDICTS, Table
from tracegrade_queries.build.build_bucket import costed_rows, label_built_runs
from tracegrade_queries.build.discovery import watermark_rows
from tracegrade_queries.build.split import split_into_steps
from tracegrade_queries.costs.price_list import price_list
from tracegrade_queries.costs.pricing import COSTED, Prices, create_prices
from tracegrade_queries.engine.connection import (
    COUNTED,
    DEDUPLICATED,
    Limits,
    connect_in_memory,
    create_layer_views,
)
from tracegrade_queries.engine.layers import BUILT
from tracegrade_queries.engine.relations import make_table, put
from tracegrade_queries.engine.sql import QUERIES
from tracegrade_queries.schema import STEPS
from tracegrade_scoring.job.lazy_scores import LazyScores, hold
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.schema import (
    RELEASE_SCORES,
    SCORE_SUMS,
)
from tracegrade_scoring.statistics.release import release_scores
from tracegrade_scoring.statistics.sums import add_scores, read_scores, total_sums
from tracegrade_scoring.tasks import Specification

ONE_THREAD: Final = Limits(threads=1)
"""Small tables: more threads cost more than they save."""

_TARGETS: Final = ("built_steps", "built_agents", "built_trajectories", "evaluations")

_BUILT_TRACES: Final = """
  SELECT trace_id, first_date AS date, first_ns, last_ns AS received_ns, records, imported
  FROM trace_receipts
  WHERE spans > 0
"""


def score_in_memory(
    spans: pa.Table,
    logs: pa.Table,
    specification: Specification,
    *,
    prices: Prices | None = None,
    limits: Limits = ONE_THREAD,
) -> duckdb.DuckDBPyConnection:
    """Return an engine that holds what a lake with these spans holds once it is scored.

    Nothing is written. Tables of sums over runs are left out; see `add_release_scores`.

    Args:
        spans: Rows of `raw_spans`, each once.
        logs: Rows of `raw_logs`.
        specification: Tasks and tools to score against.
        prices: Prices of models; None: the built-in list.
        limits: Limits of the engine. It never spills, so all rows must fit into memory.
    """
    return score_when_asked(spans, logs, specification, prices=prices, limits=limits).whole


def score_when_asked(
    spans: pa.Table,
    logs: pa.Table,
    specification: Specification,
    *,
    prices: Prices | None = None,
    limits: Limits = ONE_THREAD,
) -> LazyScores:
    """Return scores that are made once they are asked for; arguments as of `score_in_memory`."""
    con = connect_in_memory(limits)
    hold(con, {RAW_SPANS: spans, RAW_LOGS: logs})
    for name, raw in DEDUPLICATED.items():
        con.execute(f"CREATE VIEW {name} AS SELECT * FROM {raw} WHERE NOT resent")
    with con.cursor() as build:
        known = price_list().in_force().prices if prices is None else prices
        hold(con, _built(build, known))
    con.execute(f"CREATE VIEW {COUNTED} AS {QUERIES.unordered(COUNTED)}")
    return LazyScores(con, specification)


def add_release_scores(con: duckdb.DuckDBPyConnection, specification: Specification) -> None:
    """Add the tables of sums over runs, which reports read, to the tables of an engine.

    Args:
        con: As `score_in_memory` returns it.
        specification: What it was scored against.
    """
    put(con, "sum_parts", SCORE_SUMS.arrow().empty_table())
    add_scores(con, read_scores(con, "TRUE"))
    total_sums(con)
    sums = con.table("current_sums").to_arrow_table()
    releases = release_scores(con, metrics=specification.metrics)
    hold(con, {SCORE_SUMS: sums, RELEASE_SCORES: releases})


def connect_rows(
    tables: Mapping[Table, pa.Table], limits: Limits = ONE_THREAD
) -> duckdb.DuckDBPyConnection:
    """Return an engine with these tables of a lake, and with the views of scores.

    Args:
        tables: Rows of any of the tables of a scored lake.
        limits: Limits of the engine.
    """
    con = connect_in_memory(limits)
    hold(con, tables)
    con.execute(f"CREATE VIEW {COUNTED} AS {QUERIES.unordered(COUNTED)}")
    create_layer_views(con, (BUILT, SCORES))
    return con


def _built(con: duckdb.DuckDBPyConnection, prices: Prices) -> dict[Table, pa.Table]:
    """Return what a build makes of all spans."""
    put(con, "watermarks", watermark_rows({}))
    make_table(con, "trace_receipts", QUERIES.text("trace_receipts"))
    make_table(con, "bucket_traces", _BUILT_TRACES)
    split_into_steps(con, _TARGETS)
    label_built_runs(con, None)
    create_prices(con, prices)
    return {
        STEPS: con.table("built_steps").to_arrow_table(),
        **{table: costed_rows(con, table) for table in COSTED},
        VERDICTS: distinct_rows(con.table("evaluations").to_arrow_table().to_pylist()),
    }
