"""Expected values in task files: a value to equal, a bound one, a pattern, or a number nearby.

    7  {a: 1}                  equal to it (docs/metrics.md, section 0.5)
    {input: NAME, as: number}  equal to a bound value; without `as` as text
    {matches: RE2}             a text in which the pattern is found anywhere
    {about: 10, within: 0.01}  a number between 9.99 and 10.01, bounds included
    {exactly: VALUE}           equal to VALUE, be it written like one of these
    {any_of: [A, B]}           fits A or B; each may be any of these
    {optional: A}              absent, or fits A

A mapping with one of these keys is always a rule. Inside other values, only `any_of` and
`optional` are rules: `{unit: {any_of: [C, F]}}` means all objects that it can be. For other rules
inside a value, use a JSON path to their place.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import product
from math import prod
from typing import Any, Final, NamedTuple

from tracegrade_queries.build.canonical import canonical_json
from tracegrade_scoring.tasks import engine

KEYS: Final[Mapping[str, frozenset[str]]] = {
    "input": frozenset({"input", "as"}),
    "matches": frozenset({"matches"}),
    "about": frozenset({"about", "within"}),
    "exactly": frozenset({"exactly"}),
    "any_of": frozenset({"any_of"}),
    "optional": frozenset({"optional"}),
}
"""The key that makes a mapping a rule, and all that the rule may have."""

ANYWHERE: Final = frozenset({"any_of", "optional"})
"""Rules that may stand inside other values."""

MAX_ALTERNATIVES: Final = 1_000
"""Limit of the values of one rule; each is compared with the values of every call."""

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
                ({"any_of": {"type": "array", "minItems": 1}}, ["any_of"]),
                ({"optional": {}}, ["optional"]),
            )
        ),
    ]
}
"""JSON Schema of a value or a rule; of values inside rules the loader says more."""


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
    optional: bool = False
    """It may be absent."""
    rule: str | None = None
    """Canonical JSON of the rule that has it as an alternative; None if it is not in a rule."""


_ABSENT: Final = ExpectedValue(None)
"""Stands for no value."""


def rule_key(value: object, keys: Collection[str] = KEYS) -> str | None:
    """Return the kind of a rule, among the kinds allowed at its place; None for a value."""
    return next((key for key in keys if isinstance(value, dict) and key in value), None)


def bound_name(value: object) -> str | None:
    """Return NAME of `{input: NAME}` (with or without `as: TYPE`), None for anything else."""
    if isinstance(value, dict) and rule_key(value) == "input" and set(value) <= KEYS["input"]:
        return str(value["input"])
    return None


def bound_names(value: Any) -> Iterator[str]:
    """Yield the names of the bound values that a value is, or may be."""
    if (name := bound_name(value)) is not None:
        yield name
    for part in _choices(value):
        yield from bound_names(part)


def _choices(value: Any) -> list[Any]:
    """Return the alternative values of a rule; none for other values."""
    match rule_key(value):
        case "any_of" if isinstance(value["any_of"], list):
            return list(value["any_of"])
        case "optional":
            return [value["optional"]]
    return []


def as_key(name: str) -> str:
    """Return how an argument is written whose name a task file would take for a path."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'$."{escaped}"' if is_path(name) else name


def literally(value: Any) -> Any:
    """Return the written form of a value that is meant literally."""
    return {"exactly": value} if rule_key(value) or _holds_rule(value) else value


def _holds_rule(value: Any) -> bool:
    """Return whether a plain value is, or has inside, what would be taken for a rule."""
    return rule_key(value, ANYWHERE) is not None or any(map(_holds_rule, _parts(value)))


def _parts(value: Any) -> list[Any]:
    """Return the values inside an object or list."""
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def canonical(value: Any) -> str:
    """Return a value of a task file as canonical JSON."""
    return canonical_json(json.dumps(value)) or "null"


def expected_values(value: Any) -> list[ExpectedValue]:
    """Return the columns of a value or of a rule without faults, one for each alternative."""
    found = list(dict.fromkeys(_alternatives(value)))
    if rule_key(value, ANYWHERE) is None and (rule_key(value) or not _holds_rule(value)):
        return found
    rule, optional = canonical(value), _ABSENT in found
    return [each._replace(optional=optional, rule=rule) for each in found if each is not _ABSENT]


def _alternatives(value: Any) -> Iterator[ExpectedValue]:
    match rule_key(value):
        case "input":
            yield ExpectedValue(None, str(value["input"]), value.get("as", "text"))
        case "matches":
            yield ExpectedValue(canonical(value), pattern=value["matches"])
        case "about":
            # Bounds are those of the numbers as written: 1.1 is within 0.1 of 1.
            about, within = Decimal(str(value["about"])), Decimal(str(value["within"]))
            low, high = float(about - within), float(about + within)
            yield ExpectedValue(canonical(value), low=low, high=high)
        case "exactly":
            yield ExpectedValue(canonical(value["exactly"]))
        case "any_of" | "optional" as key:
            if key == "optional":
                yield _ABSENT
            for part in _choices(value):
                yield from _alternatives(part)
        case _:
            yield from (ExpectedValue(canonical(form)) for form in _forms(value))


