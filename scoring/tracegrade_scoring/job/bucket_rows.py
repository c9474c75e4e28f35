"""Temporary tables with the rows of one bucket of traces; most hide a lake table of their name.

Its own module because it decides how much of the lake a run reads. A bucket's traces are next to
each other, so dates and ranges of ids let the engine skip all others. Ids of trajectories are
numbers in a bucket, in the order of the ids: metrics join, group and sort by them all the time.

Makes:
    bucket_steps (from bucket_traces, steps, trajectory_ids): the steps of its runs
    bucket_traces (from score_buckets): the traces of the current bucket
    first_turns (from bucket_traces, trajectory_ids): the turns of a conversation that runs have
    trajectory_ids (from bucket_traces, trajectories): the numbers of the bucket's runs
"""

from collections.abc import Iterator, Sequence
from typing import Final

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from tracegrade_lake import VERDICTS
from tracegrade_queries.engine.bucket_work import bucket_size, traces_by_bucket
from tracegrade_queries.engine.pinned import PinnedLake, dated_between
from tracegrade_queries.engine.relations import make_table
from tracegrade_queries.schema import STEPS, TRAJECTORIES
from tracegrade_scoring.sql import query
from tracegrade_scoring.tasks import Specification

READ: Final = (STEPS, TRAJECTORIES, VERDICTS)
"""The tables that are read."""

LEAST_STEPS: Final = 20_000
"""Fewer are not divided: planning a bucket's queries takes as long."""

_BOUNDS: Final = """
  SELECT min(date) AS first_date, max(date) AS last_date,
         min(trace_id) AS first_id, max(trace_id) AS last_id
  FROM bucket_traces
"""

# Many runs share few texts of offered tools. Each text is read once if texts are grouped before
# all else, and stored once as a value of an ENUM. An id of a run begins with its trace's id.
_TRAJECTORY_IDS: Final = """
  CREATE TEMP TABLE trajectory_ids AS
  WITH offers AS (
    SELECT offered_tools::offer AS offered_tools, list(trajectory_id) AS ids
    FROM memory.main.trajectories
    WHERE date BETWEEN $first_date AND $last_date AND trace_id BETWEEN $first_id AND $last_id
    GROUP BY trajectories.offered_tools
  ),

  runs AS (SELECT unnest(ids) AS id, offered_tools FROM offers)

  SELECT id, (row_number() OVER (ORDER BY id) - 1)::INTEGER AS trajectory_id, offered_tools
  FROM runs
  INNER JOIN bucket_traces ON split_part(id, '-', 1) = bucket_traces.trace_id
  WHERE bucket_traces.left_out IS NULL OR NOT list_contains(bucket_traces.left_out, id)
"""

# A parent that is not here is none of the numbers.
_TRAJECTORIES: Final = """
  CREATE TEMP TABLE trajectories AS
  SELECT {columns}
  FROM memory.main.trajectories AS lake
  INNER JOIN trajectory_ids AS ids ON lake.trajectory_id = ids.id
  LEFT JOIN trajectory_ids AS parents ON lake.parent_trajectory_id = parents.id
  WHERE lake.date BETWEEN $first_date AND $last_date
    AND lake.trace_id BETWEEN $first_id AND $last_id
"""

_STEPS: Final = """
  CREATE TEMP TABLE bucket_steps AS
  SELECT {columns}
  FROM memory.main.steps AS lake
  INNER JOIN trajectory_ids AS ids ON lake.trajectory_id = ids.id
  WHERE lake.date BETWEEN $first_date AND $last_date
    AND lake.trace_id BETWEEN $first_id AND $last_id
"""

_NUMBERED: Final = {
    "trajectory_id": "ids.trajectory_id",
    "parent_trajectory_id": "if(lake.parent_trajectory_id IS NULL, NULL, "
    "coalesce(parents.trajectory_id, -1)) AS parent_trajectory_id",
    "offered_tools": "ids.offered_tools",
}
"""Columns that are taken changed."""

NOT_SCORED: Final = frozenset(
    {"tool_call_id", "status_source", "model", "input_tokens"}
    | {"output_tokens", "cache_read_tokens", "reasoning_tokens", "end_time", "duration_ms"}
    | {"trace_id", "request_span_id", "parent_span_id", "dialect", "provenance", "date"}
)
"""Columns of `steps` that no metric reads; a task file's expressions may."""

_RUNS_NOT_SCORED: Final = frozenset(
    {"root_span_id", "service_name", "environment", "conversation_id", "outcome_source"}
    | {"step_count", "tool_call_count", "error_count", "model_usage", "start_time", "end_time"}
    | {"dialects", "trace_records", "trace_received_ns", "imported", "date", "turn_count"}
)
"""Columns of `trajectories` that no metric reads."""

