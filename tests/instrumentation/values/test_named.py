"""Objects whose class is not known are named, unless the program says how they are written."""

import collections
import gc
import multiprocessing.managers
import threading
import types
import weakref
from collections.abc import Iterator
from typing import Any
from unittest.mock import MagicMock

import pytest
import wrapt
from werkzeug.local import LocalProxy

import tracegrade
from tracegrade.content import json_of
from tracegrade.settings import Content, Objects, Settings
from tracegrade.values import reading

from ..conftest import Spans

PLAIN = Settings(content=Content.FULL)


class Order:
    """A class of the program."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __str__(self) -> str:
        return f"order {self.number}"


class Refund(Order):
    """One that is derived from another."""


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """What a test registers holds for it alone."""
    yield
    reading._registered.clear()
    reading._known.clear()


def text(value: object) -> str:
    """Return a value's text."""
    return json_of(value, PLAIN).text


def _fails(*_: object) -> Any:
    pytest.fail("it was evaluated")


LAZY = {
    "mock": (MagicMock(), "<unittest.mock.MagicMock>"),
    "local proxy": (LocalProxy(_fails), "<werkzeug.local.LocalProxy>"),
    "lazy proxy": (wrapt.LazyObjectProxy(_fails), "<wrapt.proxies.LazyObjectProxy>"),
    "proxy of a list": (wrapt.ObjectProxy([1]), "<wrapt.proxies.ObjectProxy>"),
    "weak proxy": (weakref.proxy(Order), "<weakref.CallableProxyType>"),
    "map": (map(_fails, [1]), "<map>"),
    "generator": ((_fails() for _ in [1]), "<generator>"),
    "lock": (threading.Lock(), "<_thread.lock>"),
    "chained maps": (collections.ChainMap({}), "<collections.ChainMap>"),
}


@pytest.mark.parametrize("name", LAZY)
def test_what_stands_for_something_else_is_not_evaluated(name: str) -> None:
    """For every class that it claims to be."""
    value, named = LAZY[name]

    assert text(value) == f'"{named}"'


class Shop:
    """Lives in another process."""

    asked = 0

    def __repr__(self) -> str:
        Shop.asked += 1
        return "shop"

    def count(self) -> int:
        """Return how often it was asked what it is."""
        return Shop.asked


class Manager(multiprocessing.managers.BaseManager):
    """Its process."""


Manager.register("Shop", Shop)


@pytest.mark.usefixtures("spans")
def test_proxy_of_another_process_is_not_asked() -> None:
    """Its `str()` would be a call of that process."""
    with Manager(ctx=multiprocessing.get_context("fork")) as manager:
        shop = manager.Shop()  # type: ignore[attr-defined]
        tracegrade.tool(lambda at: at)(shop)

        assert shop.count() == 0


@pytest.mark.usefixtures("spans")
def test_object_that_needs_its_callers_lock_does_not_wait_for_it() -> None:
    """A program that asks its objects under a lock would never get there itself."""
    lock = threading.Lock()

    class Guarded:
        def __repr__(self) -> str:
            assert lock.acquire(timeout=0), "it was asked"
            return "guarded"

    with lock:
        tracegrade.tool(lambda at: at)(Guarded())

    assert tracegrade.failures() == {}


