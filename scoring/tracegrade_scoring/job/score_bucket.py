"""Scores one bucket of traces: from their steps to staged rows of the score tables.

Traces are independent, so a bucket bounds the memory and changes no score.

Makes:
    metric_faults: users' own metrics that failed or returned rows for no attempt in the bucket
"""

from collections.abc import Mapping
from typing import Final

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from tracegrade_lake import Table
from tracegrade_lake.crash_points import reach
from tracegrade_queries.engine.bucket_work import Bucket, Outcome, opened
from tracegrade_queries.engine.relations import put, table
from tracegrade_queries.engine.staged import in_full, stage_rows
from tracegrade_scoring.job.bucket_rows import READ, steps_read, take_bucket
from tracegrade_scoring.job.counts import count_bucket
from tracegrade_scoring.job.score_table import SCORERS, custom_rows, score_table
from tracegrade_scoring.job.unscorable import without_failing_traces
from tracegrade_scoring.own_metrics.bucket import OwnScores, own_scores, relations_wanted
from tracegrade_scoring.schema import (
    AMBIGUOUS_CALLS,
    CUSTOM_SCORES,
    DECISIONS,
    FAILED_CALLS,
    FAILURES,
    RUN_REASONS,
    SUB_GOALS,
    TRAJECTORY_SCORES,
)
from tracegrade_scoring.sql import RELATIONS
from tracegrade_scoring.statistics.sums import check_sums, sums_of
from tracegrade_scoring.tasks import Specification

STAGED: Final = (
    *(DECISIONS, SUB_GOALS, FAILURES, FAILED_CALLS, AMBIGUOUS_CALLS, RUN_REASONS),
    CUSTOM_SCORES,
    TRAJECTORY_SCORES,
)
"""The tables that each bucket adds rows to."""

EVIDENCE: Final = {
    DECISIONS: "decision_rows",
    SUB_GOALS: "sub_goal_rows",
    FAILURES: "failure_rows",
    FAILED_CALLS: "failed_call_rows",
    AMBIGUOUS_CALLS: "ambiguous_call_rows",
    RUN_REASONS: "reason_rows",
}
"""The rows of attempts behind each table of evidence."""

GIVEN: Final = frozenset(
    {"bucket_steps", "bucket_traces", "first_turns", "trajectories", "trajectory_ids", "verdicts"}
)
"""The tables that `take_bucket` leaves; all other tables derive from them."""

WANTED: Final = frozenset(
    {*SCORERS, *EVIDENCE.values(), "scored_trajectories"}
    | {"ambiguous_calls", "attempts", "calls", "steps"}
)
"""The relations that are written and counted; the last four are counted."""

METRIC_FAULTS: Final = "metric_faults"
"""Name of an outcome's table of faults in users' own metrics: `metric`, the error (`message`, NULL
without one) and the number of rows for no attempt (`unmatched`).
"""

SUMS: Final = "sum_parts"
"""Name of an outcome's table of sums of its scores."""

RESUMABLE: Final = "resumable_scores"
"""Under which an outcome has the scores of runs that may be resumed, see `earlier_parts.py`."""

MAY_BE_RESUMED: Final = (
    "trajectories WHERE len(open_calls) > 0 OR list_contains(flags, 'stopped_for_tools')"
)


def score_bucket(bucket: Bucket[Specification]) -> Outcome:
    """Stage the rows of one bucket; return with them its sums, and what is counted.

    Args:
        bucket: Its traces as `score_buckets.sql` has them; its specification is what they are
            scored against. A trace that makes scoring fail is left out and named.
    """
    return without_failing_traces(bucket, _scored)


def _scored(bucket: Bucket[Specification]) -> Outcome:
    """Score all traces of a bucket."""
    lake = bucket.lake.open()
    with opened(bucket, READ) as con:
        take_bucket(con, steps_read(bucket.specification))
        rows = score_traces(con, bucket.specification)
        sums = sums_of(rows[TRAJECTORY_SCORES])
        check_sums(sums, rows[TRAJECTORY_SCORES])
        files = {table.name: stage_rows(lake, table, new) for table, new in rows.items()}
        reach("scores_staged")
        scores = rows[TRAJECTORY_SCORES]
        resumable = _resumable_scores(con, scores)
        faults = con.table(METRIC_FAULTS).to_arrow_table()
        tables = {SUMS: sums, RESUMABLE: resumable, METRIC_FAULTS: faults}
        return Outcome(files, {**tables, **count_bucket(con, scores)})


