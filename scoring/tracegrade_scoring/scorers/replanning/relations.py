"""Compares two plans in a row, once for each distinct pair; SQL does the rest of replanning."""

from collections.abc import Sequence

import pyarrow as pa

from tracegrade_queries.graph import Run, relation
from tracegrade_scoring.attempts.declared_plans import DeclaredPlans, plans_of
from tracegrade_scoring.scorers.replanning.replans import is_replan


@relation("plan_comparisons", reads=("plan_changes", "plan_texts"))
def _comparisons(run: Run) -> pa.Table:
    """Return whether each distinct pair of different plans is a replan."""
    plans = plans_of(run)
    pairs = run.con.sql(
        "SELECT DISTINCT plan_before, plan_after, done_sub_goals, done_tools FROM plan_changes "
        "WHERE plan_before <> plan_after ORDER BY ALL"
    ).to_arrow_table()
    verdicts = [_replans(plans, **pair) for pair in pairs.to_pylist()]
    return pairs.append_column("is_replan", pa.array(verdicts, "bool"))


def _replans(
    plans: DeclaredPlans,
    plan_before: int,
    plan_after: int,
    done_sub_goals: Sequence[str],
    done_tools: Sequence[str],
) -> bool:
    before = plans[plan_before]
    done = [step.id in done_sub_goals or step.tool in done_tools for step in before]
    return is_replan(before, plans[plan_after], done)
