"""Judges whether each attempt succeeded: by verdicts, the task's criterion, or the trace."""

import duckdb

from tracegrade_scoring.attempts.criteria import judge_criteria
from tracegrade_scoring.relations import materialise


def judge_success(con: duckdb.DuckDBPyConnection) -> None:
    """Create `successes`, and what it is made from; needs `calls` and `attempt_tasks`."""
    materialise(con, "verdict_opinions")
    materialise(con, "sub_goal_verdicts")
    judge_criteria(con)
    materialise(con, "criterion_results")
    materialise(con, "successes")
