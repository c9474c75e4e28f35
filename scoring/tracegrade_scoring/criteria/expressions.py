"""Asks the SQL expressions of success criteria what they say of each attempt.

Its own module because these texts are the task file's, not ours. They are checked when the file is
loaded, but some errors show only on real steps, and must spoil no other attempt. One that takes
too long is not asked again: it would not be faster alone.
"""

import time
from threading import Timer
from typing import Final

import duckdb

MAX_SECS: Final = 20.0
"""Of one expression over the attempts of one bucket; more is taken for no answer."""

_ASKED = """
  SELECT task_matches.attempt_id, sub_goal, condition
  FROM task_matches INNER JOIN criterion_conditions USING (task_id)
  WHERE expression = $expression
"""

_EVALUATED = """
  WITH asked AS ({asked}),
  empty AS (
    SELECT ({expression})::BOOLEAN AS holds FROM steps WHERE FALSE
  ),
  whole AS (
    SELECT attempt_members.attempt_id, coalesce(({expression})::BOOLEAN, FALSE) AS holds
    FROM steps INNER JOIN attempt_members USING (trajectory_id)
    WHERE attempt_members.attempt_id IN {attempts}
    GROUP BY attempt_members.attempt_id
  )
  SELECT attempt_id, sub_goal, condition, FALSE AS at_end, coalesce(empty.holds, FALSE) AS holds
  FROM asked CROSS JOIN empty
  WHERE attempt_id IN {attempts}
  UNION ALL
  SELECT attempt_id, sub_goal, condition, TRUE, coalesce(whole.holds, empty.holds, FALSE)
  FROM asked LEFT JOIN whole USING (attempt_id) CROSS JOIN empty
  WHERE attempt_id IN {attempts}
"""


def evaluate(con: duckdb.DuckDBPyConnection) -> None:
    """Create `expression_results` (attempt_id, sub_goal, condition, at_end, holds).

    Two rows for each expression that an attempt's task asks: before its steps and after them.
    Where an expression cannot be run over the steps there is one row, `holds` NULL.
    """
    con.execute(
        "CREATE OR REPLACE TEMP TABLE expression_results "
        "(attempt_id TEXT, sub_goal TEXT, condition INTEGER, at_end BOOLEAN, holds BOOLEAN)"
    )
    asked = "SELECT DISTINCT expression FROM criterion_conditions WHERE kind = 'sql'"
    for (expression,) in con.execute(f"{asked} ORDER BY expression").fetchall():
        until = time.monotonic() + MAX_SECS
        try:
            if not _add(con, expression, until, "(SELECT attempt_id FROM asked)"):
                _add_one_by_one(con, expression, until)
        except duckdb.InterruptException:
            _add_unanswered(con, expression)


def _add(
    con: duckdb.DuckDBPyConnection,
    expression: str,
    until: float,
    attempts: str,
    **parameters: str,
) -> bool:
    """Add the rows of one expression for some attempts; False, and none, if it cannot be run.

    Raises:
        InterruptException: It was not done at the time `until`.
    """
    rows = _EVALUATED.format(asked=_ASKED, expression=expression, attempts=attempts)
    left = until - time.monotonic()
    if left <= 0:
        raise duckdb.InterruptException
    limit = Timer(left, con.interrupt)
    limit.start()
    try:
        con.execute(
            f"INSERT INTO expression_results {rows}", {"expression": expression, **parameters}
        )
    except duckdb.InterruptException:
        raise
    except duckdb.Error:
        return False
    finally:
        limit.cancel()
    return True


def _add_one_by_one(con: duckdb.DuckDBPyConnection, expression: str, until: float) -> None:
    asked = con.execute(f"SELECT DISTINCT attempt_id FROM ({_ASKED})", {"expression": expression})
    for (attempt_id,) in asked.fetchall():
        if not _add(con, expression, until, "($attempt_id)", attempt_id=attempt_id):
            _add_unanswered(con, expression, attempt_id)


def _add_unanswered(
    con: duckdb.DuckDBPyConnection, expression: str, attempt_id: str | None = None
) -> None:
    """Add that the expression gave no answer for one attempt, or for all that have none yet."""
    con.execute(
        "INSERT INTO expression_results "
        f"SELECT attempt_id, sub_goal, condition, TRUE, NULL FROM ({_ASKED}) AS asked "
        "ANTI JOIN expression_results AS answered ON asked.attempt_id = answered.attempt_id "
        "AND asked.sub_goal IS NOT DISTINCT FROM answered.sub_goal "
        "AND asked.condition = answered.condition "
        "WHERE asked.attempt_id = coalesce($attempt_id, asked.attempt_id)",
        {"expression": expression, "attempt_id": attempt_id},
    )
