"""Creates the rows and scores of sub-goals, from the relations of the scoring job.

The order of the queries is the way of thought: which calls serve which sub-goal; what each one
returned; when each condition held; what became of each sub-goal; which variant that fits best; the
rows; the scores.
"""

import duckdb
import pyarrow as pa

from tracegrade_queries.canonical import canonical_texts
from tracegrade_scoring.plan_graph import expressions
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
    expressions.evaluate(con)
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
