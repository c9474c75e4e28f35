"""Judges whether each attempt succeeded: by verdicts, the task's criterion, or the trace itself.

The parts of a criterion are SQL; only a task's own expression and canonical JSON need Python.
"""

from typing import Final

import duckdb
import pyarrow as pa

from tracegrade_queries.canonical import canonical_texts
from tracegrade_scoring.relations import materialise, put
from tracegrade_scoring.tasks import Specification

# An attempt without steps is asked too: over no rows.
_EXPRESSION: Final = """
  INSERT INTO expression_results
  WITH asked AS (
    SELECT attempt_id FROM task_matches WHERE task_id = $task_id AND {chosen}
  ),
  without_steps AS (
    SELECT ({expression})::BOOLEAN AS held FROM steps WHERE FALSE
  ),
  with_steps AS (
    SELECT attempt_members.attempt_id, ({expression})::BOOLEAN AS held
    FROM steps INNER JOIN attempt_members USING (trajectory_id)
    WHERE attempt_members.attempt_id IN (SELECT attempt_id FROM asked)
    GROUP BY attempt_members.attempt_id
  )
  SELECT
    asked.attempt_id,
    coalesce(if(with_steps.attempt_id IS NULL, without_steps.held, with_steps.held), FALSE)
  FROM asked LEFT JOIN with_steps USING (attempt_id) CROSS JOIN without_steps
"""


def judge_success(con: duckdb.DuckDBPyConnection, specification: Specification) -> None:
    """Create `successes`, and what it is made from; needs `calls` and `task_matches`."""
    materialise(con, "wanted_values")
    materialise(con, "found_values")
    _canonicalise(con)
    con.execute("CREATE OR REPLACE TEMP TABLE expression_results (attempt_id TEXT, held BOOLEAN)")
    for task_id, task in specification.tasks.items():
        if task.success and task.success.sql:
            _evaluate(con, task_id, task.success.sql)
    materialise(con, "criterion_results")
    materialise(con, "successes")


def _evaluate(con: duckdb.DuckDBPyConnection, task_id: str, expression: str) -> None:
    """Add what a task's expression says of its attempts; NULL where it cannot be run.

    Some errors show only on real steps, and must spoil no other attempt: then each is asked alone.
    """
    if _add(con, task_id, expression):
        return
    mine = "SELECT attempt_id FROM task_matches WHERE task_id = $task_id ORDER BY attempt_id"
    for (attempt_id,) in con.execute(mine, {"task_id": task_id}).fetchall():
        if not _add(con, task_id, expression, attempt_id):
            con.execute("INSERT INTO expression_results VALUES ($id, NULL)", {"id": attempt_id})


def _add(
    con: duckdb.DuckDBPyConnection, task_id: str, expression: str, attempt_id: str | None = None
) -> bool:
    """Add the results of all attempts, or of one; False, and none, if that cannot be run."""
    one = {} if attempt_id is None else {"attempt_id": attempt_id}
    chosen = "attempt_id = $attempt_id" if one else "TRUE"
    sql = _EXPRESSION.format(expression=expression, chosen=chosen)
    try:
        con.execute(sql, {"task_id": task_id, **one})
    except duckdb.Error:
        return False
    return True


def _canonicalise(con: duckdb.DuckDBPyConnection) -> None:
    """Create `canonical_values` (text, canonical): each distinct JSON text that is compared."""
    texts = con.sql(
        "SELECT found FROM found_values WHERE found IS NOT NULL "
        "UNION SELECT wanted FROM found_values WHERE wanted IS NOT NULL ORDER BY ALL"
    ).to_arrow_table()["found"]
    put(con, "canonical_values", pa.table({"text": texts, "canonical": canonical_texts(texts)}))
