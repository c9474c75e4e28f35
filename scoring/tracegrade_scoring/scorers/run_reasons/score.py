"""Finds the reasons why each attempt failed, in a fixed order of precedence.

All of it is SQL, and it reads only what the other scorers found. Source: docs/metrics.md,
section 9.6.
"""

from typing import Final

import duckdb

from tracegrade_scoring.relations import create_macro, materialise

_STAGES: Final = (
    "verdict_reasons",
    "ending_reasons",
    "call_reasons",
    "mode_reasons",
    "decision_reasons",
    "sub_goal_reasons",
    "reason_rows",
)


def score(con: duckdb.DuckDBPyConnection) -> None:
    """Create `reason_rows`: one row for each attempt and reason, at least one if it failed.

    Args:
        con: Holds what `create_relations` and the scorers of tool selection, plan graphs, conduct
            and failure modes create, and `endings`.
    """
    create_macro(con, "reason_text")
    for name in _STAGES:
        materialise(con, name)
