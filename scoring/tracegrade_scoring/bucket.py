"""Scores one bucket of traces: from their steps to rows of the score tables.

Traces are independent, so a bucket bounds the memory and changes no score. Temporary tables named
`steps`, `trajectories` and `verdicts` stand before the lake's and hold the bucket's rows alone.
"""

from collections.abc import Mapping
from typing import Final

import duckdb

from tracegrade_collector.lake import Table
from tracegrade_queries.connection import duckdb_type
from tracegrade_scoring import conduct, plan_graph, planning, replanning, tool_selection
from tracegrade_scoring.metrics import METRICS, UNSAID
from tracegrade_scoring.prepare import create_relations
from tracegrade_scoring.relations import materialise
from tracegrade_scoring.schema import (
    DECISIONS,
    FAILURES,
    SCORE,
    SCORER_VERSION,
    SUB_GOALS,
    TRAJECTORY_SCORES,
)
from tracegrade_scoring.tasks import Specification

STAGED: Final = (DECISIONS, SUB_GOALS, FAILURES, TRAJECTORY_SCORES)
"""The tables whose new rows are collected bucket by bucket, as `new_<name>`."""

_EVIDENCE: Final = {
    DECISIONS: "decision_rows",
    SUB_GOALS: "sub_goal_rows",
    FAILURES: "failure_rows",
}
"""The rows of attempts behind each table of evidence."""

_BUCKET: Final[Mapping[str, str]] = {
    "trajectories": "SELECT lake.* FROM memory.main.trajectories AS lake SEMI JOIN bucket_traces "
    "ON lake.trace_id = bucket_traces.trace_id",
    "steps": "SELECT lake.* FROM memory.main.steps AS lake SEMI JOIN bucket_traces "
    "ON lake.trace_id = bucket_traces.trace_id",
    # A verdict that names the trace alone is about its outermost runs.
    "verdicts": "SELECT lake.* REPLACE (trajectories.trajectory_id AS trajectory_id) "
    "FROM memory.main.verdicts AS lake INNER JOIN trajectories "
    "ON lake.trajectory_id = trajectories.trajectory_id "
    "OR (lake.trajectory_id = trajectories.trace_id "
    "AND trajectories.parent_trajectory_id IS NULL)",
}


def create_staging(con: duckdb.DuckDBPyConnection) -> None:
    """Create the empty tables that `score_bucket` fills."""
    for table in STAGED:
        columns = ", ".join(f"{c.name} {duckdb_type(c.type)}" for c in table.columns)
        con.execute(f"CREATE TEMP TABLE new_{table.name} ({columns})")


def score_bucket(con: duckdb.DuckDBPyConnection, specification: Specification) -> None:
    """Add the rows of one bucket to the staging tables.

    Args:
        con: Holds `bucket_traces` (trace_id), `traces_to_score` and the lake's tables.
        specification: What to score against.
    """
    for name, rows in _BUCKET.items():
        con.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {rows}")
    create_relations(con, specification)
    materialise(con, "endings")
    tool_selection.score(con, specification)
    materialise(con, "step_scores")
    conduct.score(con)
    plan_graph.score(con)
    replanning.score(con)
    planning.score(con, specification)
    materialise(con, "rollback_scores")
    materialise(con, "metric_rows")
    materialise(con, "scored_trajectories")
    con.execute(f"INSERT INTO new_trajectory_scores BY NAME {_WIDE}", _constants(specification))
    materialise(con, "failure_rows")
    for table, rows in _EVIDENCE.items():
        con.execute(f"INSERT INTO new_{table.name} {_described(table, rows)}")


def drop_bucket(con: duckdb.DuckDBPyConnection) -> None:
    """Let the names `steps`, `trajectories` and `verdicts` mean the lake's tables again."""
    for name in _BUCKET:
        con.execute(f"DROP TABLE IF EXISTS temp.{name}")


def _constants(specification: Specification) -> dict[str, str]:
    return {"scorer_version": SCORER_VERSION, "specification_hash": specification.hash}


def _described(table: Table, rows: str) -> str:
    """Return the query that adds task, release and date to the rows of attempts."""
    known = {"task_id", "release", "date"}
    columns = [f"{'known' if c.name in known else 'found'}.{c.name}" for c in table.columns]
    return (
        f"SELECT {', '.join(columns)} FROM {rows} AS found "
        "INNER JOIN scored_trajectories AS known USING (trajectory_id) ORDER BY ALL"
    )


def _wide() -> str:
    """Return the query that puts every metric of a trajectory into a column of its own.

    A metric that no scorer gave is not applicable to a sub-agent's run; for an attempt that would
    be our error, and it is called one, unless its absence says something.
    """
    score = duckdb_type(SCORE)
    fields = ", ".join(f"'{field.name}': {field.name}" for field in SCORE)
    packed = ", ".join(
        f"any_value({{{fields}}}::{score}) FILTER (WHERE metric = '{name}') AS {name}"
        for name in METRICS
    )
    columns = ", ".join(
        f"coalesce(packed.{name}, {_absent(name)}::{score}) AS {name}" for name in METRICS
    )
    return (
        f"WITH packed AS (SELECT trajectory_id, {packed} FROM metric_rows GROUP BY trajectory_id) "
        f"SELECT known.* EXCLUDE (is_root), $scorer_version AS scorer_version, "
        f"$specification_hash AS specification_hash, {columns} "
        "FROM scored_trajectories AS known LEFT JOIN packed USING (trajectory_id) "
        "ORDER BY known.trajectory_id"
    )


def _absent(metric: str) -> str:
    """Return the score of a metric without a row."""
    status = "not_applicable" if metric in UNSAID else "error"
    return (
        "{'value': NULL, 'numerator': NULL, 'denominator': NULL, "
        f"'status': if(known.is_root, '{status}', 'not_applicable'), 'label': NULL, 'reason': "
        f"if(known.is_root, '{UNSAID.get(metric, 'not_measured')}', 'child_trajectory'), "
        "'source': NULL}"
    )


_WIDE: Final = _wide()
