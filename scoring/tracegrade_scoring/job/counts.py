"""Counts of a scoring run, bucket by bucket: statuses of each metric, tasks of attempts, calls.

Counted bucket by bucket, so that the summary of a small run needs no look at the whole lake.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import duckdb
import numpy as np
import pyarrow as pa

from tracegrade_queries.engine.relations import append, put
from tracegrade_scoring.metrics import METRICS
from tracegrade_scoring.sql import query
from tracegrade_scoring.statistics.sums import metrics_in
from tracegrade_scoring.tasks import Specification


class CallCounts(NamedTuple):
    """Counts of the tool calls of attempts."""

    made: int
    failed: int
    """By status, by what their result says, or by an `error_pattern`."""
    of_known_effect: int
    """Calls whose effect is declared in a task file or on their span."""
    of_made_up_tools: int
    """Other calls that failed, of tools that were not offered: they changed nothing."""


class Counts(NamedTuple):
    """The counts of one run."""

    statuses: Mapping[str, Mapping[tuple[str, str | None], int]]
    """Trajectories by metric, and by status and reason (None if scored), without the earlier parts
    of resumed runs.
    """
    task_sources: Mapping[str, int]
    """Attempts whose task is known by `span` or `match`, is `ambiguous`, `undescribed` (named by a
    span, described by no task file) or unknown (`none`)."""
    idle_tasks: list[str]
    """Tasks of the files that no attempt of the lake has, in the order of the files."""
    calls: CallCounts
    redacted: Mapping[str, int]
    """Values in the arguments, results and texts of steps that were redacted, by rule."""
    served_verdicts: Mapping[str, int]
    """Outcomes of the verdicts on which sub-goal a call serves, as `served_verdicts.sql` has them.
    """


NOTHING: Final = Counts({}, {}, [], CallCounts(0, 0, 0, 0), {}, {})


_TEXT: Final = pa.string()
_COUNT: Final = pa.int64()
_COUNTED: Final = {
    "run_statuses": pa.schema(
        {"metric": _TEXT, "status": _TEXT, "reason": _TEXT, "trajectories": _COUNT}
    ),
    "run_task_sources": pa.schema({"source": _TEXT, "attempts": _COUNT}),
    "run_calls": pa.schema(dict.fromkeys(CallCounts._fields, _COUNT)),
    "run_redacted": pa.schema({"rule": _TEXT, "values": _COUNT}),
    "run_served_verdicts": pa.schema({"outcome": _TEXT, "verdicts": _COUNT}),
}
"""The counts of each bucket; the rows of all buckets are added up."""


def count_bucket(con: duckdb.DuckDBPyConnection, scores: pa.Table) -> dict[str, pa.Table]:
    """Return what is counted of one bucket, by name.

    Args:
        con: Holds its `ambiguous_calls`, `attempts`, `calls`, `steps` and `verdicts`.
        scores: Its rows of `score_table`; at least one.
    """
    return {
        "run_statuses": pa.concat_tables(_statuses(scores)),
        "run_task_sources": con.sql(_TASK_SOURCES).to_arrow_table(),
        "run_calls": con.sql(_CALLS).to_arrow_table(),
        "run_redacted": con.sql(query("redacted_values")).to_arrow_table(),
        "run_served_verdicts": con.sql(query("served_verdicts")).to_arrow_table(),
    }


def _statuses(scores: pa.Table) -> Iterator[pa.Table]:
    """Yield the status and reason of each metric's scores, and how many trajectories have them."""
    for metric in metrics_in(scores.schema):
        for score in scores[metric].chunks:
            times = np.bincount(score.indices, minlength=len(score.dictionary))
            found = pa.Table.from_struct_array(score.dictionary).select(["status", "reason"])
            counted = found.append_column("trajectories", pa.array(times)).filter(times > 0)
            yield counted.append_column("metric", pa.repeat(metric, len(counted)))


def _statuses_of_few(scores: pa.Table) -> Iterator[pa.Table]:
    """Yield the same for scores outside dictionaries, one row for each."""
    for metric in metrics_in(scores.schema):
        found = pa.Table.from_struct_array(scores[metric]).select(["status", "reason"])
        yield found.append_column("metric", pa.repeat(metric, len(found)))


_TAKEN_OFF: Final = "*, -1 AS trajectories"


def read_counts(
    con: duckdb.DuckDBPyConnection,
    specification: Specification,
    counted: Mapping[str, pa.Table],
) -> Counts:
    """Return what was counted.

    Args:
        con: Holds `current_sums` and `earlier_part_scores`.
        specification: What was scored against.
        counted: By name the rows of `count_bucket` of all buckets; no tables if there were none.
    """
    for name, schema in _COUNTED.items():
        put(con, name, counted.get(name, schema.empty_table()))
    earlier = con.sql("FROM earlier_part_scores WHERE made_anew").to_arrow_table()
    append(con, "run_statuses", pa.concat_tables(_statuses_of_few(earlier)), _TAKEN_OFF)
    names = [*METRICS, *(each.name for each in specification.metrics)]
    statuses: dict[str, dict[tuple[str, str | None], int]] = {name: {} for name in names}
    for metric, status, reason, count in con.sql(
        "SELECT metric, status, reason, sum(trajectories)::BIGINT FROM run_statuses "
        "GROUP BY ALL HAVING sum(trajectories) > 0 ORDER BY ALL"
    ).fetchall():
        statuses.setdefault(metric, {})[status, reason] = count
    sources = con.sql(
        "SELECT source, sum(attempts)::BIGINT FROM run_task_sources GROUP BY ALL ORDER BY ALL"
    )
    found = con.sql("SELECT DISTINCT task_id FROM current_sums WHERE task_id IS NOT NULL")
    matched = {task_id for (task_id,) in found.fetchall()}
    idle = [task_id for task_id in specification.tasks if task_id not in matched]
    redacted = con.sql(
        'SELECT rule, sum("values")::BIGINT FROM run_redacted GROUP BY ALL ORDER BY ALL'
    )
    served = con.sql(
        "SELECT outcome, sum(verdicts)::BIGINT FROM run_served_verdicts GROUP BY ALL ORDER BY ALL"
    )
    return Counts(
        statuses,
        dict(sources.fetchall()),
        idle,
        _read_calls(con),
        dict(redacted.fetchall()),
        dict(served.fetchall()),
    )


def _read_calls(con: duckdb.DuckDBPyConnection) -> CallCounts:
    sums = (f"coalesce(sum({name}), 0)::BIGINT" for name in CallCounts._fields)
    counted = con.sql(f"SELECT {', '.join(sums)} FROM run_calls")
    return CallCounts(*counted.fetchall()[0])


_TASK_SOURCES: Final = """
  SELECT
    CASE
      WHEN ambiguous THEN 'ambiguous'
      WHEN task_source = 'span' AND NOT specified THEN 'undescribed'
      ELSE coalesce(task_source, 'none')
    END AS source,
    count(*) AS attempts
  FROM attempts
  GROUP BY source
"""

_CALLS: Final = """
  SELECT
    count(*) AS made,
    count_if(failed) AS failed,
    count(effect) AS of_known_effect,
    count_if(effect IS NULL AND NOT may_change) AS of_made_up_tools
  FROM calls
"""
