"""Creates the rows and scores of sub-goals, from the relations of the scoring job.

The queries run in this order: which sub-goals count by a verdict alone, and what is wrong with
graphs; which calls serve which sub-goal; which attempts are alike; for one
example of each, when each condition held, what became of each sub-goal, which variant fits best
and with what result; the rows; the scores.
"""

from typing import Final

import duckdb

from tracegrade_scoring.relations import create_macro, define, materialise
from tracegrade_scoring.scorers.plan_graph.tables import create_graph_tables

_STAGES: Final = (
    "sub_goal_attribution",
    "sub_goal_examples",
    "sub_goal_evidence",
    "sub_goal_states",
    "sub_goal_variants",
    "sub_goal_results",
)


def score(con: duckdb.DuckDBPyConnection) -> None:
    """Create `sub_goal_scores` and `sub_goal_rows`.

    `sub_goal_scores` has one row for each attempt, `sub_goal_rows` one for each
    attempt and sub-goal of the variant that was chosen for it.

    Args:
        con: Holds `attempts`, `calls`, `criterion_evidence`, `expression_results`,
            `steps`, `sub_goal_verdicts` and the task relations.
    """
    create_macro(con, "goal_score")
    materialise(con, "judged_sub_goals")
    create_graph_tables(con)
    materialise(con, "attempt_graph_faults")
    for name in _STAGES:
        materialise(con, name)
    define(con, "sub_goal_rows")
    materialise(con, "sub_goal_scores")
