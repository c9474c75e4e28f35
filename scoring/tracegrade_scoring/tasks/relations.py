"""Task files as relations in DuckDB, so that metrics can join them.

Positions count from 0 in file order. Values are canonical JSON (docs/metrics.md, section 0.5).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

import pyarrow as pa

from tracegrade_lake.columns import BOOLEAN, DOUBLE, INTEGER, TEXT, TEXTS
from tracegrade_queries.engine.relations import table
from tracegrade_queries.graph import Run, relation
from tracegrade_scoring.tasks.expected_value import (
    argument_path,
    bound_name,
    canonical,
    expected_values,
)
from tracegrade_scoring.tasks.load import Specification
from tracegrade_scoring.tasks.model import Criterion, Expected, SubGoal

RelationRow: TypeAlias = tuple[object, ...]


# The conditions on one value. Either `value`, canonical JSON (with `pattern` or bounds, the rule
# itself, for display), or `input`, the name of a bound value, taken as `input_type`. `optional`:
# it may be absent. `rule`: JSON of a rule with alternatives; each alternative is a row.
WANTED: Final = [
    ("value", TEXT),
    ("input", TEXT),
    ("input_type", TEXT),
    ("pattern", TEXT),
    ("low", DOUBLE),
    ("high", DOUBLE),
    ("optional", BOOLEAN),
    ("rule", TEXT),
]

SCHEMAS: Final[Mapping[str, pa.Schema]] = {
    # The evaluator's facts about each tool; `schema` and unknowns are NULL if not given. `kind`:
    # kind of its calls, if its name does not show it.
    "task_tools": pa.schema(
        [
            ("tool_name", TEXT),
            ("kind", TEXT),
            ("effect", TEXT),
            ("cost", DOUBLE),
            ("alternatives", TEXTS),
            ("schema", TEXT),
            ("error_pattern", TEXT),
        ]
    ),
    # One row per task. `has_expected`: the file gives a list, if only an empty one.
    # `success`: a criterion as JSON.
    "tasks": pa.schema(
        [
            ("task_id", TEXT),
            ("category", TEXT),
            ("agent_name", TEXT),
            ("user_input", TEXT),
            ("has_expected", BOOLEAN),
            ("expected_complete", TEXT),
            ("sequence_matters", BOOLEAN),
            ("optimal_steps", INTEGER),
            ("expected_count", INTEGER),
            ("count_steps", TEXT),
            ("scope", TEXTS),
            ("success", TEXT),
            ("task_hash", TEXT),
        ]
    ),
    # One row per decision point. `arguments`: NULL if the file states none.
    "task_expected": pa.schema(
        [
            ("task_id", TEXT),
            ("position", INTEGER),
            ("decision", TEXT),
            ("tool_name", TEXT),
            ("effect", TEXT),
            ("accept", TEXTS),
            ("arguments", TEXT),
            ("turn", INTEGER),
        ]
    ),
    # One row per key that a decision point gives and alternative of its value; `pointer` is its
    # JSON pointer or path, `name` the argument that it is or is in.
    "task_expected_arguments": pa.schema(
        [
            ("task_id", TEXT),
            ("position", INTEGER),
            ("key", TEXT),
            ("pointer", TEXT),
            ("name", TEXT),
            *WANTED,
        ]
    ),
    # One row per sub-goal; `serves` are tool names. `counted` is false without serves and success.
    "task_sub_goals": pa.schema(
        [
            ("task_id", TEXT),
            ("sub_goal", TEXT),
            ("position", INTEGER),
            ("critical", BOOLEAN),
            ("weight", DOUBLE),
            ("serves", TEXTS),
            ("success", TEXT),
            ("counted", BOOLEAN),
        ]
    ),
    # One row per rule of `serves`; `arguments` is an RE2 pattern or NULL for any.
    "task_serves": pa.schema(
        [
            ("task_id", TEXT),
            ("sub_goal", TEXT),
            ("position", INTEGER),
            ("tool_name", TEXT),
            ("arguments", TEXT),
        ]
    ),
    # One row per sub-goal in a plan graph; `graph` is NULL for that of the sub-goals themselves.
    # `any_of` holds paths, each a list of sub-goals.
    "task_graphs": pa.schema(
        [
            ("task_id", TEXT),
            ("graph", TEXT),
            ("graph_index", INTEGER),
            ("sub_goal", TEXT),
            ("deps", TEXTS),
            ("any_of", pa.list_(TEXTS)),
        ]
    ),
    # One row per key of the user's own. `value`: a text unchanged, anything else as canonical
    # JSON.
    "task_fields": pa.schema([("task_id", TEXT), ("field", TEXT), ("value", TEXT)]),
}
"""The columns of each relation."""


@relation(*SCHEMAS)
def _task_relations(run: Run) -> Mapping[str, pa.Table]:
    """Return the task relations, empty ones for an empty specification."""
    return {name: table(schema, _ROWS[name](run.context)) for name, schema in SCHEMAS.items()}


def _tools(specification: Specification) -> Iterator[RelationRow]:
    for name, tool in specification.tools.items():
        schema = None if tool.parameters is None else canonical(tool.parameters)
        known = (tool.kind, tool.effect, tool.cost, tool.alternatives)
        yield name, *known, schema, tool.error_pattern


def _tasks(specification: Specification) -> Iterator[RelationRow]:
    for task_id, task in specification.tasks.items():
        match = task.match
        yield (
            task_id,
            task.category,
            match and match.agent_name,
            match and match.user_input,
            task.expected is not None,
            str(task.expected_complete).lower(),
            task.sequence_matters,
            task.optimal_steps,
            len(task.expected or ()),
            task.count_steps,
            task.scope,
            _criterion(task.success),
            specification.task_hash(task_id),
        )


def _criterion(criterion: Criterion | None) -> str | None:
    return None if criterion is None else canonical(criterion.model_dump(exclude_none=True))


def _points(specification: Specification) -> Iterator[tuple[str, int, Expected]]:
    for task_id, task in specification.tasks.items():
        for position, point in enumerate(task.expected or ()):
            yield task_id, position, point


def _expected(specification: Specification) -> Iterator[RelationRow]:
    for task_id, position, point in _points(specification):
        arguments = None if point.arguments is None else canonical(point.arguments)
        named = (point.decision, point.tool, point.effect, point.accept)
        yield task_id, position, *named, arguments, point.turn


def _expected_arguments(specification: Specification) -> Iterator[RelationRow]:
    for task_id, position, point in _points(specification):
        for key, value in (point.arguments or {}).items():
            for alternative in expected_values(value):
                yield task_id, position, key, *argument_path(key), *alternative


def pattern_or_input(answer: Any) -> tuple[str | None, str | None]:
    """Return (pattern, NULL) or (NULL, name of a bound value); both NULL if none is given."""
    name = bound_name(answer)
    return (answer, None) if name is None else (None, name)


def _nodes(specification: Specification) -> Iterator[tuple[str, int, str, SubGoal]]:
    for task_id, task in specification.tasks.items():
        for position, (name, sub_goal) in enumerate(task.sub_goals.items()):
            yield task_id, position, name, sub_goal


def _sub_goals(specification: Specification) -> Iterator[RelationRow]:
    for task_id, position, name, node in _nodes(specification):
        serves = [rule.tool for rule in node.serves]
        counted = bool(node.serves or node.success)
        goal = (node.critical, node.weight, serves, _criterion(node.success))
        yield task_id, name, position, *goal, counted


def _serves(specification: Specification) -> Iterator[RelationRow]:
    for task_id, position, name, node in _nodes(specification):
        for rule in node.serves:
            yield task_id, name, position, rule.tool, rule.arguments


def _graphs(specification: Specification) -> Iterator[RelationRow]:
    for task_id, task in specification.tasks.items():
        for index, (graph, nodes) in enumerate(task.plan_graphs.items()):
            for name, node in nodes.items():
                yield task_id, graph, index, name, node.deps, node.any_of


def _fields(specification: Specification) -> Iterator[RelationRow]:
    for task_id, task in specification.tasks.items():
        for field, value in task.x.items():
            yield task_id, field, _field_text(value)


def _field_text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else canonical(value)


_ROWS: Final[Mapping[str, Callable[[Specification], Iterable[RelationRow]]]] = {
    "task_tools": _tools,
    "tasks": _tasks,
    "task_expected": _expected,
    "task_expected_arguments": _expected_arguments,
    "task_sub_goals": _sub_goals,
    "task_serves": _serves,
    "task_graphs": _graphs,
    "task_fields": _fields,
}
