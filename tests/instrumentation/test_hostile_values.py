"""Values of a program that raise what they should not, or never end, cost it nothing.

That none of their code is run unless the program asks for it is in `values/`.
"""

import json
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal

import pytest

import tracegrade
from tracegrade.content import json_of
from tracegrade.guard import came_by_signal
from tracegrade.settings import Content, Objects, Settings

from .conftest import Spans

PLAIN = Settings(content=Content.FULL)


@pytest.fixture(autouse=True)
def by_str(monkeypatch: pytest.MonkeyPatch) -> None:
    """Objects are asked for their `str()`, which is what a program can ask for."""
    monkeypatch.setenv("TRACEGRADE_OBJECTS", "str")


NAME = "<tests.instrumentation.test_hostile_values.Raises>"


class Raises:
    """Ends the program when it is looked at."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def __repr__(self) -> str:
        raise self._error


class Ends(Exception):
    """Ends the program when it is said what went wrong."""

    def __str__(self) -> str:
        raise SystemExit


ENDINGS = [SystemExit(3), KeyboardInterrupt(), GeneratorExit()]


@pytest.mark.parametrize("ending", ENDINGS, ids=lambda it: type(it).__name__)
def test_what_a_value_raises_does_not_leave_the_wrapper(
    spans: Spans, ending: BaseException
) -> None:
    """The call is written, without that value; so are plans and thoughts."""

    @tracegrade.tool
    def look(at: object) -> object:
        return at

    value = Raises(ending)
    assert look(value) is value
    tracegrade.thought(value)

    attributes = spans()[0].attributes or {}
    assert attributes["gen_ai.tool.call.arguments"] == f'{{"at":"{NAME}"}}'
    assert attributes["gen_ai.tool.call.result"] == f'"{NAME}"'
    assert tracegrade.failures() == {}


def test_error_that_cannot_say_what_it_is_stays_the_error(spans: Spans) -> None:
    """The program sees what its tool raised."""

    @tracegrade.tool
    def fails() -> None:
        raise Ends

    with pytest.raises(Ends):
        fails()
    assert str((spans()[0].attributes or {})["error.type"]).endswith("Ends")


class Signaled:
    """Gets a signal while it is looked at."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __repr__(self) -> str:
        signal.raise_signal(self._number)
        return "not interrupted"


def stop(*_: object) -> None:
    """Handle a signal as servers do."""
    raise SystemExit(0)


@pytest.mark.parametrize(
    ("number", "handler", "ending"),
    [
        (signal.SIGINT, signal.default_int_handler, KeyboardInterrupt),
        (signal.SIGTERM, stop, SystemExit),
    ],
)
def test_signals_reach_the_program(
    spans: Spans, number: int, handler: object, ending: type[BaseException]
) -> None:
    """Who presses Ctrl-C while a value is written down ends the program."""
    before = signal.signal(number, handler)  # type: ignore[arg-type]
    try:
        with pytest.raises(ending):
            tracegrade.tool(str)(Signaled(number))
    finally:
        signal.signal(number, before)
    assert not came_by_signal(ValueError())


@dataclass
class Row:
    """An object that JSON does not know."""

    cells: list[int] = field(default_factory=lambda: [1, 2])


MANY = 300_000
LARGE = {
    "numbers": dict.fromkeys(map(str, range(MANY)), 1),
    "odd keys": dict.fromkeys(range(MANY), 1),
    "texts": dict.fromkeys(map(str, range(MANY)), "x" * 1000),
    "objects": dict.fromkeys(map(str, range(MANY)), Row()),
    "decimals": [Decimal(1)] * MANY,
    "set": set(range(MANY)),
    "inside": Row([1] * MANY),
    "nested": [[[]]] * MANY,
}


@pytest.mark.parametrize("name", LARGE)
def test_text_of_a_large_value_says_that_it_is_cut(name: str) -> None:
    """It is JSON as far as it goes, `...` stands for the rest, and a mark names its key."""
    text, marks = json_of(LARGE[name], PLAIN)

    assert marks == ("tracegrade.truncated",)
    assert len(text) <= PLAIN.max_content_chars
    assert '..."' in text[-20:]
    json.loads(text)


def test_key_of_any_length_is_cut() -> None:
    """It costs no more than a text."""
    text, marks = json_of({"k" * 10**7: 1}, PLAIN)

    assert (len(text) <= PLAIN.max_content_chars, marks) == (True, ("tracegrade.truncated",))


def test_only_the_beginning_of_a_large_value_is_read() -> None:
    """So a call does not wait for all of it."""
    read = []

    class Noted:
        def __str__(self) -> str:
            read.append(1)
            return "noted"

    json_of([Noted() for _ in range(MANY)], Settings(content=Content.FULL, objects=Objects.STR))

    assert 0 < len(read) <= PLAIN.max_content_chars


def test_value_of_a_generator_that_was_cut_is_marked(spans: Spans) -> None:
    """The mark of one value is the mark of the call's result."""

    @tracegrade.tool
    def stream() -> Iterator[object]:
        yield LARGE["decimals"]

    list(stream())
    assert (spans()[0].attributes or {})["tracegrade.truncated"] == ("gen_ai.tool.call.result",)
