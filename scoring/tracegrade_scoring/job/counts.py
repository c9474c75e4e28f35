"""What a run counts as it goes: statuses of each metric, tasks of attempts, calls.

Counted bucket by bucket, so that the summary of a small run needs no look at the whole lake.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import duckdb
import numpy as np
import pyarrow as pa

from tracegrade_scoring.metrics import METRICS
from tracegrade_scoring.relations import append
from tracegrade_scoring.tasks import Specification


class CallCounts(NamedTuple):
    """How many tool calls attempts made."""

    made: int
    failed: int
    """By status, by what their result says, or by an `error_pattern`."""
    of_known_effect: int
    """What they can do is declared by a task file or told by their span."""


class Counts(NamedTuple):
    """What one run found."""

    statuses: Mapping[str, Mapping[tuple[str, str | None], int]]
    """By metric, and by status and reason (None if scored): trajectories."""
    task_sources: Mapping[str, int]
    """Attempts whose task was told by `span` or `match`, is `ambiguous`, `undescribed` (named by a
    span, described by no task file) or unknown (`none`)."""
    idle_tasks: list[str]
    """Tasks of the files that no attempt of the lake has, in the order of the files."""
    calls: CallCounts


NOTHING: Final = Counts({}, {}, [], CallCounts(0, 0, 0))


def start_counts(con: duckdb.DuckDBPyConnection) -> None:
    """Create `run_statuses`, `run_task_sources` and `run_calls`, still empty."""
    con.execute(
        "CREATE OR REPLACE TABLE run_statuses "
        "(metric TEXT, status TEXT, reason TEXT, trajectories BIGINT)"
    )
    con.execute("CREATE OR REPLACE TABLE run_task_sources (source TEXT, attempts BIGINT)")
    con.execute(
        "CREATE OR REPLACE TABLE run_calls (made BIGINT, failed BIGINT, of_known_effect BIGINT)"
    )


def add_counts(con: duckdb.DuckDBPyConnection, scores: pa.Table) -> None:
    """Count one bucket with these rows of `score_table`; needs `attempts` and `calls`."""
    append(con, "run_statuses", pa.concat_tables(_statuses(scores)))
    con.execute(f"INSERT INTO run_task_sources {_TASK_SOURCES}")
    con.execute(
        "INSERT INTO run_calls SELECT count(*), count_if(failed), count(effect) FROM calls"
    )


def _statuses(scores: pa.Table) -> Iterator[pa.Table]:
    """Yield the status and reason of each metric's scores, and how many trajectories have them."""
    for metric in METRICS:
        for score in scores[metric].chunks:
            times = np.bincount(score.indices, minlength=len(score.dictionary))
            found = pa.Table.from_struct_array(score.dictionary).select(["status", "reason"])
            counted = found.append_column("trajectories", pa.array(times)).filter(times > 0)
            yield counted.append_column("metric", pa.repeat(metric, len(counted)))


def read_counts(con: duckdb.DuckDBPyConnection, specification: Specification) -> Counts:
    """Return what was counted; needs `current_sums`."""
    statuses: dict[str, dict[tuple[str, str | None], int]] = {name: {} for name in METRICS}
    for metric, status, reason, count in con.sql(
        "SELECT metric, status, reason, sum(trajectories)::BIGINT FROM run_statuses "
        "GROUP BY ALL ORDER BY ALL"
    ).fetchall():
        statuses[metric][status, reason] = count
    sources = con.sql(
        "SELECT source, sum(attempts)::BIGINT FROM run_task_sources GROUP BY ALL ORDER BY ALL"
    )
    found = con.sql("SELECT DISTINCT task_id FROM current_sums WHERE task_id IS NOT NULL")
    seen = {task_id for (task_id,) in found.fetchall()}
    idle = [task_id for task_id in specification.tasks if task_id not in seen]
    return Counts(statuses, dict(sources.fetchall()), idle, _read_calls(con))


def _read_calls(con: duckdb.DuckDBPyConnection) -> CallCounts:
    counted = con.sql(
        "SELECT coalesce(sum(made), 0)::BIGINT, coalesce(sum(failed), 0)::BIGINT, "
        "coalesce(sum(of_known_effect), 0)::BIGINT FROM run_calls"
    )
    return CallCounts(*counted.fetchall()[0])


_TASK_SOURCES: Final = """
  SELECT
    CASE
      WHEN ambiguous THEN 'ambiguous'
      WHEN task_source = 'span' AND NOT specified THEN 'undescribed'
      ELSE coalesce(task_source, 'none')
    END AS source,
    count(*)
  FROM attempts
  GROUP BY source
"""
