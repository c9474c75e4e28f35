"""Reads each distinct plan that agents declared once, for all metrics of plans.

Plans have numbers, since a plan may be megabytes and is in many rows.
"""

from collections.abc import Sequence
from typing import Final, TypeAlias

import pyarrow as pa

from tracegrade_queries.build.canonical import canonical_json
from tracegrade_queries.graph import Run, relation
from tracegrade_scoring.attempts.plan_steps import PlanStep, is_marked, read_plan

DeclaredPlans: TypeAlias = Sequence[Sequence[PlanStep]]
"""The steps of each distinct plan, in the order of their numbers."""


_SHARED_KEY: Final = "plans"


def plans_of(run: Run) -> DeclaredPlans:
    """Return each distinct plan; for relations that read `plan_texts`."""
    plans: DeclaredPlans = run.shared[_SHARED_KEY]
    return plans


@relation("plan_texts", reads=("distinct_plans",))
def _plan_texts(run: Run) -> pa.Table:
    """Return (plan_key, plan, canonical, is_empty, is_marked), one row for each distinct plan.

    `plan` is its number; `canonical` is another, equal for equal JSON, and NULL for a plan that is
    the only one wherever it was declared.
    """
    found = run.con.sql("FROM distinct_plans ORDER BY plan_key").to_arrow_table()
    texts = found["plan"].to_pylist()
    plans = [read_plan(text) for text in texts]
    run.shared[_SHARED_KEY] = plans
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
    return pa.table(columns)
