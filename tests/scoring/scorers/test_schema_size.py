"""A schema whose references multiply is found before a validator follows them."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tracegrade_scoring.scorers.tool_selection.schema_size import applies_too_many


def doubling(levels: int, reference: Callable[[int], str], **keys: str) -> Any:
    """Return a schema of so many definitions that each refer to the next one twice."""
    named = {key: list(text) for key, text in keys.items()}
    definitions: dict[str, Any] = {
        f"d{level}": {key: f"d{level}" for key in named}
        | {"anyOf": [{"$ref": reference(level + 1)}] * 2}
        for level in range(levels)
    }
    definitions[f"d{levels}"] = {key: f"d{levels}" for key in named} | {"type": "object"}
    return json.loads(json.dumps({"$ref": reference(0), "$defs": definitions}))


@pytest.mark.parametrize(
    ("reference", "keys"),
    [
        (lambda level: f"#/$defs/d{level}", {}),
        (lambda level: f"#d{level}", {"$anchor": "d"}),
        (lambda level: f"d{level}", {"$id": "d"}),
    ],
    ids=["place", "anchor", "id"],
)
def test_references_that_multiply_are_too_many(
    reference: Callable[[int], str], keys: dict[str, str]
) -> None:
    """However they name what they refer to; a few levels of them are not."""
    assert applies_too_many(doubling(40, reference, **keys))
    assert not applies_too_many(doubling(8, reference, **keys))


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {},
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"$defs": {"n": {"properties": {side: {"$ref": "#/$defs/n"} for side in "lr"}}}},
        {"properties": {f"p{i}": {"type": "string"} for i in range(20_000)}},
        {"$defs": {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(5_000)}},
        {"$ref": "#/$defs/none", "allOf": 1, "not": [], "if": None, "dependentSchemas": []},
        {"$ref": 7, "enum": [{"$ref": "#/enum/0"}]},
    ],
    ids=lambda schema: str(schema)[:40],
)
def test_schema_that_ends_with_its_value_is_not_too_many(schema: Any) -> None:
    """Many properties, a long chain, recursion, and values that are not schemas."""
    assert not applies_too_many(schema)
