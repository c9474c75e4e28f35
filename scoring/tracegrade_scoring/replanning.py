"""Scores how often an agent changed what was left of its plan, and whether failures made it do so.

Two plans in a row are compared in Python, once for each distinct pair; all else is SQL. Plans go
by keys, since a plan may be megabytes and stands in many rows.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TypeAlias

import duckdb
import pyarrow as pa

from tracegrade_queries.canonical import canonical_json
from tracegrade_scoring.plan_steps import PlanStep, changes_remaining_steps, read_plan
from tracegrade_scoring.relations import materialise, put

Plans: TypeAlias = Mapping[str, Sequence[PlanStep]]
"""The steps of each distinct plan, by its key."""


def score(con: duckdb.DuckDBPyConnection) -> None:
    """Create `replanning_scores`, one row for each attempt and metric, as a temporary table.

    Args:
        con: Holds `attempts`, `calls` and `plans`.
    """
    plans = read_plans(con)
    materialise(con, "plan_changes")
    _compare_plans(con, plans)
    materialise(con, "replan_events")
    materialise(con, "replanning_scores")


def read_plans(con: duckdb.DuckDBPyConnection) -> Plans:
    """Return each distinct plan that was declared, and create `plan_texts` of them.

    `plan_texts` (plan_key, canonical, is_empty): `canonical` is equal for equal JSON.
    """
    texts: dict[str, str] = dict(
        con.execute(
            "SELECT DISTINCT plan_key, plan FROM plans WHERE plan IS NOT NULL ORDER BY plan_key"
        ).fetchall()
    )
    plans = {key: read_plan(text) for key, text in texts.items()}
    columns = {
        "plan_key": pa.array(list(texts), pa.string()),
        "canonical": pa.array([_canonical_key(text) for text in texts.values()], pa.string()),
        "is_empty": pa.array([not steps for steps in plans.values()], pa.bool_()),
    }
    put(con, "plan_texts", pa.table(columns))
    return plans


def _canonical_key(text: str) -> str:
    canonical = canonical_json(text) or text
    return sha256(canonical.encode(errors="surrogatepass")).hexdigest()


def _compare_plans(con: duckdb.DuckDBPyConnection, plans: Plans) -> None:
    """Create `plan_comparisons`: whether each distinct pair of different plans is a replan."""
    pairs = con.sql(
        "SELECT DISTINCT plan_before, plan_after, done_sub_goals, done_tools FROM plan_changes "
        "WHERE plan_before <> plan_after ORDER BY ALL"
    ).to_arrow_table()
    verdicts = [_is_replan(plans, **pair) for pair in pairs.to_pylist()]
    put(con, "plan_comparisons", pairs.append_column("is_replan", pa.array(verdicts, "bool")))


def _is_replan(
    plans: Plans,
    plan_before: str,
    plan_after: str,
    done_sub_goals: Sequence[str],
    done_tools: Sequence[str],
) -> bool:
    before = plans[plan_before]
    done = [step.id in done_sub_goals or step.tool in done_tools for step in before]
    return changes_remaining_steps(before, plans[plan_after], done)
