"""Offered tools as definitions: a schema that says what the signature says, and no more."""

from collections.abc import Sequence
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from inline_snapshot import snapshot

import tracegrade
from tracegrade.definitions import definition_of, schema_of


class Unit(Enum):
    """A closed set of values."""

    KM = "km"
    MILE = "mile"


@tracegrade.tool(name="distance")
def measure(start: str, *stops: str, unit: Unit = Unit.KM, **more: int) -> float:
    """Return the length of a way."""
    return float(len(start) + len(stops) + len(more) + len(unit.value))


def test_definition_is_derived_from_the_signature() -> None:
    """Name as wrapped, description from the docstring, required where there is no default."""
    assert definition_of(measure) == snapshot(
        {
            "type": "function",
            "name": "distance",
            "description": "Return the length of a way.",
            "parameters": {
                "type": "object",
                "properties": {"start": {"type": "string"}, "unit": {"enum": ["km", "mile"]}},
                "required": ["start"],
            },
        }
    )


def test_definition_without_a_signature_allows_anything() -> None:
    """A C function's arguments are not known; a validator must not refuse them."""
    assert definition_of(max)["parameters"] == {"type": "object"}
    assert "additionalProperties" not in definition_of(len)["parameters"]


def test_ready_definition_is_taken_as_it_is() -> None:
    """A framework may know better."""
    assert definition_of({"type": "function", "name": "x"}) == {"type": "function", "name": "x"}


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, {"type": "string"}),
        (bool, {"type": "boolean"}),
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (Sequence[str], {"type": "array", "items": {"type": "string"}}),
        (tuple[int, str], {"type": "array"}),
        (dict[str, int], {"type": "object"}),
        (Literal["a", 1], {"enum": ["a", 1]}),
        (Annotated[int, "units"], {"type": "integer"}),
        (Unit, {"enum": ["km", "mile"]}),
        (Any, {}),
        (object, {}),
        (bytes, {}),
        ("Unknown", {}),
    ],
)
def test_schema_of_a_type(hint: object, schema: dict[str, Any]) -> None:
    """What JSON has no word for is left open."""
    assert schema_of(hint) == schema