# A verdict that names the trace alone is about its outermost runs. Metrics read those that count.
# A step's run that is not here is none of the numbers.
_VERDICTS: Final = """
  CREATE TEMP TABLE verdicts AS
  WITH judged AS (
    SELECT lake.*, ids.trajectory_id AS number
    FROM memory.main.counted_verdicts AS lake
    INNER JOIN trajectory_ids AS ids ON lake.trajectory_id = ids.id
    UNION ALL BY NAME
    SELECT lake.*, trajectories.trajectory_id AS number
    FROM memory.main.counted_verdicts AS lake
    INNER JOIN trajectories
      ON lake.trajectory_id = trajectories.trace_id AND trajectories.parent_trajectory_id IS NULL
  )

  SELECT judged.* EXCLUDE (number) REPLACE (
    judged.number AS trajectory_id,
    if(judged.step_trajectory_id IS NULL, NULL, coalesce(ids.trajectory_id, -1))
      AS step_trajectory_id
  )
  FROM judged
  LEFT JOIN trajectory_ids AS ids ON judged.step_trajectory_id = ids.id
"""


_FIRST_TURNS: Final = """
  CREATE TEMP TABLE first_turns AS
  WITH turns AS (SELECT unnest(turns, recursive := TRUE) FROM bucket_traces)

  SELECT ids.trajectory_id, turns.first_turn, turns.end_turn
  FROM turns
  INNER JOIN trajectory_ids AS ids USING (id)
"""


def divide(con: duckdb.DuckDBPyConnection, most_steps: int, slots: int = 1) -> Iterator[pa.Table]:
    """Yield the traces of each bucket, as `score_buckets` has them; needs `traces_to_score`.

    Args:
        con: Connection to the lake, where `score_buckets` is made.
        most_steps: Limit of the steps of one bucket, unless a single trace has more.
        slots: Buckets that are scored at a time.
    """
    found = con.sql("SELECT coalesce(sum(steps), 0)::BIGINT FROM traces_to_score").fetchall()
    size = bucket_size(found[0][0], most_steps, LEAST_STEPS, slots)
    make_table(con, "score_buckets", query("score_buckets"), {"bucket_steps": size})
    return traces_by_bucket(con, "score_buckets")


def files_of(lake: PinnedLake, traces: pa.Table) -> PinnedLake:
    """Return those files of a lake that hold runs of these traces, and all verdicts."""
    dated = dated_between(*(str(pick(traces["date"]).as_py()) for pick in (pc.min, pc.max)))
    return lake.only({STEPS.name: dated, TRAJECTORIES.name: dated, VERDICTS.name: lambda _: True})


def steps_read(specification: Specification) -> list[str]:
    """Return the columns of `steps` that are needed: those that a task file names, too."""
    named = specification.model_dump_json().lower()
    return [c.name for c in STEPS.columns if c.name not in NOT_SCORED or c.name in named]


def take_bucket(con: duckdb.DuckDBPyConnection, steps: Sequence[str]) -> None:
    """Narrow `trajectories` and `verdicts` to the rows of one bucket, and make `bucket_steps`.

    The relation `steps`, which metrics read, is made from these. Their ids of trajectories are
    numbers; `trajectory_ids` (id, trajectory_id, ...) maps them to the ids.

    Args:
        con: Holds `bucket_traces` and the lake's tables; takes one bucket.
        steps: The columns of `steps` to take.
    """
    found = con.sql(_BOUNDS)
    bounds = dict(zip(found.columns, found.fetchall()[0], strict=True))
    con.execute(
        "CREATE TEMP TYPE offer AS ENUM (SELECT DISTINCT offered_tools "
        "FROM memory.main.trajectories WHERE offered_tools IS NOT NULL "
        "AND date BETWEEN $first_date AND $last_date)",
        {name: bounds[name] for name in ("first_date", "last_date")},
    )
    runs = [c.name for c in TRAJECTORIES.columns if c.name not in _RUNS_NOT_SCORED]
    con.execute(_TRAJECTORY_IDS, bounds)
    con.execute(_TRAJECTORIES.format(columns=_taken(runs)), bounds)
    con.execute(_STEPS.format(columns=_taken(steps)), bounds)
    con.execute(_VERDICTS)
    con.execute(_FIRST_TURNS)


def _taken(columns: Sequence[str]) -> str:
    """Return the columns of the lake as a bucket has them, for SELECT."""
    return ", ".join(_NUMBERED.get(name, f"lake.{name}") for name in columns)
