"""A success criterion as conditions that SQL can look for one by one.

    {tool: issue_refund, state: {$.state: refunded}}  ->  a call of the tool, and a state

Kinds of conditions, all of which must hold at once:

    call    a call of the tool was made that succeeded (`status: error`: that failed)
    result  such a call returned the given values
    state   the last successful result that has the path holds the given value there
    answer  the final answer matches, or holds a bound value
    sql     a boolean over the attempt's steps is true; known at the end only
    judge   a verdict says so; known at the end only

Only a state (and an expression) can cease to hold, so only these let a sub-goal regress.
Source: metrics.md, section 4, `completed`; the keys of a criterion are those of the task file.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from tracegrade_scoring.tasks.model import bound_name
from tracegrade_scoring.tasks.relations import canonical, pattern_or_input

Criterion = Mapping[str, Any]

AT_END: Final = frozenset({"sql", "judge"})
"""Kinds of which only the end is known."""


class Condition(NamedTuple):
    """One part of a criterion."""

    kind: str
    tool_name: str | None = None
    """Calls it is about; None: any."""
    failed: bool = False
    """Whether it is about calls that failed."""
    pattern: str | None = None
    input: str | None = None
    """Name of a bound value that the answer holds."""
    expression: str | None = None
    asked: Mapping[str, Any] | None = None
    """JSON path to value."""

    @property
    def columns(self) -> tuple[object, ...]:
        """All but the values asked for."""
        return self[:-1]


def conditions(criterion: Criterion) -> tuple[Condition, ...]:
    """Return the conditions of a criterion, in the order of the kinds above."""
    return tuple(_conditions(criterion))


def serves_by_answer(criterion: Criterion | None) -> bool:
    """Return whether giving an answer is what serves a sub-goal that has no rule of its own."""
    return criterion is not None and "answer" in criterion and "tool" not in criterion


def values(condition: Condition) -> Iterator[tuple[str, str | None, str | None, str | None]]:
    """Yield (path, value, input, input_type) of each value that is asked for."""
    for path, value in (condition.asked or {}).items():
        name = bound_name(value)
        if name is None:
            yield path, canonical(value), None, None
        else:
            yield path, None, name, value.get("as", "text")


def _conditions(criterion: Criterion) -> Iterator[Condition]:
    tool, failed = criterion.get("tool"), criterion.get("status") == "error"
    if "result" in criterion:
        yield Condition("result", tool, failed, asked=criterion["result"])
    elif tool is not None:
        yield Condition("call", tool, failed)
    for path, value in criterion.get("state", {}).items():
        yield Condition("state", asked={path: value})
    if "answer" in criterion:
        pattern, name = pattern_or_input(criterion["answer"])
        yield Condition("answer", pattern=pattern, input=name)
    if "sql" in criterion:
        yield Condition("sql", expression=criterion["sql"])
    if "judge" in criterion:
        yield Condition("judge")
