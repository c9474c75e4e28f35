"""Creates the rows and scores of sub-goals, from the relations of the scoring job.

The order of the queries is the way of thought: which calls serve which sub-goal; what each one
returned; when each condition held; what became of each sub-goal; which variant that fits best; the
rows; the scores.
"""

import duckdb
import pyarrow as pa

from tracegrade_queries.canonical import canonical_texts
from tracegrade_scoring.plan_graph.own_plan import score_own_plans
from tracegrade_scoring.plan_graph.tables import create_graph_tables
from tracegrade_scoring.relations import materialise, put


def score(con: duckdb.DuckDBPyConnection) -> None:
    """Create `plan_graph_scores` and `sub_goal_rows`, as temporary tables.

    `plan_graph_scores` has one row for each attempt and metric, `sub_goal_rows` one for each
    attempt and sub-goal of the variant that was chosen for it.

    Args:
        con: Holds `attempts`, `attempt_bindings`, `attempt_members`, `calls`, `plans`, `steps` and
            the task relations.
    """
    create_graph_tables(con)
    materialise(con, "sub_goal_attribution")
    materialise(con, "sub_goal_values")
    _canonicalise(con)
    _evaluate_expressions(con)
    for name in ("sub_goal_evidence", "sub_goal_states", "sub_goal_variants", "sub_goal_rows"):
        materialise(con, name)
    materialise(con, "sub_goal_scores")
    score_own_plans(con)
    con.execute(
        "CREATE OR REPLACE TEMP TABLE plan_graph_scores AS "
        "FROM sub_goal_scores UNION ALL BY NAME FROM plan_scores"
    )


def _canonicalise(con: duckdb.DuckDBPyConnection) -> None:
    """Create `sub_goal_texts` (text, canonical): each distinct JSON text that is compared."""
    texts = con.sql(
        "SELECT found FROM sub_goal_values WHERE found IS NOT NULL "
        "UNION SELECT wanted FROM sub_goal_values WHERE wanted IS NOT NULL ORDER BY ALL"
    ).to_arrow_table()["found"]
    canonical = canonical_texts(texts)
    put(con, "sub_goal_texts", pa.table({"text": texts, "canonical": canonical}))


def _evaluate_expressions(con: duckdb.DuckDBPyConnection) -> None:
    """Create `sub_goal_sql`: what each expression of a criterion says before and after the steps.

    One query for each distinct expression; task files are checked when they are loaded.
    """
    con.execute(
        "CREATE OR REPLACE TEMP TABLE sub_goal_sql "
        "(attempt_id TEXT, sub_goal TEXT, condition INTEGER, at_end BOOLEAN, holds BOOLEAN)"
    )
    for (expression,) in con.execute(
        "SELECT DISTINCT expression FROM graph_conditions WHERE kind = 'sql' ORDER BY expression"
    ).fetchall():
        con.execute(_EXPRESSION.format(expression=expression), {"expression": expression})


_EXPRESSION = """
  INSERT INTO sub_goal_sql
  WITH before AS (
    SELECT ({expression})::BOOLEAN AS holds FROM steps WHERE FALSE
  ),
  after AS (
    SELECT attempt_members.attempt_id, ({expression})::BOOLEAN AS holds
    FROM steps INNER JOIN attempt_members USING (trajectory_id)
    GROUP BY attempt_members.attempt_id
  ),
  asked AS (
    SELECT attempts.attempt_id, sub_goal, condition
    FROM attempts INNER JOIN graph_conditions USING (task_id)
    WHERE expression = $expression
  )
  SELECT attempt_id, sub_goal, condition, FALSE, coalesce(before.holds, FALSE)
  FROM asked CROSS JOIN before
  UNION ALL
  SELECT attempt_id, sub_goal, condition, TRUE, coalesce(after.holds, before.holds, FALSE)
  FROM asked LEFT JOIN after USING (attempt_id) CROSS JOIN before
"""