def _forms(value: Any, keys: Collection[str] = ANYWHERE) -> Iterator[Any]:
    """Yield the plain values of a value with rules inside; `_ABSENT` for an absent one.

    Args:
        value: Any.
        keys: The kinds of rules that are allowed there.
    """
    key = rule_key(value, keys)
    if key == "exactly":
        yield value["exactly"]
    elif key is not None:
        if key == "optional":
            yield _ABSENT
        for part in _choices(value):
            yield from _forms(part, _in_rule(keys))
    elif isinstance(value, dict | list):
        for made in product(*map(list, map(_forms, _parts(value)))):
            yield _without_absent(value, made)
    else:
        yield value


def _without_absent(value: Any, parts: Sequence[Any]) -> Any:
    """Return an object or list with these parts in the places of its own."""
    if isinstance(value, list):
        return [part for part in parts if part is not _ABSENT]
    pairs = zip(value, parts, strict=True)
    return {name: part for name, part in pairs if part is not _ABSENT}


def _in_rule(keys: Collection[str]) -> Collection[str]:
    """Return the kinds of rules allowed inside a rule at a place that allows these kinds."""
    return keys if keys is KEYS else ANYWHERE | {"exactly"}


def faults(value: Any) -> Iterator[tuple[str, str]]:
    """Yield (fact, way out) of the faults in a rule; nothing for a plain value."""
    found = list(_faults(value, KEYS))
    yield from found
    if not found and (number := _number_of_forms(value, KEYS)) > MAX_ALTERNATIVES:
        fact = f"it has {number:,} alternative values, more than {MAX_ALTERNATIVES:,}"
        yield fact, "give JSON paths into it values of their own, like $.order.state"


def _number_of_forms(value: Any, keys: Collection[str]) -> int:
    """Return for how many values a rule stands, equal ones counted again."""
    key = rule_key(value, keys)
    if key is None:
        return prod(_number_of_forms(part, ANYWHERE) for part in _parts(value))
    if key in ANYWHERE:
        inside = (_number_of_forms(part, _in_rule(keys)) for part in _choices(value))
        return sum(inside) + (key == "optional")
    return 1


def _faults(value: Any, keys: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the faults of a value where these kinds of rules can stand."""
    key = rule_key(value, keys)
    if key is None:
        for part in _parts(value):
            yield from _faults(part, ANYWHERE)
        return
    for other in sorted(set(value) - KEYS[key]):
        way_out = "remove it, or write {exactly: {...}} if the object itself is meant"
        yield f"unknown key '{other}' next to '{key}'", way_out
    yield from _rule_faults(key, value)
    for part in _choices(value) if key in ANYWHERE else ():
        inner = rule_key(part)
        if inner is None or inner in _in_rule(keys):
            yield from _faults(part, _in_rule(keys))
        else:
            fact = f"{inner} stands inside another value"
            yield fact, "give a JSON path there a value of its own, like $.order.state"


def _rule_faults(key: str, value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the faults of one rule, without those of the values in it."""
    if key == "input" and value.get("as", "text") not in ("text", "number"):
        yield f"as is {value['as']!r}", "it should be 'text' or 'number'"
    if key == "matches":
        yield from _pattern_faults(value["matches"])
    if key == "about":
        if not _is_number(value["about"]):
            yield f"about is {value['about']!r}", "it should be a number"
        if not _is_number(value.get("within")) or value["within"] < 0:
            yield f"within is {value.get('within')!r}", "it should be a number of at least 0"
    if key == "any_of" and not (isinstance(value["any_of"], list) and value["any_of"]):
        yield f"any_of is {value['any_of']!r}", "it should be a list of at least one value"


def _pattern_faults(pattern: object) -> Iterator[tuple[str, str]]:
    if not isinstance(pattern, str) or not pattern:
        yield f"matches is {pattern!r}", "it should be an RE2 pattern"
    elif fault := engine.pattern_fault(pattern):
        way_out = "correct it (RE2 has no look-around or back-references)"
        yield f"matches is not an RE2 pattern: {fault}", way_out


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


class ArgumentPath(NamedTuple):
    """The place of a value in the arguments of a call."""

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
    """Yield (fact, way out) of a key of `arguments` that does not lead to exactly one value."""
    fault = engine.json_path_fault(key) if is_path(key) else None
    if fault is None and is_path(key) and not _FIRST.match(key):
        fault = "arguments have names, not numbers"
    if fault:
        fact = f"'{key}' is not a JSON path to one value: {fault}"
        yield fact, "write it like $.order.state or $.orders[0].state"
