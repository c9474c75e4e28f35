"""Lets the tables about runs hold only the files of the dates that some runs have.

Its own module because reports of a period and comparisons of two releases both read few of the
dates of an old lake.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Final

from duckdb import DuckDBPyConnection

from tracegrade_queries.engine.connection import part_of_tables
from tracegrade_queries.engine.pinned import PinnedLake, dated_on
from tracegrade_queries.schema import STEPS, TRAJECTORIES
from tracegrade_scoring.schema import (
    AMBIGUOUS_CALLS,
    DECISIONS,
    FAILED_CALLS,
    FAILURES,
    RUN_REASONS,
    SUB_GOALS,
    TRAJECTORY_SCORES,
)

TABLES_OF_RUNS: Final = (
    *(TRAJECTORIES, TRAJECTORY_SCORES, STEPS, DECISIONS, SUB_GOALS, FAILURES),
    *(FAILED_CALLS, AMBIGUOUS_CALLS, RUN_REASONS),
)
"""Every table whose rows are about runs; those of a run have the date of its trajectory."""


def files_of_runs(
    con: DuckDBPyConnection, pinned: PinnedLake | None, runs: str
) -> AbstractContextManager[None]:
    """Let these tables hold only the files of the dates that some runs have.

    Args:
        con: The connection.
        pinned: What it reads; None if it reads no files, so that nothing is left out.
        runs: The text after FROM of rows with a `trajectory_id`.
    """
    if pinned is None:
        return nullcontext()
    found = con.sql(
        "SELECT DISTINCT date FROM trajectories "
        f"SEMI JOIN (SELECT trajectory_id FROM {runs}) AS runs USING (trajectory_id)"
    )
    dates = {received.isoformat() for (received,) in found.fetchall()}
    if dates.issuperset(file.date for file in pinned.tables[TRAJECTORIES.name].files):
        return nullcontext()
    part = pinned.only({table.name: dated_on(dates) for table in TABLES_OF_RUNS})
    return part_of_tables(con, part, TABLES_OF_RUNS)
