"""What a task file asks of a value: one it equals, a bound one, a pattern, or a number nearby.

    7  {a: 1}                  equal to it (docs/metrics.md, section 0.5)
    {input: NAME, as: number}  equal to a bound value; without `as` as text
    {matches: RE2}             a text in which the pattern is found anywhere
    {about: 10, within: 0.01}  a number between 9.99 and 10.01, bounds included
    {exactly: VALUE}           equal to VALUE, be it written like one of these

A mapping with a key `input`, `matches`, `about` or `exactly` is always a rule. Rules do not stand
inside other values: a JSON path leads there.
"""

import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple

from tracegrade_queries.build.canonical import canonical_json
from tracegrade_scoring.tasks import engine

KEYS: Final[Mapping[str, frozenset[str]]] = {
    "input": frozenset({"input", "as"}),
    "matches": frozenset({"matches"}),
    "about": frozenset({"about", "within"}),
    "exactly": frozenset({"exactly"}),
}
"""The key that makes a mapping a rule, and all that the rule may have."""

_NUMBER: Final = {"type": "number"}

SCHEMA: Final[dict[str, Any]] = {
    "anyOf": [
        {"not": {"type": "object", "anyOf": [{"required": [key]} for key in KEYS]}},
        *(
            {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": False,
            }
            for properties, required in (
                ({"input": {"type": "string"}, "as": {"enum": ["text", "number"]}}, ["input"]),
                ({"matches": {"type": "string", "minLength": 1}}, ["matches"]),
                ({"about": _NUMBER, "within": {**_NUMBER, "minimum": 0}}, ["about", "within"]),
                ({"exactly": {}}, ["exactly"]),
            )
        ),
    ]
}
"""JSON Schema of a value or a rule."""


class ExpectedValue(NamedTuple):
    """A value or a rule, in the columns that SQL compares with (`matches_expected`)."""

    value: str | None
    """Canonical JSON; of a pattern or a range the rule itself, to be shown. None if bound."""
    input: str | None = None
    input_type: str | None = None
    """text | number."""
    pattern: str | None = None
    low: float | None = None
    high: float | None = None


def rule_key(value: object) -> str | None:
    """Return which kind of rule is meant; None for a plain value."""
    return next((key for key in KEYS if isinstance(value, dict) and key in value), None)


def bound_name(value: object) -> str | None:
    """Return NAME of `{input: NAME}` (with or without `as: TYPE`), None for anything else."""
    if isinstance(value, dict) and rule_key(value) == "input" and set(value) <= KEYS["input"]:
        return str(value["input"])
    return None


def as_key(name: str) -> str:
    """Return how an argument is written whose name a task file would take for a path."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'$."{escaped}"' if is_path(name) else name


def literally(value: Any) -> Any:
    """Return how a value is written that is meant as it is."""
    return {"exactly": value} if rule_key(value) else value


def canonical(value: Any) -> str:
    """Return a value of a task file as canonical JSON."""
    return canonical_json(json.dumps(value)) or "null"


def expected_value(value: Any) -> ExpectedValue:
    """Return the columns of a value or of a rule without faults."""
    match rule_key(value):
        case "input":
            return ExpectedValue(None, str(value["input"]), value.get("as", "text"))
        case "matches":
            return ExpectedValue(canonical(value), pattern=value["matches"])
        case "about":
            # Bounds are those of the numbers as written: 1.1 is within 0.1 of 1.
            about, within = Decimal(str(value["about"])), Decimal(str(value["within"]))
            return ExpectedValue(
                canonical(value), low=float(about - within), high=float(about + within)
            )
        case "exactly":
            return ExpectedValue(canonical(value["exactly"]))
    return ExpectedValue(canonical(value))


def faults(value: Any) -> Iterator[tuple[str, str]]:
    """Yield (fact, way out) of what is wrong with a rule; nothing for a plain value."""
    key = rule_key(value)
    if key is None:
        return
    for other in sorted(set(value) - KEYS[key]):
        way_out = "remove it, or write {exactly: {...}} if the object itself is meant"
        yield f"unknown key '{other}' beside '{key}'", way_out
    if key == "input" and value.get("as", "text") not in ("text", "number"):
        yield f"as is {value['as']!r}", "it should be 'text' or 'number'"
    if key == "matches":
        yield from _pattern_faults(value["matches"])
    if key == "about":
        if not _is_number(value["about"]):
            yield f"about is {value['about']!r}", "it should be a number"
        if not _is_number(value.get("within")) or value["within"] < 0:
            yield f"within is {value.get('within')!r}", "it should be a number of at least 0"


def _pattern_faults(pattern: object) -> Iterator[tuple[str, str]]:
    if not isinstance(pattern, str) or not pattern:
        yield f"matches is {pattern!r}", "it should be an RE2 pattern"
    elif fault := engine.pattern_fault(pattern):
        way_out = "correct it (RE2 has no look-around or back-references)"
        yield f"matches is not an RE2 pattern: {fault}", way_out


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


class ArgumentPath(NamedTuple):
    """Where in the arguments of a call a value stands."""

    pointer: str
    """JSON pointer, or a JSON path."""
    name: str
    """The argument that it is, or that it is in."""


_FIRST: Final = re.compile(r'\$\.(?:"((?:[^"\\]|\\.)*)"|([^.\["]+))')


def is_path(key: str) -> bool:
    """Return whether a key of `arguments` is a JSON path; `$ref` is an argument of that name."""
    return key.startswith(("$.", "$["))


def argument_path(key: str) -> ArgumentPath:
    """Return where the value stands that `arguments` gives under a key."""
    if not is_path(key):
        return ArgumentPath("/" + key.replace("~", "~0").replace("/", "~1"), key)
    first = _FIRST.match(key)
    name = first and (first[2] or re.sub(r"\\(.)", r"\1", first[1]))
    return ArgumentPath(key, key if name is None else name)


def argument_path_faults(key: str) -> Iterator[tuple[str, str]]:
    """Yield (fact, way out) of a key of `arguments` that leads to no one value."""
    fault = engine.json_path_fault(key) if is_path(key) else None
    if fault is None and is_path(key) and not _FIRST.match(key):
        fault = "arguments have names, not numbers"
    if fault:
        fact = f"'{key}' is not a JSON path to one value: {fault}"
        yield fact, "write it like $.order.state or $.orders[0].state"
