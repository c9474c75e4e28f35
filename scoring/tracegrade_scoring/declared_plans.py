"""Reads each distinct plan that agents declared, once for everything that is asked of plans.

Plans go by numbers, since a plan may be megabytes and stands in many rows.
"""

from collections.abc import Sequence
from typing import TypeAlias

import duckdb
import pyarrow as pa

from tracegrade_queries.canonical import canonical_json
from tracegrade_scoring.plan_steps import PlanStep, is_marked, read_plan
from tracegrade_scoring.relations import materialise, put

Plans: TypeAlias = Sequence[Sequence[PlanStep]]
"""The steps of each distinct plan, in the order of their numbers."""


def read_plans(con: duckdb.DuckDBPyConnection) -> Plans:
    """Return each distinct plan that was declared, and create `plan_texts` and `plan_numbers`.

    `plan_texts` (plan_key, plan, canonical, is_empty, is_marked) has one row for each, of which
    `plan` is the number; `canonical` is another, equal for equal JSON.
    """
    keys, texts = _distinct_texts(con)
    plans = [read_plan(text) for text in texts]
    numbers: dict[str, int] = {}
    canonical = [numbers.setdefault(canonical_json(text) or text, len(numbers)) for text in texts]
    columns = {
        "plan_key": pa.array(keys, pa.string()),
        "plan": pa.array(range(len(plans)), pa.int32()),
        "canonical": pa.array(canonical, pa.int32()),
        "is_empty": pa.array([not steps for steps in plans], pa.bool_()),
        "is_marked": pa.array([is_marked(steps) for steps in plans], pa.bool_()),
    }
    put(con, "plan_texts", pa.table(columns))
    materialise(con, "plan_numbers")
    return plans


def _distinct_texts(con: duckdb.DuckDBPyConnection) -> tuple[Sequence[str], Sequence[str]]:
    """Return the key and the text of each distinct plan."""
    found = con.sql(
        "SELECT plan_key, any_value(plan) AS plan FROM plans WHERE plan IS NOT NULL "
        "GROUP BY plan_key ORDER BY plan_key"
    ).to_arrow_table()
    return found["plan_key"].to_pylist(), found["plan"].to_pylist()