def _resumable_scores(con: duckdb.DuckDBPyConnection, scores: pa.Table) -> pa.Table:
    """Return the scores of a bucket's traces that have a run which may be resumed.

    Args:
        con: Holds the bucket's `trajectories` and `trajectory_ids`.
        scores: All of the bucket, as `score_table` has them.
    """
    ids = con.sql(
        "SELECT id FROM trajectory_ids INNER JOIN trajectories USING (trajectory_id) "
        f"WHERE trace_id IN (SELECT trace_id FROM {MAY_BE_RESUMED})"
    ).to_arrow_table()
    chosen = pc.is_in(scores["trajectory_id"], value_set=ids["id"].combine_chunks())
    rows = scores.filter(chosen)
    return pa.table({name: in_full(rows[name]) for name in rows.column_names})


def score_traces(
    con: duckdb.DuckDBPyConnection, specification: Specification
) -> dict[Table, pa.Table]:
    """Return the rows of one bucket for each table of STAGED; scores as `score_table` has them.

    The connection then has `metric_faults`: the faults in answers of users' own metrics.

    Args:
        con: Holds `bucket_traces`, and the bucket's rows as `take_bucket` leaves them.
        specification: Tasks and tools to score against.
    """
    options = options_of(specification)
    RELATIONS.run(con, targets_of(specification), GIVEN, options=options, context=specification)
    return new_rows(con, specification)


def targets_of(specification: Specification) -> frozenset[str]:
    """Return the relations that the rows of all tables are read from."""
    return WANTED | relations_wanted(specification.metrics)


def options_of(specification: Specification) -> dict[str, object]:
    """Return the options that the relations of a bucket are made with."""
    return {**hashes(specification), "compat": specification.tool_correctness.compat}


def new_rows(
    con: duckdb.DuckDBPyConnection, specification: Specification
) -> dict[Table, pa.Table]:
    """Return what `score_traces` does, from relations that are made already.

    Args:
        con: Holds those that `targets_of` names.
        specification: What they were made with.
    """
    own = own_scores(con, specification.metrics)
    faults = [
        (name, scores.failure, scores.unmatched)
        for name, scores in own.items()
        if scores.failure is not None or scores.unmatched
    ]
    put(con, METRIC_FAULTS, table(_FAULTS, faults))
    return _new_rows(con, own, specification)


_FAULTS: Final = pa.schema(
    {"metric": pa.string(), "message": pa.string(), "unmatched": pa.int64()}
)


def _new_rows(
    con: duckdb.DuckDBPyConnection, own: Mapping[str, OwnScores], specification: Specification
) -> dict[Table, pa.Table]:
    """Return the rows of the score tables, from what the scorers and own metrics made."""
    rows = {table: evidence_rows(con, table) for table in EVIDENCE}
    scores = score_table(con, own)
    rows[CUSTOM_SCORES] = custom_rows(scores, own, specification.metrics)
    rows[TRAJECTORY_SCORES] = scores
    return rows


def evidence_rows(con: duckdb.DuckDBPyConnection, table: Table) -> pa.Table:
    """Return the rows of a table of `EVIDENCE`, whose relation and `scored_trajectories` exist."""
    return con.sql(_described(table, EVIDENCE[table])).to_arrow_table().cast(table.arrow())


def hashes(specification: Specification) -> dict[str, str]:
    """Return the hashes of what attempts without a known task are scored against."""
    return {"tools_hash": specification.tools_hash, "match_hash": specification.match_hash}


def _described(table: Table, rows: str) -> str:
    """Return the query that adds task, release and date to the rows of attempts.

    Runs are numbers there, and get their ids again.
    """
    known = {name: f"known.{name}" for name in ("task_id", "release", "agent_name", "date")}
    runs = {name: f"{name}_of.id AS {name}" for name in ("trajectory_id", "step_trajectory_id")}
    names = [column.name for column in table.columns]
    columns = [(known | runs).get(name, f"found.{name}") for name in names]
    owners = [
        f"LEFT JOIN trajectory_ids AS {name}_of ON found.{name} = {name}_of.trajectory_id"
        for name in runs
        if name in names
    ]
    return (
        f"SELECT {', '.join(columns)} FROM {rows} AS found "
        f"INNER JOIN scored_trajectories AS known USING (trajectory_id) {' '.join(owners)}"
    )
