"""`assert_no_regression`: runs of a test against those of an earlier state, as releases compare.

A baseline is one Parquet file with the scores of runs and what a comparison reads of the runs
themselves, without any text of theirs, so that it can stand next to the test in a repository.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from tracegrade_lake import Table
from tracegrade_queries.engine.layers import BUILT
from tracegrade_queries.engine.staged import typed
from tracegrade_queries.schema import TRAJECTORIES
from tracegrade_scoring.compare.fail_on_rules import parse_rules
from tracegrade_scoring.compare.read import read_comparisons
from tracegrade_scoring.compare.rule_outcomes import apply_rules
from tracegrade_scoring.errors import RuleBroken
from tracegrade_scoring.job.in_memory import connect_rows
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.schema import TRAJECTORY_SCORES
from tracegrade_testing.errors import BaselineUnusable, RunCheckFailed
from tracegrade_testing.recent import notes
from tracegrade_testing.results import ResultSet, RunResult

__all__ = ["assert_no_regression"]

BASE: Final = "baseline"
CANDIDATE: Final = "this test"
RULES: Final = ("success<0",)

_TEXTS: Final = ("user_input", "final_answer", "offered_tools")
"""Columns of a run that a baseline does not keep."""
_RUN: Final = "run"
"""Column with the row of `trajectories`."""


def assert_no_regression(
    result: RunResult | ResultSet, baseline: str | Path, *, rules: Sequence[str] = RULES
) -> None:
    """Do nothing if runs are no worse than those of a baseline on the same tasks.

    With `--tracegrade-update-baseline` the runs become the baseline.

    Args:
        result: From `score` or `trials`.
        baseline: A Parquet file that this function wrote.
        rules: As `tracegrade compare --fail-on` takes them. By default, success must not fall.

    Raises:
        BaselineUnusable: There is no such file, or another version wrote it.
        BadRule: A rule is not understood.
        RunCheckFailed: A rule is broken, or lacks the values to judge by.
    """
    rows = _rows(result)
    path = Path(baseline)
    if notes.updates_baselines:
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(rows, path)
        return
    tables = _tables(_read(path), rows)
    with connect_rows(tables) as con:
        try:
            found = read_comparisons(con, path.name, BASE, CANDIDATE)
            apply_rules(found, parse_rules(rules)).raise_broken()
        except RuleBroken as error:
            rule = str(error).removeprefix("stopped by --fail-on: ")
            msg = f"worse than {path}: {rule}"
            raise RunCheckFailed(msg) from None


_OF_RUNS: Final = """
  SELECT * FROM {table} WHERE list_contains($ids, trajectory_id) ORDER BY trajectory_id
"""


def _rows(result: RunResult | ResultSet) -> pa.Table:
    """Return the scores of the runs, each with its row of `trajectories`."""
    con = result.runs[0].engine
    ids = [run.trajectory_id for run in result.runs]
    scores, runs = (
        con.sql(_OF_RUNS.format(table=table.name), params={"ids": ids}).to_arrow_table()
        for table in (TRAJECTORY_SCORES, TRAJECTORIES)
    )
    for name in _TEXTS:
        at = runs.column_names.index(name)
        runs = runs.set_column(at, name, pa.nulls(len(runs), runs[name].type))
    return typed(TRAJECTORY_SCORES, scores).append_column(
        _RUN, typed(TRAJECTORIES, runs).to_struct_array()
    )


def _read(path: Path) -> pa.Table:
    way_out = "write it with pytest --tracegrade-update-baseline"
    try:
        rows = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        msg = f"the baseline {path} cannot be read: {str(error).splitlines()[0]}; {way_out}"
        raise BaselineUnusable(msg) from error
    expected = {*TRAJECTORY_SCORES.arrow().names, _RUN}
    if {*rows.column_names} != expected:
        msg = f"the baseline {path} is of another version of tracegrade; {way_out}"
        raise BaselineUnusable(msg)
    return rows


def _tables(base: pa.Table, candidate: pa.Table) -> dict[Table, pa.Table]:
    """Return the tables of a lake that holds both sides as releases; others are empty."""
    sides = [_as_release(base, BASE), _as_release(candidate, CANDIDATE)]
    rows = pa.concat_tables(sides)
    runs = pa.Table.from_struct_array(rows[_RUN].combine_chunks())
    tables = {table: table.arrow().empty_table() for table in (*BUILT.tables, *SCORES.tables)}
    return {
        **tables,
        TRAJECTORY_SCORES: typed(TRAJECTORY_SCORES, rows.drop_columns([_RUN])),
        TRAJECTORIES: typed(TRAJECTORIES, runs),
    }


def _as_release(rows: pa.Table, release: str) -> pa.Table:
    """Return scores under a release's name."""
    at = rows.column_names.index("release")
    return rows.set_column(at, "release", pa.repeat(release, len(rows)))
