"""Reads of one release what a comparison reads, with or without the texts of its runs."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import pyarrow as pa
from duckdb import DuckDBPyConnection

from tracegrade_ci.sql import query
from tracegrade_lake import Table
from tracegrade_queries.engine.relations import make_table
from tracegrade_queries.engine.staged import typed
from tracegrade_queries.schema import TRAJECTORIES
from tracegrade_scoring.metric_definition import METRIC_DEFINITIONS
from tracegrade_scoring.schema import (
    CUSTOM_SCORES,
    FAILURES,
    RUN_REASONS,
    SUB_GOALS,
    TRAJECTORY_SCORES,
)

OF_RUNS: Final = (TRAJECTORIES, TRAJECTORY_SCORES, CUSTOM_SCORES, SUB_GOALS, FAILURES, RUN_REASONS)
"""Tables whose rows belong to runs."""
COMPARED: Final = (*OF_RUNS, METRIC_DEFINITIONS)
"""The tables that a comparison reads."""

TEXTS: Final[Mapping[Table, tuple[str, ...]]] = {
    TRAJECTORIES: ("user_input", "final_answer", "offered_tools", "labels"),
    CUSTOM_SCORES: ("evidence",),
    FAILURES: ("detail",),
    METRIC_DEFINITIONS: ("sql", "python", "origin"),
}
"""Columns that may hold what users, models and tools wrote, or code; a comparison needs none."""

SENTENCE: Final = "sentence"
"""Column of `run_reasons` whose texts quote arguments; it is never NULL."""

ReleaseRows = Mapping[Table, pa.Table]


class ScoredBy(NamedTuple):
    """The definitions that a release was scored by."""

    runs: int
    scorer_version: str
    task_hashes: Mapping[str, tuple[str, ...]]
    """Of each known task."""
    prices: str = ""
    """Digest of the prices that costs are based on."""


def release_rows(con: DuckDBPyConnection, release: str) -> ReleaseRows:
    """Return the rows of a release, by table.

    Args:
        con: Holds the tables of a scored lake.
        release: The release.
    """
    make_table(con, "release_runs", query("release_runs"), {"release": release})
    rows = {table: con.sql(_ROWS.format(table=table.name)).to_arrow_table() for table in OF_RUNS}
    rows[METRIC_DEFINITIONS] = con.sql(f"FROM {METRIC_DEFINITIONS.name}").to_arrow_table()
    con.execute("DROP TABLE release_runs")
    return {table: typed(table, found) for table, found in rows.items()}


_ROWS: Final = """
  FROM {table} WHERE trajectory_id IN (SELECT trajectory_id FROM release_runs)
  ORDER BY trajectory_id
"""


def without_texts(rows: ReleaseRows) -> ReleaseRows:
    """Return rows in which the columns of texts are empty."""
    emptied = {table: _emptied(found, TEXTS.get(table, ())) for table, found in rows.items()}
    reasons = emptied[RUN_REASONS]
    return {
        **emptied,
        RUN_REASONS: _with_column(reasons, SENTENCE, pa.array([""] * len(reasons), pa.string())),
    }


def _emptied(rows: pa.Table, names: tuple[str, ...]) -> pa.Table:
    for name in names:
        rows = _with_column(rows, name, pa.nulls(len(rows), rows.schema.field(name).type))
    return rows


def _with_column(rows: pa.Table, name: str, values: pa.Array) -> pa.Table:
    at = rows.column_names.index(name)
    return rows.set_column(at, rows.field(at), values)


def scored_by(con: DuckDBPyConnection, release: str) -> ScoredBy | None:
    """Return what a release was scored by; None if it has no scored run."""
    rows = con.execute(query("baseline_facts"), {"release": release}).fetchall()
    if not rows:
        return None
    hashes = {task: tuple(each) for task, each, _, _ in rows if task is not None}
    return ScoredBy(sum(runs for *_, runs in rows), rows[0][2], hashes)


def without_costs(rows: ReleaseRows) -> ReleaseRows:
    """Return rows in which no cost is known."""
    return {**rows, TRAJECTORIES: _emptied(rows[TRAJECTORIES], ("cost_usd",))}


def without_tasks(rows: ReleaseRows, tasks: set[str]) -> ReleaseRows:
    """Return rows without the runs of some tasks."""
    scores = rows[TRAJECTORY_SCORES]
    left_out = {
        run
        for run, task in zip(
            scores["trajectory_id"].to_pylist(), scores["task_id"].to_pylist(), strict=True
        )
        if task in tasks
    }
    return {
        table: _without_runs(found, left_out) if table in OF_RUNS else found
        for table, found in rows.items()
    }


def _without_runs(rows: pa.Table, runs: set[str]) -> pa.Table:
    return rows.filter(
        pa.array([run not in runs for run in rows["trajectory_id"].to_pylist()], pa.bool_())
    )


def renamed(rows: ReleaseRows, release: str, name: str) -> ReleaseRows:
    """Return rows in which a release has another name."""
    return {
        table: _renamed(found, release, name) if "release" in found.column_names else found
        for table, found in rows.items()
    }


def _renamed(rows: pa.Table, release: str, name: str) -> pa.Table:
    values = [name if each == release else each for each in rows["release"].to_pylist()]
    return _with_column(rows, "release", pa.array(values, pa.string()))
