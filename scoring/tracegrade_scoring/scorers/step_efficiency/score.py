"""Scores how many steps attempts took, and how many of them their task needs.

Source: docs/metrics.md, section 3.
"""

import duckdb

from tracegrade_scoring.relations import materialise


def score(con: duckdb.DuckDBPyConnection) -> None:
    """Create `step_scores`, one row for each distinct set of scores.

    Args:
        con: Holds what `create_relations` creates.
    """
    materialise(con, "step_scores")
