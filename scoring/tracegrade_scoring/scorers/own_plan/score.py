"""Scores attempts against their own first plan, where no task is needed to know what was meant.

Makes:
    plan_items (from plans): the steps of each distinct plan
    plan_pairs (from plan_firsts, plan_numbers): steps of first plans that a later plan has too
"""

from typing import Final

import duckdb
import pyarrow as pa

from tracegrade_lake.columns import INTEGER, TEXT
from tracegrade_scoring.attempts.declared_plans import Plans
from tracegrade_scoring.attempts.plan_steps import (
    FINISHED_STATUSES,
    OPEN_STATUSES,
    PlanStep,
    matches,
)
from tracegrade_scoring.relations import materialise, put, table

# One row per step of each distinct plan; `status`: open | begun | finished, NULL without a mark.
ITEMS: Final = pa.schema(
    [("plan", INTEGER), ("place", INTEGER), ("id", TEXT), ("tool_name", TEXT), ("status", TEXT)]
)
# One row per step of a first plan that a later plan of the same attempt has too; `status`: there.
PAIRS: Final = pa.schema(
    [("first_plan", INTEGER), ("later_plan", INTEGER), ("place", INTEGER), ("status", TEXT)]
)


def score_own_plans(con: duckdb.DuckDBPyConnection, plans: Plans) -> None:
    """Create `plan_scores`: `plan_coverage` and `plan_completion` of each attempt.

    Args:
        con: Holds `attempts`, `calls`, `plan_numbers` and `plans`.
        plans: Every plan that they declared.
    """
    materialise(con, "plan_firsts")
    put(con, "plan_items", _items(plans))
    _pair_steps(con, plans)
    materialise(con, "plan_step_rows")
    materialise(con, "plan_scores")


def _items(plans: Plans) -> pa.Table:
    every = [step for steps in plans for step in steps]
    columns = (
        [number for number, steps in enumerate(plans) for _ in steps],
        [place for steps in plans for place in range(len(steps))],
        [step.id for step in every],
        [step.tool for step in every],
        [_mark(step) for step in every],
    )
    arrays = [pa.array(values, f.type) for values, f in zip(columns, ITEMS, strict=True)]
    return pa.Table.from_arrays(arrays, schema=ITEMS)


def _mark(step: PlanStep) -> str | None:
    if step.status is None or step.status in OPEN_STATUSES:
        return step.status and "open"
    return "finished" if step.status in FINISHED_STATUSES else "begun"


def _pair_steps(con: duckdb.DuckDBPyConnection, plans: Plans) -> None:
    """Find the steps of first plans in later ones, once for each distinct pair of plans."""
    pairs = con.execute(
        "SELECT DISTINCT first.plan, later.plan FROM plan_firsts AS first "
        "INNER JOIN plan_numbers AS later USING (attempt_id) "
        "WHERE later.plan_index > first.plan_index ORDER BY ALL"
    ).fetchall()
    rows = (
        (first, later, place, _mark(plans[later][later_place]))
        for first, later in pairs
        for place, later_place in matches(plans[first], plans[later]).items()
    )
    put(con, "plan_pairs", table(PAIRS, rows))
