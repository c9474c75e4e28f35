"""Tries task files on the newest traces of a lake: scores them in memory, and writes nothing."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import duckdb
import pyarrow as pa

from tracegrade.terminal.visible import visible
from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.job.in_memory import score_in_memory
from tracegrade_scoring.metrics import Scale
from tracegrade_scoring.rendering import words
from tracegrade_scoring.tasks import Specification

_TRACES: Final = """
  SELECT trace_id FROM spans
  GROUP BY trace_id ORDER BY max(received_ns) DESC, trace_id LIMIT $traces
"""
_SPANS: Final = "SELECT * FROM spans WHERE list_contains($ids::VARCHAR[], trace_id)"
_LOGS: Final = "SELECT * FROM logs WHERE list_contains($ids::VARCHAR[], trace_id)"
_RUNS: Final = """
  SELECT
    trajectory_scores.task_id, count(*), count(trajectory_scores.success.value),
    coalesce(sum(trajectory_scores.success.value), 0)::BIGINT,
    avg(trajectory_scores.tsa.value)
  FROM trajectory_scores
  INNER JOIN trajectories USING (trajectory_id)
  WHERE trajectories.parent_trajectory_id IS NULL
  GROUP BY trajectory_scores.task_id ORDER BY trajectory_scores.task_id NULLS LAST
"""
_REASONS: Final = """
  SELECT task_id, sentence, count(DISTINCT trajectory_id) AS runs FROM run_reasons
  WHERE rank_in_run = 1 AND success IS NOT TRUE
  GROUP BY task_id, sentence ORDER BY runs, sentence DESC
"""


class TriedTask(NamedTuple):
    """The runs of one task."""

    task_id: str | None
    """None: runs that no task fits."""
    runs: int
    known: int
    """Runs with a known success."""
    succeeded: int
    tsa: float | None
    """Mean over the runs that have it; None if none has."""
    reason: str | None
    """The most frequent first reason of runs without success; None if none has one."""
    reason_runs: int


class TriedTasks(NamedTuple):
    """The scores of some traces by task files."""

    traces: int
    tasks: Sequence[TriedTask]
    without_runs: Sequence[str]
    """Tasks of the files that no run has."""


def try_tasks(lake: Lake, specification: Specification, traces: int) -> TriedTasks:
    """Score the newest traces of a lake in memory against task files.

    Args:
        lake: It is read only.
        specification: Of the task files.
        traces: The most traces.
    """
    with connect(lake) as con:
        ids = [each for (each,) in con.execute(_TRACES, {"traces": traces}).fetchall()]
        spans, logs = (_rows(con, sql, ids) for sql in (_SPANS, _LOGS))
    with score_in_memory(spans, logs, specification) as scored:
        tasks = [*_tasks(scored)]
    found = {each.task_id for each in tasks}
    return TriedTasks(len(ids), tasks, sorted(specification.tasks.keys() - found))


def _rows(con: duckdb.DuckDBPyConnection, sql: str, ids: Sequence[str]) -> pa.Table:
    return con.sql(sql, params={"ids": ids}).to_arrow_table()


def _tasks(con: duckdb.DuckDBPyConnection) -> Iterator[TriedTask]:
    reasons = {task: (text, runs) for task, text, runs in con.sql(_REASONS).fetchall()}
    for task, runs, known, succeeded, tsa in con.sql(_RUNS).fetchall():
        yield TriedTask(task, runs, known, succeeded, tsa, *reasons.get(task, (None, 0)))


def tried_lines(tried: TriedTasks) -> Iterator[str]:
    """Yield what was found, in lines for a terminal."""
    yield f"tried on {words.count(tried.traces, 'trace')}; nothing is written:"
    for each in tried.tasks:
        runs = words.count(each.runs, "run")
        if each.task_id is None:
            yield f"  no task fits {runs}"
            continue
        yield f"  {visible(each.task_id)}: {runs}, {_found(each)}"
    if tried.without_runs:
        yield f"  no run of {', '.join(words.name(each) for each in tried.without_runs[:20])}"


def _found(task: TriedTask) -> str:
    """Return success, correct decisions and the most frequent reason of its runs."""
    success = (
        f"{task.succeeded:,} of {task.known:,} succeeded" if task.known else "success unknown"
    )
    tsa = f"tsa {words.amount(task.tsa, Scale.SHARE)}" if task.tsa is not None else ""
    reason = ""
    if task.reason:
        reason = f"{words.count(task.reason_runs, 'run')}: {words.line(task.reason)}"
    return "; ".join(filter(None, (success, tsa, reason)))
