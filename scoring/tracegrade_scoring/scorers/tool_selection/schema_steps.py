"""Counts, without validating, the steps that a check of a value against a JSON Schema takes.

A schema that refers to itself twice for a property doubles the work with each level of the value.
A chain of definitions, or an enumeration for a long list, multiplies it as well. The count
remembers each pair of a part of the schema and a part of the value, so it takes time in proportion
to these pairs. It is the same on every machine, unlike a clock.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tracegrade_scoring.scorers.tool_selection.schema_size import applied_parts, named_parts

MAX_STEPS: Final = 1_000_000
"""A validator takes this number of steps in a second or less."""

_FOR_PROPERTIES: Final = ("additionalProperties", "unevaluatedProperties")
_FOR_ITEMS: Final = ("items", "additionalItems", "unevaluatedItems", "contains")
_REST: Final = ("unevaluatedProperties", "unevaluatedItems")
"""For these keywords, the value is searched once more for each property or item."""

_Pair = tuple[Any, Any]


def count_steps(schema: Any, value: Any) -> int:
    """Return how many steps a check takes at most, or more than `MAX_STEPS` if it is more.

    A step is one part of the schema that is applied to one part of the value, or one value of an
    enumeration. What refers to itself for the same value counts once.
    """
    named = named_parts(schema)
    counts: dict[tuple[int, int], int] = {}
    left: list[tuple[_Pair, bool]] = [((schema, value), False)]
    total = 1
    while left and total <= MAX_STEPS and len(counts) <= MAX_STEPS:
        pair, is_counted = left.pop()
        key = (id(pair[0]), id(pair[1]))
        if is_counted or key not in counts:
            within = list(_within(*pair, schema, named))
            if is_counted:
                total = _own(*pair) + sum(counts.get((id(p), id(v)), 1) for p, v in within)
                counts[key] = total = total * _times(*pair)
            else:
                counts[key] = 1  # until all that is applied with it is counted
                left.append((pair, True))
                left += [(each, False) for each in within]
    return max(total, len(counts))


def _own(part: Any, value: Any) -> int:
    """Return the steps of a part of its own: more than one with an enumeration."""
    listed = part.get("enum") if isinstance(part, dict) else None
    return 1 + (len(listed) if isinstance(listed, list) else 0)


def _times(part: Any, value: Any) -> int:
    is_again = isinstance(part, dict) and any(key in part for key in _REST)
    return 1 + len(value) if is_again and isinstance(value, dict | list) else 1


def _within(part: Any, value: Any, schema: Any, named: Mapping[str, Any]) -> Iterator[_Pair]:
    """Yield what a part of a schema applies to a value and to what is in it."""
    if not isinstance(part, dict):
        return
    yield from ((each, value) for each in applied_parts(part, schema, named))
    found: Iterator[_Pair] = iter(())
    if isinstance(value, dict):
        found = _for_properties(part, value)
    elif isinstance(value, list):
        found = _for_items(part, value)
    yield from (pair for pair in found if isinstance(pair[0], dict))


def _for_properties(part: dict[str, Any], value: dict[str, Any]) -> Iterator[_Pair]:
    listed = part.get("properties")
    known = listed if isinstance(listed, dict) else {}
    patterns = part.get("patternProperties")
    every = list(patterns.values()) if isinstance(patterns, dict) else []
    rest = [part[key] for key in _FOR_PROPERTIES if key in part]
    for name, each in value.items():
        yield from ((applied, each) for applied in every)
        yield from ((applied, each) for applied in ([known[name]] if name in known else rest))
        if "propertyNames" in part:
            yield part["propertyNames"], name


def _for_items(part: dict[str, Any], value: list[Any]) -> Iterator[_Pair]:
    """Yield for each item what is for its place, or for all."""
    first = part.get("prefixItems", part.get("items"))
    placed = first if isinstance(first, list) else []
    rest = [part[key] for key in _FOR_ITEMS if key in part]
    for i, each in enumerate(value):
        yield from ((applied, each) for applied in placed[i : i + 1])
        yield from ((applied, each) for applied in rest)
