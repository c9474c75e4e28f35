"""Asks the SQL expressions of success criteria what they say of each attempt.

Its own module because these texts are the task file's, not ours. They are checked when the file is
loaded, but some errors show only on real steps, and must spoil no other attempt.
"""

import duckdb

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
        if not _add(con, expression, "(SELECT attempt_id FROM asked)"):
            _add_one_by_one(con, expression)


def _add(
    con: duckdb.DuckDBPyConnection, expression: str, attempts: str, **parameters: str
) -> bool:
    """Add the rows of one expression for some attempts; False, and none, if it cannot be run."""
    rows = _EVALUATED.format(asked=_ASKED, expression=expression, attempts=attempts)
    try:
        con.execute(
            f"INSERT INTO expression_results {rows}", {"expression": expression, **parameters}
        )
    except duckdb.Error:
        return False
    return True


def _add_one_by_one(con: duckdb.DuckDBPyConnection, expression: str) -> None:
    asked = con.execute(f"SELECT DISTINCT attempt_id FROM ({_ASKED})", {"expression": expression})
    for (attempt_id,) in asked.fetchall():
        if not _add(con, expression, "($attempt_id)", attempt_id=attempt_id):
            con.execute(
                "INSERT INTO expression_results "
                "SELECT attempt_id, sub_goal, condition, TRUE, NULL "
                f"FROM ({_ASKED}) WHERE attempt_id = $attempt_id",
                {"expression": expression, "attempt_id": attempt_id},
            )