def test_objects_are_asked_where_the_program_wants_it(
    spans: Spans, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By `init`, or by the environment; exceptions, too."""

    class Refused(Exception):
        def __str__(self) -> str:
            return "refused"

    def told() -> list[object]:
        call = tracegrade.tool(lambda at: at)
        call(Order(1))
        with pytest.raises(Refused), tracegrade.agent_run("a"):
            raise Refused(1)
        written = spans()[-3:]
        first = (written[0].attributes or {})["gen_ai.tool.call.result"]
        return [first, written[-1].status.description]

    assert told() == ['"<tests.instrumentation.values.test_named.Order>"', "1"]
    tracegrade.init(objects="str")
    assert told() == ['"order 1"', "refused"]
    tracegrade.init(service="again")
    assert told() == ['"order 1"', "refused"]
    monkeypatch.setenv("TRACEGRADE_OBJECTS", "STR")
    assert Settings.from_environment().objects is Objects.STR
    assert Settings.from_environment(objects="name").objects is Objects.NAME


def test_unknown_way_to_write_objects_is_said(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """And they are named."""
    monkeypatch.setenv("TRACEGRADE_OBJECTS", "repr")

    assert Settings.from_environment().objects is Objects.NAME
    assert "TRACEGRADE_OBJECTS must be one of name, str, got 'repr'" in caplog.text


def test_registered_class_is_written_as_the_program_says(spans: Spans) -> None:
    """So are those derived from it, in others, too, and in every step."""
    tracegrade.register_renderer(Order, lambda order: {"number": order.number})
    with tracegrade.agent_run("a", user_input=Refund(1)):
        tracegrade.tool(lambda at: [at])({"a": Order(2)})
        tracegrade.thought(Order(3))

    run, call, _, thought = [dict(span.attributes or {}) for span in spans()]
    assert '{\\"number\\":1}' in str(run["gen_ai.input.messages"])
    assert call["gen_ai.tool.call.arguments"] == '{"at":{"a":{"number":2}}}'
    assert call["gen_ai.tool.call.result"] == '[{"a":{"number":2}}]'
    assert thought["tracegrade.thought.content"] == '{"number":3}'


def test_nearest_registered_class_counts() -> None:
    """Also if it comes later, and what is known of a class otherwise is not asked."""
    tracegrade.register_renderer(Order, str)
    assert text([Order(1), Refund(1)]) == '["order 1","order 1"]'

    tracegrade.register_renderer(Refund, lambda refund: refund.number)
    tracegrade.register_renderer(collections.Counter, lambda counter: counter.total())
    assert text([Order(1), Refund(1), collections.Counter("aab")]) == '["order 1",1,3]'


def test_renderer_that_fails_costs_that_object(caplog: pytest.LogCaptureFixture) -> None:
    """It is named, and what went wrong is said once."""
    tracegrade.register_renderer(Order, lambda order: dict[int, str]()[order.number])

    assert text([Order(1), Order(2), 3]) == text(["<" + _name() + ">", "<" + _name() + ">", 3])
    assert tracegrade.failures() == {f"render of {_name()}": 2}
    assert caplog.text.count("the program continues") == 1


def test_renderer_that_returns_its_object_ends() -> None:
    """With `...`, as anything that holds itself."""
    tracegrade.register_renderer(Order, lambda order: order)

    assert text(Order(1)) == '"..."'


@pytest.mark.parametrize("given", [(1, str), (Order, "text")])
def test_what_is_no_renderer_is_said(given: Any, caplog: pytest.LogCaptureFixture) -> None:
    """The program goes on."""
    tracegrade.register_renderer(*given)

    assert "takes a class" in caplog.text
    assert text(Order(1)) == f'"<{_name()}>"'


def _name() -> str:
    return "tests.instrumentation.values.test_named.Order"


def test_tool_says_how_its_objects_are_written(spans: Spans) -> None:
    """Before a registered class; what is of plain types is not asked for."""
    tracegrade.register_renderer(Order, lambda _: "registered")
    space = types.SimpleNamespace(a=1)

    @tracegrade.tool(render=str)
    def look(order: Order, more: list[Any]) -> Iterator[Order]:
        yield order

    list(look(Order(1), [Refund(2), 3, {"a": None}, space]))
    attributes = spans()[0].attributes or {}
    assert (
        attributes["gen_ai.tool.call.arguments"]
        == '{"order":"order 1","more":["order 2",3,{"a":null},{"a":1}]}'
    )
    assert attributes["gen_ai.tool.call.result"] == '["order 1"]'


def test_class_that_is_gone_leaves_nothing() -> None:
    """What is known of it is forgotten, as its address may be another's."""
    before = len(reading._known)

    def make() -> str:
        class Passing:
            pass

        return text(Passing())

    assert "Passing" in make()
    gc.collect()
    assert len(reading._known) <= before + 1
