"""Scores attempts against their own first plan, where no task is needed to know what was meant."""

from typing import Final

import duckdb
import pyarrow as pa

from tracegrade_scoring.plan_steps import (
    FINISHED_STATUSES,
    OPEN_STATUSES,
    PlanStep,
    matches,
    read_plan,
)
from tracegrade_scoring.relations import materialise, put, table
from tracegrade_scoring.replanning import read_plan_texts

TEXT: Final = pa.string()
INTEGER: Final = pa.int32()

# One row per step of each distinct plan; `status`: open | begun | finished, NULL without a mark.
ITEMS: Final = pa.schema(
    [("plan", TEXT), ("place", INTEGER), ("id", TEXT), ("tool_name", TEXT), ("status", TEXT)]
)
# One row per step of a first plan that a later plan of the same attempt has too.
PAIRS: Final = pa.schema(
    [("first_plan", TEXT), ("later_plan", TEXT), ("place", INTEGER), ("later_place", INTEGER)]
)


def score_own_plans(con: duckdb.DuckDBPyConnection) -> None:
    """Create `plan_scores`: `plan_coverage` and `plan_completion` of each attempt.

    Args:
        con: Holds `attempts`, `calls` and `plans`.
    """
    read_plan_texts(con)
    materialise(con, "plan_firsts")
    _read_items(con)
    _pair_steps(con)
    materialise(con, "plan_step_rows")
    materialise(con, "plan_scores")


def _read_items(con: duckdb.DuckDBPyConnection) -> None:
    plans = [str(text) for (text,) in con.execute("SELECT text FROM plan_texts").fetchall()]
    rows = (
        (plan, place, step.id, step.tool, _mark(step))
        for plan in plans
        for place, step in enumerate(read_plan(plan))
    )
    put(con, "plan_items", table(ITEMS, rows))


def _mark(step: PlanStep) -> str | None:
    if step.status is None or step.status in OPEN_STATUSES:
        return step.status and "open"
    return "finished" if step.status in FINISHED_STATUSES else "begun"


def _pair_steps(con: duckdb.DuckDBPyConnection) -> None:
    """Find the steps of first plans in later ones, once for each distinct pair of plans."""
    pairs = con.execute(
        "SELECT DISTINCT plan_firsts.plan, plans.plan FROM plan_firsts "
        "INNER JOIN plans USING (attempt_id) "
        "WHERE plans.plan IS NOT NULL AND plans.plan_index > plan_firsts.plan_index ORDER BY ALL"
    ).fetchall()
    rows = (
        (first, later, place, later_place)
        for first, later in pairs
        for place, later_place in matches(read_plan(first), read_plan(later)).items()
    )
    put(con, "plan_pairs", table(PAIRS, rows))
