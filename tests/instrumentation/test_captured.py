"""What a span has of a result is a text; what the tool gave, its signature says."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

import pytest

from tracegrade.tape.captured import ResultNotText, result_of


class Typed(TypedDict):
    """A dict at run time."""

    a: int


@dataclass
class Order:
    """Nothing that JSON gives back."""

    number: int


def giving(hint: object) -> Callable[[], Any]:
    """Return a tool that says that it returns something."""

    def tool() -> Any:
        """Return nothing."""

    tool.__annotations__ = {"return": hint}
    return tool


@pytest.mark.parametrize(
    ("hint", "text", "value"),
    [
        (str, '{"a": 1}', '{"a": 1}'),
        (str, "5", "5"),
        (str | None, "null", None),
        (str | None, "5", "5"),
        (str | dict[str, Any], '{"a": 1}', {"a": 1}),
        (Literal["1", "2"], "1", "1"),
        (int, "5", 5),
        (dict[str, int] | None, '{"a": 1}', {"a": 1}),
        (Mapping[str, Any], '{"a": 1}', {"a": 1}),
        (list[Typed], '[{"a": 1}]', [{"a": 1}]),
        (Typed, '{"a": 1}', {"a": 1}),
        (None, "null", None),
        (Any, "[1]", [1]),
        (Any, "Paid.", "Paid."),
        ("NoSuchName", "[1]", [1]),
    ],
)
def test_a_result_is_what_the_signature_says(hint: object, text: str, value: object) -> None:
    """A text where it says so, else the JSON that the text is."""
    assert result_of(text, giving(hint)) == value


def test_a_tool_without_a_signature_gave_the_json() -> None:
    """If it is some."""
    assert [result_of(text, len) for text in ("5", "[", "a")] == [5, "[", "a"]


@pytest.mark.parametrize("hint", [Order, tuple[int, int], list[int] | Order, set])
def test_a_result_that_is_more_than_json_is_not_made_up(hint: object) -> None:
    """Its tool cannot be answered by what a span has."""
    with pytest.raises(ResultNotText, match="and the tape has its text alone; record it"):
        result_of(json.dumps([1, 2]), giving(hint))
