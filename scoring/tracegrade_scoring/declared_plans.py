"""Reads each distinct plan that agents declared, once for everything that is asked of plans.

Plans go by keys, since a plan may be megabytes and stands in many rows.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import duckdb
import pyarrow as pa

from tracegrade_queries.canonical import canonical_json
from tracegrade_scoring.plan_steps import PlanStep, read_plan
from tracegrade_scoring.relations import put

Plans: TypeAlias = Mapping[str, Sequence[PlanStep]]
"""The steps of each distinct plan, by its key."""


def read_plans(con: duckdb.DuckDBPyConnection) -> Plans:
    """Return each distinct plan that was declared, and create `plan_texts` of them.

    `plan_texts` (plan_key, canonical, is_empty): `canonical` is a number, equal for equal JSON.
    """
    texts: dict[str, str] = dict(
        con.execute(
            "SELECT plan_key, any_value(plan) FROM plans WHERE plan IS NOT NULL "
            "GROUP BY plan_key ORDER BY plan_key"
        ).fetchall()
    )
    plans = {key: read_plan(text) for key, text in texts.items()}
    numbers: dict[str, int] = {}
    canonical = [
        numbers.setdefault(canonical_json(text) or text, len(numbers)) for text in texts.values()
    ]
    columns = {
        "plan_key": pa.array(list(texts), pa.string()),
        "canonical": pa.array(canonical, pa.int32()),
        "is_empty": pa.array([not steps for steps in plans.values()], pa.bool_()),
    }
    put(con, "plan_texts", pa.table(columns))
    return plans
