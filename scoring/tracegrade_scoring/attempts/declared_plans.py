"""Reads each distinct plan that agents declared, once for everything that is asked of plans.

Plans go by numbers, since a plan may be megabytes and stands in many rows.

Makes:
    plan_texts (from distinct_plans): each distinct plan
"""

from collections.abc import Sequence
from typing import TypeAlias

import duckdb
import pyarrow as pa

from tracegrade_queries.build.canonical import canonical_json
from tracegrade_scoring.attempts.plan_steps import PlanStep, is_marked, read_plan
from tracegrade_scoring.relations import materialise, put
from tracegrade_scoring.sql import query

Plans: TypeAlias = Sequence[Sequence[PlanStep]]
"""The steps of each distinct plan, in the order of their numbers."""


def read_plans(con: duckdb.DuckDBPyConnection) -> Plans:
    """Return each distinct plan that was declared, and create `plan_texts` and `plan_numbers`.

    `plan_texts` (plan_key, plan, canonical, is_empty, is_marked) has one row for each, of which
    `plan` is the number; `canonical` is another, equal for equal JSON, and NULL for a plan that is
    the only one wherever it was declared.
    """
    found = con.sql(query("distinct_plans")).to_arrow_table()
    texts = found["plan"].to_pylist()
    plans = [read_plan(text) for text in texts]
    numbers: dict[str, int] = {}
    canonical = [
        numbers.setdefault(canonical_json(text) or text, len(numbers)) if has_others else None
        for text, has_others in zip(texts, found["has_others"].to_pylist(), strict=True)
    ]
    columns = {
        "plan_key": found["plan_key"],
        "plan": pa.array(range(len(plans)), pa.int32()),
        "canonical": pa.array(canonical, pa.int32()),
        "is_empty": pa.array([not steps for steps in plans], pa.bool_()),
        "is_marked": pa.array([is_marked(steps) for steps in plans], pa.bool_()),
    }
    put(con, "plan_texts", pa.table(columns))
    materialise(con, "plan_numbers")
    return plans
