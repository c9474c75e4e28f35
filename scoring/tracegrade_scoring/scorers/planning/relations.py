"""Rates each distinct plan of a task once; SQL does the rest of planning quality."""

from collections.abc import Iterator
from functools import cache
from typing import Final

import duckdb
import pyarrow as pa

from tracegrade_lake.columns import TEXT
from tracegrade_queries.engine.relations import table
from tracegrade_queries.graph import Run, relation
from tracegrade_scoring.scorers.planning.quality import Objective, Quality, judge
from tracegrade_scoring.scorers.planning.reading import is_in_words, read_steps, text_marks
from tracegrade_scoring.tasks import Specification
from tracegrade_scoring.tasks.check import pattern_groups

QUALITIES: Final = pa.schema(
    [
        ("task_id", TEXT),
        ("plan_key", TEXT),
        ("steps", pa.int64()),
        ("in_words", pa.bool_()),
        *(
            (f"{name}_{column}", kind)
            for name in Quality._fields
            for column, kind in (("met", pa.float64()), ("total", pa.int64()), ("fault", TEXT))
        ),
    ]
)
"""One row for each plan and its task: steps, whether it is words without a list instead, then for
each question parts met, parts, fault."""


@relation("plan_qualities", reads=("opening_plans",))
def _plan_qualities(run: Run) -> pa.Table:
    """Return how good each distinct plan of a task is."""
    return table(QUALITIES, _qualities(run.con, run.context))


def _qualities(
    con: duckdb.DuckDBPyConnection, specification: Specification
) -> Iterator[tuple[object, ...]]:
    known_objective = cache(lambda task_id: objective(specification, task_id))
    marks = cache(text_marks)
    plans = con.sql(
        "SELECT task_id, plan_key, any_value(plan) FROM opening_plans WHERE plan IS NOT NULL "
        "GROUP BY task_id, plan_key ORDER BY task_id, plan_key"
    )
    for task_id, key, plan in plans.fetchall():
        steps = read_steps(plan, marks)
        answers = judge(steps, known_objective(task_id))
        in_words = not steps and is_in_words(plan)
        yield task_id, key, len(steps), in_words, *(fact for part in answers for fact in part)


def objective(specification: Specification, task_id: str) -> Objective:
    """Return what a task says that its plan must be held to."""
    task = specification.tasks[task_id]
    serving = {rule.tool for goal in task.sub_goals.values() for rule in goal.serves}
    named = {name for point in task.expected or () for name in (point.tool, *point.accept) if name}
    inside = serving | set(task.scope or ())
    groups = pattern_groups(task.match.user_input) if task.match and task.match.user_input else ()
    effects = {name: tool.effect for name, tool in specification.tools.items() if tool.effect}
    return Objective(
        tools=frozenset(inside),
        sub_goals=frozenset(task.sub_goals),
        known_tools=frozenset(inside | named | specification.tools.keys()),
        effects=effects,
        given=frozenset({*task.given, *groups}),
        can_fail=None if task.can_fail is None else frozenset(task.can_fail),
    )
