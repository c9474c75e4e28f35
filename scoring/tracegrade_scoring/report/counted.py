"""Selects the runs that a report counts: all except superseded runs and runs killed on purpose.

A run that a later run continues is a part of that run.

Its own module because the lake's `release_scores` cover all runs at 95 %. If a report covers fewer
runs or has another level, they are computed again from the sums that the scoring job stores.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from duckdb import DuckDBPyConnection

from tracegrade_queries.engine.pinned import PinnedLake
from tracegrade_queries.engine.relations import count, has_rows, make_table, only, put
from tracegrade_scoring.files_of_runs import TABLES_OF_RUNS, files_of_runs
from tracegrade_scoring.rendering.own_metrics import OWN_METRICS, own_metrics
from tracegrade_scoring.rendering.rows import read_rows
from tracegrade_scoring.report.model import Selection
from tracegrade_scoring.resumed import counted_once
from tracegrade_scoring.sql import RELATIONS, query
from tracegrade_scoring.statistics.intervals import LEVEL
from tracegrade_scoring.statistics.release import release_scores
from tracegrade_scoring.statistics.sums import add_scores, read_scores, total_sums

_SCORES_OF_RUNS: Final = (
    *("trajectory_scores", "decisions", "sub_goals", "failures"),
    *("ambiguous_calls", "run_reasons"),
)
_SUPERSEDED: Final = "trajectory_id IN (SELECT trajectory_id FROM superseded_runs)"
_REPLACED: Final = (
    "trajectory_id IN (SELECT trajectory_id FROM superseded_runs WHERE continued_by IS NULL)"
)

_KILLED: Final = "trajectory_id IN (SELECT trajectory_id FROM killed_runs)"


@contextmanager
def in_period(
    con: DuckDBPyConnection, selection: Selection, pinned: PinnedLake | None = None
) -> Iterator[None]:
    """Narrow the tables to the runs that began in a period; all runs without a period.

    Args:
        con: The connection.
        selection: Has the period.
        pinned: What the connection reads, so that files of other dates are not even opened; None
            if it reads no files.
    """
    if not selection.has_period:
        yield
        return
    period = {"since": selection.since, "until": selection.until}
    make_table(con, "runs_in_period", query("runs_in_period"), period)
    chosen = "trajectory_id IN (SELECT trajectory_id FROM runs_in_period)"
    with (
        files_of_runs(con, pinned, "runs_in_period"),
        only(con, [table.name for table in TABLES_OF_RUNS], chosen),
        _sums_of(con),
    ):
        yield


@contextmanager
def _sums_of(con: DuckDBPyConnection) -> Iterator[None]:
    """Let `score_sums` hold the sums of the scores that can be read now."""
    make_table(con, "sum_parts", "FROM score_sums LIMIT 0")
    add_scores(con, read_scores(con, "TRUE"))
    total_sums(con)
    make_table(con, "score_sums", "FROM current_sums")
    try:
        yield
    finally:
        con.execute("DROP TABLE temp.score_sums")


@contextmanager
def counted_alone(con: DuckDBPyConnection, level: float, selection: Selection) -> Iterator[None]:
    """Let the tables of runs and scores hold what a report counts, with intervals of a level."""
    RELATIONS.make(con, "killed_runs")
    with counted_once(con):
        superseded = count(con, "superseded_runs")
        if superseded or level != LEVEL or selection.has_period:
            _make_release_scores(con, level)
        left_out = superseded + count(con, "killed_runs")
        with (
            only(con, _SCORES_OF_RUNS if left_out else (), f"NOT {_SUPERSEDED} AND NOT {_KILLED}"),
            only(con, ("trajectories",) if left_out else (), f"NOT {_REPLACED} AND NOT {_KILLED}"),
        ):
            yield
    con.execute("DROP TABLE IF EXISTS temp.release_scores")


@contextmanager
def counted_release_scores(con: DuckDBPyConnection) -> Iterator[None]:
    """Let `release_scores` leave out superseded runs, as reports do.

    Args:
        con: Holds the tables of a scored lake, and `superseded_runs`.
    """
    if not has_rows(con, "superseded_runs"):
        yield
        return
    _make_release_scores(con, LEVEL)
    try:
        yield
    finally:
        for name in ("release_scores", "sum_parts", "current_sums"):
            con.execute(f"DROP TABLE IF EXISTS temp.{name}")


def _make_release_scores(con: DuckDBPyConnection, level: float) -> None:
    make_table(con, "sum_parts", "FROM score_sums")
    add_scores(con, read_scores(con, _SUPERSEDED), sign=-1)
    total_sums(con)
    own = own_metrics(read_rows(con, OWN_METRICS)).values()
    put(con, "release_scores", release_scores(con, level, own))


def make_counted_usage(con: DuckDBPyConnection) -> None:
    """Make the usage of the runs that a report counts, as comparisons do for their runs."""
    counted = "SELECT trajectory_id, TRUE AS is_root, TRUE AS counted FROM trajectory_scores"
    make_table(con, "compared_runs", counted)
    RELATIONS.make(con, "run_usage")
