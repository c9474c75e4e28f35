"""Judges whether each attempt succeeded: by verdicts, the task's criterion, or the trace itself.

The parts of a criterion are SQL; only a task's own expression and canonical JSON need Python.
"""

from typing import Final

import duckdb
import pyarrow as pa

from tracegrade_queries.canonical import canonical_texts
from tracegrade_queries.connection import duckdb_type
from tracegrade_queries.schema import STEPS
from tracegrade_scoring.relations import materialise, put
from tracegrade_scoring.tasks import Specification

_EXPRESSION: Final = """
  SELECT attempt_members.attempt_id, ({expression})::BOOLEAN AS held
  FROM steps INNER JOIN attempt_members USING (trajectory_id)
  INNER JOIN task_matches ON attempt_members.attempt_id = task_matches.attempt_id
  WHERE task_matches.task_id = $task_id
  GROUP BY attempt_members.attempt_id
"""


def judge_success(con: duckdb.DuckDBPyConnection, specification: Specification) -> None:
    """Create `successes`, and what it is made from; needs `calls` and `task_matches`."""
    materialise(con, "wanted_values")
    materialise(con, "found_values")
    _canonicalise(con)
    con.execute("CREATE OR REPLACE TEMP TABLE expression_results (attempt_id TEXT, held BOOLEAN)")
    for task_id, task in specification.tasks.items():
        if task.success and task.success.sql:
            sql = _EXPRESSION.format(expression=task.success.sql)
            con.execute(f"INSERT INTO expression_results {sql}", {"task_id": task_id})
    materialise(con, "criterion_results")
    materialise(con, "successes")


def _canonicalise(con: duckdb.DuckDBPyConnection) -> None:
    """Create `canonical_values` (text, canonical): each distinct JSON text that is compared."""
    texts = con.sql(
        "SELECT found FROM found_values WHERE found IS NOT NULL "
        "UNION SELECT wanted FROM found_values WHERE wanted IS NOT NULL ORDER BY ALL"
    ).to_arrow_table()["found"]
    put(con, "canonical_values", pa.table({"text": texts, "canonical": canonical_texts(texts)}))


def check_expression(sql: str) -> str | None:
    """Return why a task's SQL expression cannot be run over steps; None if it can."""
    columns = ", ".join(f"{column.name} {duckdb_type(column.type)}" for column in STEPS.columns)
    with duckdb.connect(config={"enable_external_access": False}) as con:
        con.execute(f"CREATE TABLE steps ({columns})")
        try:
            con.execute(f"SELECT ({sql})::BOOLEAN FROM steps GROUP BY trajectory_id").fetchall()
        except duckdb.Error as error:
            return " ".join(str(error).split())
    return None
