"""What objects with named fields, arrays, frames and messages say, and exceptions."""

import json
import traceback
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import IntEnum, StrEnum
from fractions import Fraction
from ipaddress import ip_address
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

import attr
import numpy as np
import polars as pl
import pyarrow as pa
import pydantic
import pydantic.v1
import pytest
import yaml
from google.protobuf.struct_pb2 import Struct
from inline_snapshot import snapshot

from tracegrade.content import error_texts, json_of
from tracegrade.settings import Content, Settings

PLAIN = Settings(content=Content.FULL)
SECRET = pydantic.SecretStr("t")


def read(value: object) -> Any:
    """Return a value as its JSON says it."""
    return json.loads(json_of(value, PLAIN).text)


class State(StrEnum):
    """Texts."""

    OPEN = "open"


class Level(IntEnum):
    """Numbers."""

    HIGH = 3


class Point(NamedTuple):
    """A tuple."""

    x: int
    y: int


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (State.OPEN, "open"),
        (Level.HIGH, 3),
        (Point(1, 2), [1, 2]),
        (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        (Counter("aab"), {"a": 2, "b": 1}),
        (deque([1, 2]), [1, 2]),
        (frozenset({3}), [3]),
        (range(3), "range(0, 3)"),
        (1 + 2j, "(1+2j)"),
        (Fraction(1, 4), 0.25),
        (bytearray(3), "<3 bytes>"),
        (memoryview(b"abc"), "<3 bytes>"),
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00+00:00"),
        (datetime(2026, 7, 2, tzinfo=ZoneInfo("Europe/Berlin")), "2026-07-02T00:00:00+02:00"),
        (time(1, 2, tzinfo=UTC), "01:02:00+00:00"),
        (timedelta(hours=1), "1:00:00"),
        (UUID(int=5), "00000000-0000-0000-0000-000000000005"),
        (ip_address("10.0.0.1"), "10.0.0.1"),
        (MappingProxyType({"a": date(2026, 1, 2)}), {"a": "2026-01-02"}),
        (SimpleNamespace(a=1), {"a": 1}),
        ({"a": 1}.keys(), ["a"]),
        ({"a": 1}.items(), [["a", 1]]),
        ({None: 1, 2.5: 2, date(2026, 1, 2): 3}, {"null": 1, "2.5": 2, "2026-01-02": 3}),
        (ValueError("no"), "no"),
        ([float("inf")], ["inf"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_plain_types(value: object, said: object) -> None:
    """Unchanged, or as their usual text."""
    assert read(value) == said


@dataclass
class Order:
    """With a default that stands on the class, and a field that was never set."""

    id: str
    total: Decimal = field(default=Decimal("1.50"))
    kind: str = field(init=False, default="order")
    late: int = field(init=False)


@attr.define
class Customer:
    """With slots."""

    id: str
    orders: list[Order] = attr.ib(factory=list)


class Address(pydantic.BaseModel):
    """With what has no place in a text."""

    model_config = pydantic.ConfigDict(extra="allow")
    street: str
    url: pydantic.HttpUrl
    token: pydantic.SecretStr
    hidden: int = pydantic.Field(1, exclude=True)


class Old(pydantic.v1.BaseModel):
    """Of the old kind."""

    id: str
    when: date
    hidden: int = pydantic.v1.Field(1, exclude=True)


def test_fields_are_read_where_they_lie() -> None:
    """Those that are set, in the order of their class, and none that a model excludes."""
    address = Address(street="A 1", url="http://a/b", token=SECRET, more=[1])  # type: ignore[arg-type, call-arg]

    assert read(Customer("c-1", [Order("o-1")])) == {
        "id": "c-1",
        "orders": [{"id": "o-1", "total": "1.50", "kind": "order"}],
    }
    assert read(address) == {
        "street": "A 1",
        "url": "http://a/b",
        "token": "**********",
        "more": [1],
    }
    assert read(Old(id="x", when=date(2026, 1, 2), hidden=2)) == {"id": "x", "when": "2026-01-02"}
    assert read(pydantic.RootModel[list[int]]([1])) == [1]


def test_messages_of_models_are_json() -> None:
    """As the clients of OpenAI and Anthropic give them."""
    from anthropic.types import TextBlock  # noqa: PLC0415 - takes a second, which only this needs
    from openai.types.chat import ChatCompletionMessage  # noqa: PLC0415 - as long

    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    said = ChatCompletionMessage.model_validate(
        {"role": "assistant", "content": "hi", "tool_calls": [call]}
    )
    text = TextBlock(type="text", text="hi", citations=None)

    assert read(said)["tool_calls"] == [call]
    assert read([text]) == [{"type": "text", "text": "hi", "citations": None}]


def test_message_of_protobuf_is_read_by_its_fields() -> None:
    """Those that are set, in others, too."""
    message = Struct()
    message.update({"a": [1, "x"]})

    assert read(message) == {
        "fields": {"a": {"list_value": {"values": [{"number_value": 1.0}, {"string_value": "x"}]}}}
    }


class Celsius(np.ndarray):
    """Has a way of its own to give its elements."""

    def __getitem__(self, key: object) -> Any:
        pytest.fail("it was asked")

    def __array_finalize__(self, other: object) -> None:
        assert other is not None


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (np.float32(0.5), 0.5),
        (np.int64(7), 7),
        (np.bool_(True), True),
        (np.datetime64("2026-01-02"), "2026-01-02"),
        (
            np.arange(6.0).reshape(2, 3),
            {
                "type": "numpy.ndarray",
                "shape": [2, 3],
                "dtype": "float64",
                "head": [0, 1, 2, 3, 4, 5],
            },
        ),
        (
            np.array([object()]),
            {"type": "numpy.ndarray", "shape": [1], "dtype": "object", "head": ["<object>"]},
        ),
        (
            np.arange(3).view(Celsius),
            {"type": "tests.Celsius", "shape": [3], "dtype": "int64"},
        ),
        (
            pl.DataFrame({"a": [1, 2], "b": ["x", None]}),
            {
                "type": "polars.DataFrame",
                "shape": [2, 2],
                "columns": {"a": "Int64", "b": "String"},
                "head": {"a": [1, 2], "b": ["x", None]},
            },
        ),
        (
            pl.Series("a", [0.5]),
            {"type": "polars.Series", "shape": [1], "dtype": "Float64", "head": [0.5]},
        ),
        (
            pa.table({"a": [1]}),
            {
                "type": "pyarrow.Table",
                "shape": [1, 1],
                "columns": {"a": "int64"},
                "head": {"a": [1]},
            },
        ),
        (
            pa.array(["x"]),
            {"type": "pyarrow.StringArray", "shape": [1], "dtype": "string", "head": ["x"]},
        ),
        (
            pl.LazyFrame({"a": [1]}).select(pl.col("a").map_elements(lambda _: pytest.fail("it"))),
            "<polars.lazyframe.frame.LazyFrame>",
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_arrays_and_frames_say_their_shape_and_their_beginning(
    value: object, said: object
) -> None:
    """A lazy frame is not collected, a class of the program not asked for its elements."""
    assert read(value) == said


def test_large_array_is_no_slower_than_a_small_one() -> None:
    """Nothing is copied but its beginning."""
    large = np.broadcast_to(np.float64(1), (10**12,))

    assert read(large)["shape"] == [10**12]
    assert len(read(large)["head"]) == 20
    assert len(read(pl.DataFrame({"a": range(100)}))["head"]["a"]) == 20


class Coded(Exception):
    """Says itself what it is about."""

    def __init__(self, code: int) -> None:
        super().__init__(f"code {code}")

    def __str__(self) -> str:
        return str(pytest.fail("it was asked"))


class Silent(Coded):
    """Has attributes alone."""

    def __init__(self, code: int) -> None:
        Exception.__init__(self)
        self.code = code
        self.inside = object()


class Holder:
    """An object."""

    def __repr__(self) -> str:
        pytest.fail("it was asked")


def raised(raising: Callable[[], object]) -> Exception:
    """Return what a function raises."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 - of any kind
        raising()
    return caught.value


def _raises(error: Exception) -> Callable[[], object]:
    def raising() -> None:
        raise error

    return raising


@pytest.mark.parametrize(
    ("raising", "message"),
    [
        (lambda: Path("/no/such").read_text(), "[Errno 2] No such file or directory: '/no/such'"),
        (lambda: dict[str, int]()["a"], "'a'"),
        (lambda: int("x"), "invalid literal for int() with base 10: 'x'"),
        (lambda: json.loads("{"), "Expecting property name enclosed in double quotes"),
        (lambda: yaml.safe_load("a: ["), "while parsing a flow node"),
        (lambda: Address(street=1), "3 validation errors for Address\nstreet\n  Input should be"),  # type: ignore[arg-type, call-arg]
        (_raises(LookupError(Path("/a"), date(2026, 1, 2))), "(PosixPath('/a'), datetime.date("),
        (_raises(LookupError(Holder())), "<tests.instrumentation.values.test_records.Holder>"),
        (_raises(OSError(2, "gone", Holder())), "(2, 'gone')"),
        (_raises(Coded(3)), "code 3"),
        (_raises(Silent(3)), "code=3"),
        (_raises(ExceptionGroup("many", [Coded(1)])), "many (1 sub-exception)"),
    ],
)
def test_exception_says_what_it_is_about(raising: Callable[[], object], message: str) -> None:
    """As Python and well-known libraries say it; code of the program is not asked."""
    text, _ = error_texts(raised(raising), PLAIN)

    assert text.text.startswith(message)


def _twice() -> None:
    try:
        dict[str, int]()["a"]
    except KeyError as error:
        error.add_note("noted")
        raise ValueError from error


def _handled() -> None:
    try:
        _twice()
    except ValueError:
        with suppress(KeyError):
            raise RuntimeError from None
        raise LookupError  # noqa: B904


@pytest.mark.parametrize("raising", [_twice, _handled])
def test_traceback_is_the_one_that_python_prints(raising: Callable[[], None]) -> None:
    """Causes, contexts and notes too."""
    error = raised(raising)

    assert error_texts(error, PLAIN)[1].text == "".join(traceback.format_exception(error))


def test_traceback_of_a_group_holds_its_members() -> None:
    """Each below a line with its number."""
    text = error_texts(ExceptionGroup("many", [ValueError("a"), KeyError("b")]), PLAIN)[1].text

    assert text == snapshot(
        """\
ExceptionGroup: many (2 sub-exceptions)
  +---------------- 1 ----------------
    | ValueError: a
  +---------------- 2 ----------------
    | KeyError: 'b'
"""
    )
