"""Limits how many schemas a JSON Schema applies to one value, with references followed.

Its own module because a validator compiles a reference once but follows it each time. Forty
definitions that each refer to the next one twice are three kilobytes and a trillion checks. Checks
of items and properties depend on the value: `schema_steps` counts them.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote

MAX_APPLIED: Final = 10_000
"""A validator looks through this number in a few milliseconds."""

_NAMES: Final = ("$anchor", "$dynamicAnchor", "$id", "id")
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_APPLIED: Final = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else")
_APPLIED_BY_KEY: Final = ("dependentSchemas", "dependencies")
"""Keys of schemas for the same value: one or a list of them, then objects of them."""


def applies_too_many(schema: Any) -> bool:
    """Return whether any part of a schema applies more than `MAX_APPLIED` to one value.

    A part that refers to itself without an item or a property between counts once.
    """
    parts = list(_all_within(schema))
    named = named_parts(schema)
    counts: dict[int, int] = {}
    left = [(part, False) for part in parts]
    while left:
        part, is_counted = left.pop()
        if is_counted:
            within = applied_parts(part, schema, named)
            counts[id(part)] = 1 + sum(counts.get(id(each), 1) for each in within)
        elif id(part) not in counts:
            counts[id(part)] = 1  # until all that is applied with it is counted
            left.append((part, True))
            left += [(each, False) for each in applied_parts(part, schema, named)]
    return max(counts.values(), default=0) > MAX_APPLIED


def _all_within(schema: Any) -> Iterator[dict[str, Any] | list[Any]]:
    left = [schema]
    while left:
        part = left.pop()
        if isinstance(part, dict | list):
            yield part
            left += part.values() if isinstance(part, dict) else part


def named_parts(schema: Any) -> dict[str, Any]:
    """Return the parts of a schema that can be referred to by name."""
    return {name: part for part in _all_within(schema) for name in _names(part)}


def _names(part: Any) -> Iterator[str]:
    """Yield the names, other than its place, that can refer to a part."""
    for key in _NAMES if isinstance(part, dict) else ():
        if isinstance(name := part.get(key), str):
            yield name.rstrip("#").rpartition("/")[2]


def applied_parts(part: Any, schema: Any, named: Mapping[str, Any]) -> list[Any]:
    """Return the schemas that a schema applies to the same value."""
    if not isinstance(part, dict):
        return []
    found = [_target(part[key], schema, named) for key in _REFERENCES if key in part]
    for key in _APPLIED:
        within = part.get(key)
        found += within if isinstance(within, list) else [within]
    for key in _APPLIED_BY_KEY:
        within = part.get(key)
        found += within.values() if isinstance(within, dict) else []
    return [each for each in found if isinstance(each, dict)]


def _target(reference: Any, schema: Any, named: Mapping[str, Any]) -> Any:
    """Return a part by its reference; None where there is no such part."""
    document, _, fragment = str(reference).partition("#")
    name = document.rpartition("/")[2]
    found = named.get(name, schema) if name else schema
    if not fragment.startswith("/"):
        return named.get(fragment) if fragment else found
    for key in unquote(fragment[1:]).split("/"):
        step = key.replace("~1", "/").replace("~0", "~")
        if isinstance(found, list) and step.isascii() and step.isdigit():
            found = found[int(step)] if int(step) < len(found) else None
        else:
            found = found.get(step) if isinstance(found, dict) else None
    return found
