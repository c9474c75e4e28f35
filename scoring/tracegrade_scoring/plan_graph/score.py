"""Creates the rows and scores of sub-goals, from the relations of the scoring job.

The order of the queries is the way of thought: which calls serve which sub-goal; when each
condition held; what became of each sub-goal; for each distinct outcome which variant fits best and
what that gives; the rows; the scores.
"""

import duckdb

from tracegrade_scoring.plan_graph.tables import create_graph_tables
from tracegrade_scoring.relations import define, materialise


def score(con: duckdb.DuckDBPyConnection) -> None:
    """Create `sub_goal_scores` and `sub_goal_rows`.

    `sub_goal_scores` has one row for each attempt, `sub_goal_rows` one for each
    attempt and sub-goal of the variant that was chosen for it.

    Args:
        con: Holds `attempts`, `calls`, `criterion_evidence`, `expression_results`,
            `steps`, `sub_goal_verdicts` and the task relations.
    """
    create_graph_tables(con)
    materialise(con, "sub_goal_attribution")
    for name in ("sub_goal_evidence", "sub_goal_states", "sub_goal_examples"):
        materialise(con, name)
    for name in ("sub_goal_variants", "sub_goal_results", "sub_goal_rows"):
        materialise(con, name)
    define(con, "sub_goal_scores")
