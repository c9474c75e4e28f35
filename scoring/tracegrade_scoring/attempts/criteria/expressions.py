"""Evaluates the SQL expressions of success criteria for each attempt.

Its own module because these texts come from the task file, not from this package. They are checked
when the file is loaded, but some errors show only on real steps, and must not affect other
attempts. They run in an engine of their own that holds the steps they read and nothing else,
within limits of time and memory. An expression that takes too long is not run again: it would not
be faster alone.
"""

import time
from threading import Timer
from typing import Final

import duckdb
import pyarrow as pa

from tracegrade_queries.engine.relations import make_table, put
from tracegrade_queries.graph import Run, relation
from tracegrade_scoring.tasks.engine import closed_engine
from tracegrade_scoring.tasks.expression import as_boolean, columns_read

MAX_SECS: Final = 20.0
"""Limit of one expression over the attempts of one bucket; a longer run gives no answer."""

ROWS_AT_A_TIME: Final = 10_000
"""Steps that are handed over at once."""

_CONDITIONS = """
  SELECT attempt_tasks.attempt_id, sub_goal, condition
  FROM attempt_tasks INNER JOIN criterion_conditions USING (task_id)
  WHERE expression = $expression
"""

_STEPS = """
  SELECT attempt_members.attempt_id AS attempt_of, {columns}
  FROM steps INNER JOIN attempt_members USING (trajectory_id)
  WHERE attempt_members.attempt_id IN {attempts}
  ORDER BY attempt_members.attempt_id, steps.trajectory_id, steps.step_index
"""
# Ordered, since on it depends which of equals `mode` and `arg_max` take, and how doubles add up.

_COLUMN = {"trajectory_id": "steps.trajectory_id::VARCHAR AS trajectory_id"}
"""A number in a bucket, a text to an expression."""

_RESULTS = """
  SELECT attempt_id, '' AS sub_goal, 0 AS condition, FALSE AS at_end, FALSE AS holds
  FROM attempt_members
  LIMIT 0
"""

_ANSWERED = """
  WITH conditions AS ({conditions})
  SELECT attempt_id, sub_goal, condition, FALSE AS at_end, coalesce($at_start, FALSE) AS holds
  FROM conditions
  WHERE attempt_id IN {attempts}
  UNION ALL
  SELECT attempt_id, sub_goal, condition, TRUE, coalesce(answers.holds, $at_start, FALSE)
  FROM conditions
  LEFT JOIN expression_answers AS answers ON conditions.attempt_id = answers.attempt_of
  WHERE attempt_id IN {attempts}
"""


@relation(
    "expression_results",
    reads=("attempt_members", "attempt_tasks", "criterion_conditions", "steps"),
)
def _evaluate(run: Run) -> None:
    """Create `expression_results` (attempt_id, sub_goal, condition, at_end, holds).

    Two rows for each expression that an attempt's task asks: before its steps and after them.
    Where an expression cannot be run over the steps there is one row, `holds` NULL.
    """
    con = run.con
    make_table(con, "expression_results", _RESULTS)
    sql = "SELECT DISTINCT expression FROM criterion_conditions WHERE kind = 'sql'"
    expressions = con.execute(f"{sql} ORDER BY expression").fetchall()
    if not expressions:
        return
    with closed_engine() as engine:
        for (expression,) in expressions:
            until = time.monotonic() + MAX_SECS
            try:
                if not _add(con, engine, expression, until, _ALL_CONDITIONS):
                    _add_one_by_one(con, engine, expression, until)
            except duckdb.InterruptException:
                _add_unanswered(con, expression)
    con.execute("DROP TABLE IF EXISTS temp.expression_answers")


_ALL_CONDITIONS: Final = f"(SELECT attempt_id FROM ({_CONDITIONS}))"


def _add(
    con: duckdb.DuckDBPyConnection,
    engine: duckdb.DuckDBPyConnection,
    expression: str,
    until: float,
    attempts: str,
    **parameters: str,
) -> bool:
    """Add the rows of one expression for some attempts; False, and none, if it cannot be run.

    Raises:
        InterruptException: It was not done at the time `until`.
    """
    left = until - time.monotonic()
    if left <= 0:
        raise duckdb.InterruptException
    limit = Timer(left, engine.interrupt)
    limit.start()
    given = {"expression": expression, **parameters}
    try:
        at_start = _before_steps(engine, expression)
        put(con, "expression_answers", _after_steps(con, engine, attempts, given))
    except duckdb.InterruptException:
        raise
    except duckdb.Error:
        return False
    finally:
        limit.cancel()
    rows = _ANSWERED.format(conditions=_CONDITIONS, attempts=attempts)
    con.execute(f"INSERT INTO expression_results {rows}", {**given, "at_start": at_start})
    return True


def _before_steps(engine: duckdb.DuckDBPyConnection, expression: str) -> bool | None:
    """Return the value of an expression over no steps; None for NULL, or if it fails."""
    row = engine.execute(f"SELECT {as_boolean(expression)} FROM steps WHERE FALSE").fetchone()
    return row[0] if row else None


def _after_steps(
    con: duckdb.DuckDBPyConnection,
    engine: duckdb.DuckDBPyConnection,
    attempts: str,
    given: dict[str, str],
) -> pa.Table:
    """Return the result of an expression for each attempt with steps; NULL is false."""
    expression = given["expression"]
    columns = ["step_index", *columns_read(engine, expression)]
    sql = _STEPS.format(
        columns=", ".join(_COLUMN.get(n, f"steps.{n}") for n in columns), attempts=attempts
    )
    used = {name: value for name, value in given.items() if f"${name}" in sql}
    steps = con.sql(sql, params=used).to_arrow_reader(ROWS_AT_A_TIME)
    engine.register("attempt_steps", steps)
    try:
        return engine.sql(
            f"SELECT attempt_of, coalesce({as_boolean(expression)}, FALSE) AS holds "
            "FROM attempt_steps AS steps GROUP BY attempt_of"
        ).to_arrow_table()
    finally:
        engine.unregister("attempt_steps")


def _add_one_by_one(
    con: duckdb.DuckDBPyConnection,
    engine: duckdb.DuckDBPyConnection,
    expression: str,
    until: float,
) -> None:
    attempts = con.execute(
        f"SELECT DISTINCT attempt_id FROM ({_CONDITIONS})", {"expression": expression}
    )
    for (attempt_id,) in attempts.fetchall():
        if not _add(con, engine, expression, until, "($attempt_id)", attempt_id=attempt_id):
            _add_unanswered(con, expression, attempt_id)


def _add_unanswered(
    con: duckdb.DuckDBPyConnection, expression: str, attempt_id: str | None = None
) -> None:
    """Add that the expression gave no answer for one attempt, or for all that have none yet."""
    con.execute(
        "INSERT INTO expression_results "
        f"SELECT attempt_id, sub_goal, condition, TRUE, NULL FROM ({_CONDITIONS}) AS conditions "
        "ANTI JOIN expression_results AS answered ON conditions.attempt_id = answered.attempt_id "
        "AND conditions.sub_goal IS NOT DISTINCT FROM answered.sub_goal "
        "AND conditions.condition = answered.condition "
        "WHERE conditions.attempt_id = coalesce($attempt_id, conditions.attempt_id)",
        {"expression": expression, "attempt_id": attempt_id},
    )
