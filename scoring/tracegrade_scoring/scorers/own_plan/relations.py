"""The steps of plans; SQL does the rest of progress on an attempt's own first plan."""

from typing import Final

import pyarrow as pa

from tracegrade_lake.columns import INTEGER, TEXT
from tracegrade_queries.engine.relations import table
from tracegrade_queries.graph import Run, relation
from tracegrade_scoring.attempts.declared_plans import plans_of
from tracegrade_scoring.attempts.plan_steps import (
    FINISHED_STATUSES,
    OPEN_STATUSES,
    PlanStep,
    matches,
)

# One row per step of each distinct plan; `status`: open | begun | finished, NULL without a mark.
ITEMS: Final = pa.schema(
    [("plan", INTEGER), ("position", INTEGER), ("id", TEXT), ("tool_name", TEXT), ("status", TEXT)]
)
# One row per step of a first plan that a later plan of the same attempt has too; `status`: there.
PAIRS: Final = pa.schema(
    [("first_plan", INTEGER), ("later_plan", INTEGER), ("position", INTEGER), ("status", TEXT)]
)


@relation("plan_items", reads=("plan_texts",))
def _items(run: Run) -> pa.Table:
    """Return the steps of each distinct plan."""
    plans = plans_of(run)
    every = [step for steps in plans for step in steps]
    columns = (
        [number for number, steps in enumerate(plans) for _ in steps],
        [position for steps in plans for position in range(len(steps))],
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


@relation("plan_pairs", reads=("plan_firsts", "plan_numbers", "plan_texts"))
def _pairs(run: Run) -> pa.Table:
    """Return the steps of first plans that a later plan has too, once for each pair of plans."""
    plans = plans_of(run)
    pairs = run.con.execute(
        "SELECT DISTINCT first.plan, later.plan FROM plan_firsts AS first "
        "INNER JOIN plan_numbers AS later USING (attempt_id) "
        "WHERE later.plan_index > first.plan_index ORDER BY ALL"
    ).fetchall()
    rows = (
        (first, later, position, _mark(plans[later][later_position]))
        for first, later in pairs
        for position, later_position in matches(plans[first], plans[later]).items()
    )
    return table(PAIRS, rows)
