"""Scores how often an agent changed what was left of its plan, and whether failures made it do so.

Two plans in a row are compared in Python, once for each distinct pair; all else is SQL.
"""

import duckdb
import pyarrow as pa

from tracegrade_queries.canonical import canonical_json
from tracegrade_scoring.plan_steps import changes_remaining_steps, read_plan
from tracegrade_scoring.relations import materialise, put


def score(con: duckdb.DuckDBPyConnection) -> None:
    """Create `replanning_scores`, one row for each attempt and metric, as a temporary table.

    Args:
        con: Holds `attempts`, `calls` and `plans`.
    """
    read_plan_texts(con)
    materialise(con, "plan_changes")
    _compare_plans(con)
    materialise(con, "replan_events")
    materialise(con, "replanning_scores")


def read_plan_texts(con: duckdb.DuckDBPyConnection) -> None:
    """Create `plan_texts` (text, canonical, is_empty): each distinct plan that was declared."""
    texts = [
        str(text)
        for (text,) in con.execute(
            "SELECT DISTINCT plan FROM plans WHERE plan IS NOT NULL ORDER BY plan"
        ).fetchall()
    ]
    columns = {
        "text": pa.array(texts, pa.string()),
        "canonical": pa.array([canonical_json(text) or text for text in texts], pa.string()),
        "is_empty": pa.array([not read_plan(text) for text in texts], pa.bool_()),
    }
    put(con, "plan_texts", pa.table(columns))


def _compare_plans(con: duckdb.DuckDBPyConnection) -> None:
    """Create `plan_comparisons`: whether each distinct pair of different plans is a replan."""
    pairs = con.sql(
        "SELECT DISTINCT plan_before, plan_after, done_sub_goals, done_tools FROM plan_changes "
        "WHERE plan_before <> plan_after ORDER BY ALL"
    ).to_arrow_table()
    verdicts = [_is_replan(**pair) for pair in pairs.to_pylist()]
    put(con, "plan_comparisons", pairs.append_column("is_replan", pa.array(verdicts, "bool")))


def _is_replan(
    plan_before: str, plan_after: str, done_sub_goals: list[str], done_tools: list[str]
) -> bool:
    before = read_plan(plan_before)
    done = [step.id in done_sub_goals or step.tool in done_tools for step in before]
    return changes_remaining_steps(before, read_plan(plan_after), done)
