"""Puts what the scorers say of each trajectory side by side: one row, one column for each metric.

Its own module because it is columns that are moved here, not rows: scores are too many values to
go through a join. Each scorer gives one row for each attempt; `call_scores` gives one for each
trajectory, since sub-agents are judged by their own calls, too.
"""

from typing import Final

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from tracegrade_scoring.schema import SCORE, SCORER_VERSION, TRAJECTORY_SCORES

SCORERS: Final = (
    "call_scores",
    "conduct_scores",
    "failure_scores",
    "plan_scores",
    "planning_scores",
    "replanning_scores",
    "rollback_scores",
    "step_scores",
    "sub_goal_scores",
    "tool_correctness_scores",
    "tool_selection_scores",
)
"""Relations (trajectory_id, and a score for each of their metrics)."""

CHILD: Final = {"status": "not_applicable", "reason": "child_trajectory"}
"""Every other score of a sub-agent's run: it belongs to the run that called it."""


def side_by_side(con: duckdb.DuckDBPyConnection) -> pa.Table:
    """Return the rows of `trajectory_scores`; needs `scored_trajectories` and all scorers.

    Raises:
        KeyError: A scorer left out an attempt.
    """
    known = con.sql(
        "FROM scored_trajectories INNER JOIN trajectory_ids USING (trajectory_id) "
        "ORDER BY is_root DESC"
    ).to_arrow_table()
    children = pc.sum(pc.invert(known["is_root"])).as_py() or 0
    columns = {name: known[name] for name in known.column_names}
    columns["trajectory_id"] = known["id"]
    columns["scorer_version"] = pa.repeat(SCORER_VERSION, len(known))
    for scorer in SCORERS:
        columns |= _scores(con, scorer, known["trajectory_id"], children)
    declared = TRAJECTORY_SCORES.arrow()
    return pa.table({name: columns[name] for name in declared.names}).cast(declared)


def _scores(
    con: duckdb.DuckDBPyConnection, scorer: str, ids: pa.ChunkedArray, children: int
) -> dict[str, pa.ChunkedArray]:
    """Return the scores of one scorer in the order of the ids, of which the last are children."""
    found = con.table(scorer).to_arrow_table()
    of_all = len(found) == len(ids)
    places = pc.index_in(ids if of_all else ids[: len(ids) - children], found["trajectory_id"])
    if places.null_count:
        msg = f"{scorer} has no row of {places.null_count} of the attempts that are scored"
        raise KeyError(msg)
    if not pc.all(pc.equal(places, pa.array(range(len(places))))).as_py():
        found = found.take(places)
    ends = [] if of_all else [pa.repeat(pa.scalar(CHILD, SCORE), children)]
    return {
        name: pa.chunked_array([*found[name].cast(SCORE).chunks, *ends], SCORE)
        for name in found.column_names
        if name != "trajectory_id"
    }
