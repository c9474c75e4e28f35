"""Scores one bucket of traces: from their steps to rows of the score tables.

Traces are independent, so a bucket bounds the memory and changes no score.
"""

from typing import Final

import duckdb

from tracegrade_collector.lake import Table
from tracegrade_queries.connection import duckdb_type
from tracegrade_queries.sql import query
from tracegrade_scoring import (
    conduct,
    plan_graph,
    planning,
    replanning,
    tool_correctness,
    tool_selection,
)
from tracegrade_scoring.metrics import METRICS, UNSAID
from tracegrade_scoring.prepare import create_relations
from tracegrade_scoring.relations import materialise, unordered
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
"""The tables that each bucket adds rows to, made as `new_<name>`."""

_EVIDENCE: Final = {
    DECISIONS: "decision_rows",
    SUB_GOALS: "sub_goal_rows",
    FAILURES: "failure_rows",
}
"""The rows of attempts behind each table of evidence."""


def score_bucket(con: duckdb.DuckDBPyConnection, specification: Specification) -> None:
    """Make `new_<table>` of each score table: the rows of one bucket.

    Args:
        con: Holds `traces_to_score`, and the bucket's rows as `take_bucket` leaves them.
        specification: What to score against.
    """
    create_relations(con, specification)
    materialise(con, "endings")
    tool_selection.score(con)
    tool_correctness.score(con, specification.tool_correctness)
    materialise(con, "step_scores")
    plan_graph.score(con)
    conduct.score(con)
    replanning.score(con)
    planning.score(con, specification)
    materialise(con, "rollback_scores")
    con.execute(_METRIC_ROWS)
    create = f"CREATE OR REPLACE TEMP TABLE scored_trajectories AS {query('scored_trajectories')}"
    con.execute(create, hashes(specification))
    _replace(con, TRAJECTORY_SCORES, _WIDE)
    for table, rows in _EVIDENCE.items():
        _replace(con, table, _described(table, rows))


def hashes(specification: Specification) -> dict[str, str]:
    """Return the hashes of what attempts without a known task are held against."""
    return {"tools_hash": specification.tools_hash, "match_hash": specification.match_hash}


def _replace(con: duckdb.DuckDBPyConnection, table: Table, rows: str) -> None:
    """Create `new_<table>` with the declared columns from a query that has them."""
    columns = ", ".join(f"{c.name}::{duckdb_type(c.type)} AS {c.name}" for c in table.columns)
    con.execute(f"CREATE OR REPLACE TEMP TABLE new_{table.name} AS SELECT {columns} FROM ({rows})")


def _described(table: Table, rows: str) -> str:
    """Return the query that adds task, release and date to the rows of attempts."""
    known = {"task_id", "release", "date"}
    columns = [f"{'known' if c.name in known else 'found'}.{c.name}" for c in table.columns]
    return (
        f"SELECT {', '.join(columns)} FROM {rows} AS found "
        "INNER JOIN scored_trajectories AS known USING (trajectory_id)"
    )


def _wide() -> str:
    """Return the query that puts every metric of a trajectory into a column of its own.

    A metric that no scorer gave is not applicable to a sub-agent's run; for an attempt that would
    be our error, and it is called one, unless its absence says something.
    """
    score = duckdb_type(SCORE)
    fields = ", ".join(f"'{field.name}': {field.name}" for field in SCORE)
    columns = ", ".join(
        f"coalesce({name}.score, {_absent(name)}::{score}) AS {name}" for name in METRICS
    )
    # A join for each metric costs less than an aggregate of as many columns.
    joins = " ".join(
        f"LEFT JOIN (SELECT trajectory_id, {{{fields}}}::{score} AS score FROM metric_rows "
        f"WHERE metric = '{name}') AS {name} USING (trajectory_id)"
        for name in METRICS
    )
    return (
        f"SELECT known.* EXCLUDE (is_root), '{SCORER_VERSION}' AS scorer_version, {columns} "
        f"FROM scored_trajectories AS known {joins}"
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

# The name is compared once for each metric and row, so it is a number here.
_METRIC_ROWS: Final = (
    "CREATE OR REPLACE TEMP TABLE metric_rows AS SELECT * REPLACE (metric::ENUM("
    + ", ".join(f"'{name}'" for name in METRICS)
    + f") AS metric) FROM ({unordered('metric_rows')})"
)
