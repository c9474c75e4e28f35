"""Finds the task of each attempt and binds the values that the task's pattern names.

Its own module because a join would compile a pattern again for each row. Here each is compiled
once: RE2 looks for all of them in a text at a time, and the engine gets that of each task as a
constant.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import re2
from duckdb import ColumnExpression, ConstantExpression, Expression
from duckdb import FunctionExpression as Function

from tracegrade_queries.graph import Run, relation
from tracegrade_scoring.attempts.patterns import by_value
from tracegrade_scoring.tasks import Specification

Patterns = Mapping[str, str]
"""By task, the pattern that the user's first input must match."""


def _patterns(specification: Specification) -> Patterns:
    matches = {name: task.match for name, task in specification.tasks.items() if task.match}
    return {name: match.user_input for name, match in matches.items() if match.user_input}


@relation("fitting_patterns", reads=("attempts_without_task",))
def _fitting_patterns(run: Run) -> pa.Table:
    """Return (attempt_id, task_id): each pattern found in the input of an attempt without task."""
    patterns = _patterns(run.context)
    sql = "SELECT attempt_id, user_input FROM attempts_without_task WHERE user_input IS NOT NULL"
    attempts, inputs = run.con.sql(sql).to_arrow_table().columns
    finders = list(_finders(list(patterns.values())))
    fitting = (
        [first + position for first, finder in finders for position in finder.Match(text) or ()]
        for text in inputs.to_pylist()
    )
    found = pa.array(fitting, pa.list_(pa.int32()))
    return pa.table(
        {
            "attempt_id": attempts.take(pc.list_parent_indices(found)),
            "task_id": pa.array(list(patterns), pa.string()).take(found.flatten()),
        }
    )


def _finders(patterns: Sequence[str], first: int = 0) -> Iterator[tuple[int, re2.Filter]]:
    """Yield filters that search for all patterns, as few as RE2 has memory for.

    Each comes with the position of its first pattern. The longest pattern that a task may have
    fits into a filter of its own.
    """
    finder = re2.Filter()
    for pattern in patterns:
        finder.Add(pattern)
    try:
        finder.Compile()
    except re2.error:
        if len(patterns) == 1:
            raise
        half = len(patterns) // 2
        yield from _finders(patterns[:half], first)
        yield from _finders(patterns[half:], first + half)
    else:
        yield first, finder


@relation("attempt_bindings", reads=("attempt_inputs",))
def _bindings(run: Run) -> pa.Table:
    """Return (attempt_id, name, value): the match of each named group, if it is not empty.

    It covers attempts whose task is known, by span or by match.
    """
    attempt, bound, value = map(ColumnExpression, ("attempt_id", "bound", "value"))
    cases = {task_id: _groups(pattern) for task_id, pattern in _patterns(run.context).items()}
    groups = by_value("known_task", cases, _list(_list(_NOTHING, _NOTHING)))
    inputs = run.con.table("attempt_inputs")
    pairs = inputs.select(attempt, Function("unnest", groups).alias("bound"))
    name, text = (Function("list_extract", bound, ConstantExpression(i)) for i in (1, 2))
    named = pairs.select(attempt, name.alias("name"), text.alias("value"))
    return named.filter(value != _NOTHING).to_arrow_table()


_NOTHING: Final = ConstantExpression("")


def _groups(pattern: str) -> Expression:
    """Return a list of [name, text] of each named group of a pattern, searched in `user_input`."""
    searched, regex = ColumnExpression("user_input"), ConstantExpression(pattern)
    pairs = []
    for name, number in re2.compile(pattern).groupindex.items():
        text = Function("regexp_extract", searched, regex, ConstantExpression(number))
        pairs.append(_list(ConstantExpression(name), text))
    return _list(*pairs)


def _list(*items: Expression) -> Expression:
    return Function("list_value", *items)
