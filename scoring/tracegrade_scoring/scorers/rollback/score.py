"""Scores whether a killed run can be undone, by the verdicts of kill tests.

Source: docs/metrics.md, section 6.
"""

import duckdb

from tracegrade_scoring.relations import materialise


def score(con: duckdb.DuckDBPyConnection) -> None:
    """Create `rollback_scores`, one row for each distinct set of scores.

    Args:
        con: Holds what `create_relations` creates, and `verdicts`.
    """
    materialise(con, "rollback_scores")
