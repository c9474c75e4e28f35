"""A comparison of a lake reads the files of the dates that its runs have."""

from pathlib import Path

from tests.scoring.report.build import Tables, as_lake

from tracegrade_queries.engine.connection import connect_whole
from tracegrade_scoring.compare.read import read_comparisons
from tracegrade_scoring.files_of_runs import files_of_runs
from tracegrade_scoring.layer import SCORES

from .conftest import fill

DATED = ("trajectories", "trajectory_scores", "failures")


def test_files_of_other_dates_change_no_number(tables: Tables, tmp_path: Path) -> None:
    """What is found is that of all files, also of a run whose repetition has another date."""
    fill(tables)
    again = tables.run("1.1", task_id="t4", trial=1, step_count=3)
    tables.scored(again, "t4")
    tables.score(again, "success", 1.0, numerator=1.0, denominator=1.0)
    other = tables.run("0.9", task_id="t1")
    tables.scored(other, "t1")
    for table in DATED:
        tables.con.execute(
            f"UPDATE {table} SET date = DATE '2026-11-01' + CASE trajectory_id "
            "WHEN $again THEN 8 WHEN $other THEN 9 ELSE right(trajectory_id, 1)::INT % 3 END",
            {"again": again, "other": other},
        )
    con, pinned = connect_whole(as_lake(tables, tmp_path / "lake"), (SCORES,))
    with con:
        found = [
            read_comparisons(con, "lake", "1.0", "1.1", pinned=files) for files in (None, pinned)
        ]
        with files_of_runs(con, pinned, "compared_runs WHERE counted"):
            read = con.sql("SELECT DISTINCT release FROM trajectory_scores").fetchall()
        everything = con.sql("SELECT count(*) FROM trajectory_scores").fetchall()

    assert found[0] == found[1]
    assert {release for (release,) in read} == {"1.0", "1.1"}
    assert everything == tables.con.sql("SELECT count(*) FROM trajectory_scores").fetchall()
