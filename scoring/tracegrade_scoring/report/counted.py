"""What a report counts: every run but those superseded by a later one or killed on purpose.

Its own module because the lake's `release_scores` are of all runs and of 95 %: where a report is
of less or of another level, they are computed again from the sums that the scoring job keeps.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from duckdb import DuckDBPyConnection

from tracegrade_queries.engine.relations import count, make_table, only, put
from tracegrade_scoring.relations import materialise
from tracegrade_scoring.statistics.intervals import LEVEL
from tracegrade_scoring.statistics.release import release_scores
from tracegrade_scoring.statistics.sums import add_scores, read_scores, total_sums

_OF_RUNS: Final = ("trajectories", "trajectory_scores", "decisions", "sub_goals", "failures")
_SUPERSEDED: Final = "trajectory_id IN (SELECT trajectory_id FROM superseded_runs)"

_KILLED: Final = "trajectory_id IN (SELECT trajectory_id FROM killed_runs)"


@contextmanager
def counted_alone(con: DuckDBPyConnection, level: float) -> Iterator[None]:
    """Let the tables of runs and scores hold what a report counts, with intervals of a level."""
    materialise(con, "superseded_runs")
    materialise(con, "killed_runs")
    superseded = count(con, "superseded_runs")
    left_out = superseded + count(con, "killed_runs")
    if superseded or level != LEVEL:
        _make_release_scores(con, level)
    with only(con, _OF_RUNS if left_out else (), f"NOT {_SUPERSEDED} AND NOT {_KILLED}"):
        yield
    con.execute("DROP TABLE IF EXISTS temp.release_scores")


def _make_release_scores(con: DuckDBPyConnection, level: float) -> None:
    make_table(con, "sum_parts", "FROM score_sums")
    add_scores(con, read_scores(con, _SUPERSEDED), sign=-1)
    total_sums(con)
    put(con, "release_scores", release_scores(con, level))
