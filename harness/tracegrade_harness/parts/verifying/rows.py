"""Compares a query's result with a suite's expectation: one value, or rows."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from tracegrade_harness.errors import VerifierFailed
from tracegrade_harness.parts.verifying import value
from tracegrade_harness.parts.verifying.result import Finding, listed
from tracegrade_harness.suite.values import rows

JsonRow: TypeAlias = Sequence[str | None]
"""Values as canonical JSON; None for no value."""


def rows_read(equals: Any) -> int:
    """Return how many rows decide whether a query fits: one more than are expected."""
    expected = rows(equals)
    return (1 if expected is None else len(expected)) + 1


def compared(found: Sequence[JsonRow], equals: Any) -> Finding:
    """Return whether rows are as a suite expects.

    Args:
        found: The first rows, `rows_read(equals)` at most.
        equals: The expectation: a value or rule, or a list of rows of them.

    Raises:
        VerifierFailed: One value is expected, and there are more.
    """
    expected = rows(equals)
    return _one(found, equals) if expected is None else _several(found, expected)


def _one(found: Sequence[JsonRow], expected: Any) -> Finding:
    if len(found) > 1 or (found and len(found[0]) != 1):
        msg = "the query gives more than one value; expect a list of rows, or ask for one value"
        raise VerifierFailed(msg)
    json_text = found[0][0] if found else None
    if value.fits(json_text, expected):
        return Finding(True, "no row" if json_text is None else f"is {value.short(json_text)}")
    return Finding(False, f"the value {value.difference(json_text, expected)}")


def _several(found: Sequence[JsonRow], expected: list[list[Any]]) -> Finding:
    differing = list(_differences(found, expected))
    return Finding(not differing, listed(differing) if differing else f"{len(found)} rows fit")


def _differences(found: Sequence[JsonRow], expected: list[list[Any]]) -> Iterator[str]:
    if len(found) != len(expected):
        number = f"{len(found)}" if len(found) < len(expected) else "more"
        yield f"{number} rows, expected {len(expected)}"
    for i, (row, rules) in enumerate(zip(found, expected, strict=False), 1):
        if len(row) != len(rules):
            yield f"row {i} has {len(row)} values, expected {len(rules)}"
            continue
        for j, (each, rule) in enumerate(zip(row, rules, strict=True), 1):
            if not value.fits(each, rule):
                yield f"row {i}, value {j} {value.difference(each, rule)}"
