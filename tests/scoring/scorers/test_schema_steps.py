"""Steps of a check are counted before they are taken, however the work multiplies."""

import json
from typing import Any

import pytest
from tests.scoring.build import call, scores
from tests.slow import slow_after

from tracegrade_scoring.scorers.tool_selection.schema_steps import MAX_STEPS, count_steps

from .selection import picks, run

ITSELF = {"$ref": "#"}
TREE = {"type": "object", "properties": {"left": ITSELF, "right": ITSELF, "name": {}}}


def nested(levels: int, leaf: Any = None) -> Any:
    """Return a value that holds itself in its property `a`."""
    value = {} if leaf is None else leaf
    for _ in range(levels):
        value = {"a": value}
    return value


def chain(levels: int) -> Any:
    """Return a schema of definitions that each have the next one twice for a property."""
    twice = {f"d{i}": {"anyOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(levels)}
    definitions = {name: {"properties": {"a": each}} for name, each in twice.items()}
    return {"$ref": "#/$defs/d0", "$defs": definitions | {f"d{levels}": {"type": "object"}}}


MULTIPLIED = {
    "itself in anyOf": ({"type": "object", "properties": {"a": {"anyOf": [ITSELF] * 2}}}, 3),
    "itself in oneOf": ({"properties": {"a": {"oneOf": [ITSELF, ITSELF]}}}, None),
    "property and pattern": ({"properties": {"a": ITSELF}, "patternProperties": {"": ITSELF}}, 3),
    "draft 7": ({"properties": {"a": {"dependencies": {"a": ITSELF, "b": ITSELF}}}}, None),
    "dynamic": (
        {"$dynamicAnchor": "n", "properties": {"a": {"anyOf": [{"$dynamicRef": "#n"}] * 2}}},
        3,
    ),
    "chain": (chain(60), 3),
}
"""Schemas, and the innermost value that they find."""


@pytest.mark.parametrize("name", slow_after(2, list(MULTIPLIED)))
def test_call_whose_check_would_multiply_is_not_checked_and_said(name: str) -> None:
    """The score says why; a few levels of the same are checked."""
    schema, leaf = MULTIPLIED[name]
    offered = json.dumps([{"name": "read", "parameters": schema}])

    def validity(levels: int) -> Any:
        calls = picks("read", arguments=json.dumps(nested(levels, leaf)))
        return scores(run("{}", calls, offered_tools=offered))["parameter_validity"]

    deep = validity(60)
    assert (deep.status, deep.reason) == ("not_applicable", "schema_too_costly")
    assert validity(4).status == "scored"


def test_calls_that_were_not_checked_are_counted_beside_those_that_were() -> None:
    """In the label; the score is of the others."""
    schema = MULTIPLIED["itself in anyOf"][0]
    offered = json.dumps([{"name": "read", "parameters": schema}])
    deep, flat = (json.dumps(nested(levels)) for levels in (60, 1))
    calls = [call("t1", i, "read", arguments=text) for i, text in enumerate((deep, flat))]
    validity = scores(run("{}", calls, offered_tools=offered))["parameter_validity"]

    assert (validity.value, validity.label) == (1.0, "unchecked: 1")


def test_long_enumeration_beside_a_long_list_is_too_many_steps() -> None:
    """Each item is compared with each value."""
    values = [{"x": i} for i in range(2_000)]

    assert count_steps({"items": {"enum": values}}, [values[-1]] * 2_000) > MAX_STEPS
    assert count_steps({"items": {"enum": values[:20]}}, [values[3]] * 2_000) < MAX_STEPS


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (TREE, {"left": {"name": "l"}, "right": {"left": {}, "right": {"name": "r"}}}),
        ({"items": ITSELF}, json.loads("[" * 150 + "]" * 150)),
        ({"properties": {"a": ITSELF}, "additionalProperties": ITSELF}, nested(190)),
        ({"items": {"$ref": "#/$defs/row"}, "$defs": {"row": {"type": "object"}}}, [{}] * 20_000),
        ({"$ref": "#"}, {}),
        (True, [1]),
    ],
    ids=["tree", "lists", "either", "rows", "itself", "true"],
)
def test_check_in_proportion_to_the_value_is_taken(schema: Any, value: Any) -> None:
    """Recursion alone multiplies nothing."""
    assert count_steps(schema, value) < MAX_STEPS / 10
