"""The optimum of a task without stated steps is the fewest that successful attempts needed."""

from datetime import date
from typing import Any

import duckdb
from tests.headers import bare
from tests.scoring.build import Row, arrow

from tracegrade_queries.engine.table_views import view_sql
from tracegrade_scoring.schema import CUSTOM_SCORES, TRAJECTORY_SCORES
from tracegrade_scoring.sql import query

FIRST = date(2026, 11, 21)


def attempt(number: int, task: str | None, steps: int, *, success: bool = True) -> Row:
    """Return the stored scores of an attempt at a task without an optimum."""
    made = {"value": float(steps), "numerator": float(steps), "denominator": 1.0}
    won = float(success)
    unknown = {"status": "not_applicable", "reason": "no_optimum" if success else "failed"}
    return {
        "trajectory_id": f"t{number}",
        "task_id": task,
        "success": {"value": won, "numerator": won, "denominator": 1.0, "status": "scored"},
        "actual_steps": {**made, "status": "scored"},
        "step_efficiency": unknown,
        "step_ratio": unknown,
    }


def stored(*attempts: Row) -> duckdb.DuckDBPyConnection:
    """Return a connection to stored scores and what is worked out as they are read."""
    con = duckdb.connect()
    con.register("rows", arrow(TRAJECTORY_SCORES, attempts))
    con.execute("CREATE TABLE trajectory_scores AS FROM rows")
    con.execute(view_sql(CUSTOM_SCORES, None))
    for view in ("observed_optima", "observed_step_scores"):
        con.execute(f"CREATE VIEW {view} AS {query(view)}")
    return con


def read(*attempts: Row) -> dict[tuple[str, str], Any]:
    """Return value, label and reason of each step score as they are read."""
    con = stored(*attempts)
    rows = con.sql(query("scores").rstrip().rstrip(";")).filter("metric LIKE 'step_%'")
    found = rows.select("trajectory_id, metric, value, label, reason, source").fetchall()
    return {(row[0], row[1]): row[2:] for row in found}


def test_optimum_is_the_fewest_steps_of_three_successes() -> None:
    """Failed attempts need none and set none; both reciprocals are given."""
    failed = attempt(4, "a", 1, success=False)
    found = read(attempt(1, "a", 4), attempt(2, "a", 8), attempt(3, "a", 4), failed)

    assert found["t2", "step_efficiency"] == (0.5, None, None, "observed")
    assert found["t2", "step_ratio"] == (2.0, None, None, "observed")
    assert found["t1", "step_efficiency"][0] == 1
    assert found["t4", "step_efficiency"] == (None, None, "failed", None)


def test_scores_of_one_run_are_those_of_the_view() -> None:
    """A page of one run reads its own row, and says what the view of all says."""
    attempts = (attempt(1, "a", 4), attempt(2, "a", 8), attempt(3, "a", 4), attempt(4, None, 1))
    con = stored(*({**each, "date": FIRST} for each in attempts))
    columns = "metric, value, numerator, denominator, status, label, reason, source, task_id"
    view = f"({bare(query('scores'))}) WHERE trajectory_id = $run ORDER BY metric"

    for each in attempts:
        run = each["trajectory_id"]
        key = {"trajectory_id": run, "date": FIRST, "metrics": []}
        own = con.execute(query("timeline_scores"), key)
        assert (
            own.fetchall() == con.execute(f"SELECT {columns} FROM {view}", {"run": run}).fetchall()
        )


def test_two_successes_are_too_few() -> None:
    """Nor do those of other tasks, or of no task, help."""
    found = read(attempt(1, "a", 4), attempt(2, "a", 8), attempt(3, "b", 1), attempt(4, None, 1))

    assert {row[2] for row in found.values()} == {"no_optimum"}


def test_optimum_of_no_steps_divides_nothing() -> None:
    """The label says how many steps were too many."""
    found = read(attempt(1, "a", 0), attempt(2, "a", 8), attempt(3, "a", 0))

    assert found["t2", "step_ratio"] == (None, "extra_steps: 8", "optimum_zero", None)
