"""A success criterion as conditions that SQL can look for one by one.

    {tool: issue_refund, state: {$.state: refunded}}  ->  a call of the tool, and a state

Kinds of conditions, which must all hold at once:

    call    a call of the tool was made that succeeded (`status: error`: that failed)
    values  such a call had the given arguments and returned the given values
    state   the last successful result that has the path holds the given value there
    answer  the final answer matches, or holds a bound value
    sql     a boolean over the attempt's steps is true; known at the end only
    judge   a verdict says yes; known at the end only
    any_of  all parts of one of its alternatives hold; the parts are conditions of their own

Only a state (and an expression) can cease to hold, so only these let a sub-goal regress. Source:
docs/metrics.md, section 4.1, `completed`; the keys of a criterion are those of the task file.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from tracegrade_scoring.tasks.expected_value import (
    ExpectedValue,
    argument_path,
    expected_values,
)
from tracegrade_scoring.tasks.relations import pattern_or_input

Criterion = Mapping[str, Any]

AT_END: Final = frozenset({"sql", "judge"})
"""Kinds that are known only at the end."""

NOTHING: Final[Mapping[str, Any]] = {}


class CriterionCondition(NamedTuple):
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
    any_of: int | None = None
    """The condition that it is a part of; None: it is a condition of its own."""
    alternative: int | None = None
    """In which alternative of that, from 0."""
    arguments: Mapping[str, Any] = NOTHING
    """Argument, or JSON path into one, to value or rule."""
    returned: Mapping[str, Any] = NOTHING
    """JSON path to value or rule."""

    @property
    def columns(self) -> tuple[object, ...]:
        """Every part except the expected values."""
        return self[:-2]


def conditions(criterion: Criterion) -> tuple[CriterionCondition, ...]:
    """Return the conditions of a criterion, in the order of the kinds above, then their parts."""
    found = list(_conditions(criterion))
    if "any_of" in criterion:
        number = len(found)
        found.append(CriterionCondition("any_of"))
        for i, parts in enumerate(_alternatives(criterion["any_of"])):
            found += (part._replace(any_of=number, alternative=i) for part in parts)
    return tuple(found)


def _alternatives(criteria: Iterable[Criterion]) -> Iterator[tuple[CriterionCondition, ...]]:
    """Yield what must hold together in each alternative; those of an alternative are its own."""
    for criterion in criteria:
        parts = tuple(_conditions(criterion))
        if "any_of" in criterion:
            yield from ((*parts, *inner) for inner in _alternatives(criterion["any_of"]))
        else:
            yield parts


def serves_by_answer(criterion: Criterion | None) -> bool:
    """Return whether giving an answer is what serves a sub-goal that has no rule of its own."""
    if criterion is None or "tool" in criterion:
        return False
    return "answer" in criterion or any(map(serves_by_answer, criterion.get("any_of", ())))


def values(condition: CriterionCondition) -> Iterator[tuple[str, str, ExpectedValue]]:
    """Yield (part, path, expected) for each value that a call's arguments or result may have.

    Values of one part and path are alternatives.
    """
    for key, value in condition.arguments.items():
        for expected in expected_values(value):
            yield "arguments", argument_path(key).pointer, expected
    for path, value in condition.returned.items():
        for expected in expected_values(value):
            yield "result", path, expected


def _conditions(criterion: Criterion) -> Iterator[CriterionCondition]:
    tool, failed = criterion.get("tool"), criterion.get("status") == "error"
    arguments, returned = criterion.get("arguments", NOTHING), criterion.get("result", NOTHING)
    if arguments or returned:
        yield CriterionCondition("values", tool, failed, arguments=arguments, returned=returned)
    elif tool is not None:
        yield CriterionCondition("call", tool, failed)
    for path, value in criterion.get("state", {}).items():
        yield CriterionCondition("state", returned={path: value})
    if "answer" in criterion:
        pattern, name = pattern_or_input(criterion["answer"])
        yield CriterionCondition("answer", pattern=pattern, input=name)
    if "sql" in criterion:
        yield CriterionCondition("sql", expression=criterion["sql"])
    if "judge" in criterion:
        yield CriterionCondition("judge")
