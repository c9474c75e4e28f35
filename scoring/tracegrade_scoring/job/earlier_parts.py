"""Scores of the earlier parts of resumed runs, so that a resumed run counts only once.

Both parts have scores, but release scores and what a summary counts of metrics are without those
of the earlier one. The two may be in other buckets, or scored on other days. So each bucket hands
on the scores of runs that may be resumed, which are few, and the job finds out which of all runs
of the lake were.

Makes:
    earlier_part_scores (from traces_to_score): rows of `trajectory_scores`, as they are once the
        run has committed
    earlier_parts (from continued_runs, trajectories): ids of runs and of their sub-agents'
"""

from typing import Final

import duckdb
import pyarrow as pa

from tracegrade_queries.engine.connection import connect_pinned
from tracegrade_queries.engine.relations import has_rows, make_table, put
from tracegrade_queries.engine.staged import of_traces
from tracegrade_queries.schema import TRAJECTORIES
from tracegrade_scoring.job.discovery import TracesToScore
from tracegrade_scoring.job.score_bucket import MAY_BE_RESUMED
from tracegrade_scoring.schema import CUSTOM_SCORES, TRAJECTORY_SCORES
from tracegrade_scoring.sql import RELATIONS
from tracegrade_scoring.statistics.sums import add_scores, total_sums, wide_scores

_READ: Final = (TRAJECTORIES, TRAJECTORY_SCORES, CUSTOM_SCORES)
_EARLIER_PARTS: Final = """
  WITH RECURSIVE parts AS (
    SELECT trajectory_id FROM continued_runs
    UNION
    SELECT trajectories.trajectory_id
    FROM parts
    INNER JOIN trajectories ON parts.trajectory_id = trajectories.parent_trajectory_id
  )

  FROM parts
"""


def find_earlier_parts(found: TracesToScore, scored: pa.Table | None) -> None:
    """Make `earlier_part_scores`.

    Args:
        found: The traces to score, and the lake.
        scored: The result of `resumable_scores` for all buckets.
    """
    empty = TRAJECTORY_SCORES.arrow().empty_table()
    before = empty
    lake = found.scope.lake.only({table.name: lambda _: True for table in _READ})
    with connect_pinned(lake, _READ) as con:
        make_table(con, "earlier_parts", "SELECT NULL::VARCHAR AS trajectory_id LIMIT 0")
        if has_rows(con, MAY_BE_RESUMED):
            RELATIONS.make(con, "continued_runs")
            make_table(con, "earlier_parts", _EARLIER_PARTS)
            before = con.sql(
                f"FROM {wide_scores(con)} SEMI JOIN earlier_parts USING (trajectory_id)"
            ).to_arrow_table()
        parts = con.sql("FROM earlier_parts").to_arrow_table()
    for name, rows in {"parts": parts, "before": before, "scored": scored or empty}.items():
        put(found.con, f"earlier_{name}", rows)
    others = f"NOT {of_traces(TRAJECTORY_SCORES, 'traces_to_score')}"
    make_table(
        found.con,
        "earlier_part_scores",
        f"SELECT *, FALSE AS made_anew FROM earlier_before WHERE {others} UNION ALL BY NAME "
        "SELECT *, TRUE AS made_anew FROM earlier_scored SEMI JOIN earlier_parts "
        "USING (trajectory_id)",
    )


def without_earlier_parts(con: duckdb.DuckDBPyConnection) -> None:
    """Take the scores of earlier parts off `current_sums`.

    Args:
        con: Holds `current_sums` and `earlier_part_scores`.
    """
    scores = con.sql("SELECT * EXCLUDE (made_anew) FROM earlier_part_scores").to_arrow_table()
    if scores.num_rows:
        make_table(con, "sum_parts", "FROM current_sums")
        add_scores(con, scores.to_batches(), sign=-1)
        total_sums(con)
