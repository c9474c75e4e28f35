"""Scores how far agents got with their own plan, and how often they changed what was left of it.

Two plans in a row are compared in Python, once for each distinct pair; all else is SQL.

Makes:
    plan_comparisons (from plan_changes): whether a change from one plan to another is a replan
"""

from collections.abc import Sequence

import duckdb
import pyarrow as pa

from tracegrade_scoring.attempts.declared_plans import Plans, read_plans
from tracegrade_scoring.relations import materialise, put
from tracegrade_scoring.scorers.own_plan.score import score_own_plans
from tracegrade_scoring.scorers.replanning.replans import is_replan


def score(con: duckdb.DuckDBPyConnection) -> None:
    """Create `plan_scores` and `replanning_scores`, one row for each attempt.

    Args:
        con: Holds `attempts`, `calls` and `plans`.
    """
    plans = read_plans(con)
    score_own_plans(con, plans)
    materialise(con, "plan_changes")
    _compare_plans(con, plans)
    materialise(con, "replan_events")
    materialise(con, "replanning_scores")


def _compare_plans(con: duckdb.DuckDBPyConnection, plans: Plans) -> None:
    """Create `plan_comparisons`: whether each distinct pair of different plans is a replan."""
    pairs = con.sql(
        "SELECT DISTINCT plan_before, plan_after, done_sub_goals, done_tools FROM plan_changes "
        "WHERE plan_before <> plan_after ORDER BY ALL"
    ).to_arrow_table()
    verdicts = [_replans(plans, **pair) for pair in pairs.to_pylist()]
    put(con, "plan_comparisons", pairs.append_column("is_replan", pa.array(verdicts, "bool")))


def _replans(
    plans: Plans,
    plan_before: int,
    plan_after: int,
    done_sub_goals: Sequence[str],
    done_tools: Sequence[str],
) -> bool:
    before = plans[plan_before]
    done = [step.id in done_sub_goals or step.tool in done_tools for step in before]
    return is_replan(before, plans[plan_after], done)
