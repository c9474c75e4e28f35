"""What stands for a wrapped callable is, to all who ask, what was wrapped."""

import asyncio
import copy
import enum
import functools
import gc
import inspect
import logging
import pickle
import traceback
import typing
import warnings
import weakref
from collections.abc import AsyncIterator, Callable, Iterator, Sized
from types import FunctionType, MethodType
from typing import Any

import pytest

import tracegrade

from .conftest import Spans


@tracegrade.tool
def find(title: str, limit: int = 5, *, lang: str = "en") -> list[str]:
    """Find titles."""
    return [title, str(limit), lang]


plain: Any = find  # whose attributes a type checker does not know


class Counter:
    """A callable with state."""

    def __init__(self) -> None:
        self.total = 0

    def __call__(self, by: int) -> int:
        """Count."""
        self.total += by
        return self.total

    def __len__(self) -> int:
        return self.total

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Counter) and other.total == self.total

    __hash__ = None  # type: ignore[assignment]


def wrapped(callable_: object) -> Any:
    """Return a tool of whose attributes a type checker knows nothing."""
    return tracegrade.tool(callable_)  # type: ignore[call-overload]


def names(spans: Spans) -> list[str]:
    """Return the names of the tool calls, in order."""
    return [span.name for span in spans() if span.name != "observation"]


def test_a_function_has_its_own_code_file_and_signature() -> None:
    """Code that reads a function to run it elsewhere, or to offer it to a model, finds it."""
    assert plain.__code__.co_varnames == ("title", "limit", "lang")
    assert inspect.getfile(find) == inspect.getsourcefile(find) == __file__
    assert inspect.getsource(find).startswith("@tracegrade.tool\ndef find(")
    assert typing.get_type_hints(find)["return"] == list[str]
    assert str(inspect.signature(find)).startswith("(title: str, limit: int = 5")
    assert plain.__globals__ is globals()
    assert isinstance(find, FunctionType)
    assert inspect.isfunction(find)
    assert not hasattr(find, "__wrapped__")


def test_a_function_looks_like_nothing_else() -> None:
    """Special methods that the original has not are not there, also to an abstract class."""
    assert not isinstance(find, Sized)
    assert not hasattr(type(find), "__iter__")
    assert isinstance(wrapped(Counter()), Sized)


def test_what_is_set_on_either_is_on_both(spans: Spans) -> None:
    """A tool and its original are always in the same state."""

    def original(x: int = 1) -> int:
        return x

    tool = wrapped(original)
    tool.__defaults__ = (7,)
    tool.note = "set"
    original.__doc__ = "Said later."

    assert original() == tool() == 7
    assert vars(original) == {"note": "set"}
    assert tool.__doc__ == "Said later."
    assert (tool == original, original == tool, {original: 1}[tool]) == (True, True, 1)
    assert names(spans) == ["execute_tool original"]


def test_another_name_is_for_traces_alone(spans: Spans) -> None:
    """Frameworks offer a function to a model by the name that the program gave it."""
    tool: Any = tracegrade.tool(name="look_up")(map_to)

    assert tool(str, 1) == "1"
    assert tool.__name__ == "map_to"
    assert names(spans) == ["execute_tool look_up"]


def test_caches_partials_and_dispatchers_keep_what_they_offer(spans: Spans) -> None:
    """Beside being called."""
    cached = wrapped(functools.lru_cache(str))
    partial = wrapped(functools.partial(pow, 2))
    dispatching = wrapped(functools.singledispatch(repr))
    dispatching.register(int)(lambda _: "int")

    assert [cached(1), cached(1)] == ["1", "1"]
    assert cached.cache_info().hits == 1
    cached.cache_clear()
    assert cached.cache_info().misses == 0
    assert (partial(3), partial.func, partial.args) == (8, pow, (2,))
    assert (dispatching(1), dispatching("")) == ("int", repr(""))
    assert len(names(spans)) == 5


def test_a_callable_with_state_is_that_object(spans: Spans) -> None:
    """Its attributes, operators and class are the object's own; a copy is a tool as well."""
    original = Counter()
    tool = wrapped(original)
    tool(3)
    original.total += 1
    copied = copy.deepcopy(tool)
    copied(10)

    assert (tool.total, len(tool), tool == original, tool.__class__) == (4, 4, True, Counter)
    assert isinstance(tool, Counter)
    assert type(tool) == Counter  # noqa: E721 - as programs compare types
    assert inspect.signature(tool) == inspect.signature(original)
    assert tool.__call__(1) == 5
    assert pickle.loads(pickle.dumps(tool)).total == 5  # noqa: S301 - made here
    assert weakref.ref(tool)() is tool
    with pytest.raises(TypeError, match="unhashable"):
        hash(tool)
    assert len(names(spans)) == 3


class Toolbox:
    """Has tools of all kinds as attributes."""

    at_least_one = wrapped(functools.partial(max, 1))
    parsed = wrapped(int)
    counter = wrapped(Counter())
    upper = wrapped(str.upper)
    find = plain

    @functools.cached_property
    @tracegrade.tool
    def once(self) -> int:
        """Return a number."""
        return 1

    @wrapped
    @functools.lru_cache  # noqa: B019 - what it keeps is what is tested
    def cached(self, x: int) -> int:
        """Return the number."""
        return x

    def base(self, *args: int) -> tuple[int, ...]:
        """Return the numbers."""
        return args

    first_is_one = wrapped(functools.partialmethod(base, 1))


def test_attributes_of_a_class_are_bound_as_without_us(spans: Spans) -> None:
    """A function and what is cached take the instance; a partial, an object and a class do not."""
    box = Toolbox()

    assert (box.at_least_one(0), box.parsed("7"), box.counter(2), box.once) == (1, 7, 2, 1)
    assert (box.cached(5), Toolbox.cached.cache_info().misses) == (5, 1)
    assert box.first_is_one(2) == (1, 2)
    method: Any = box.find
    assert type(method) is MethodType
    assert method.__func__ is find
    with pytest.raises(TypeError, match="doesn't apply to a 'Toolbox' object"):
        box.upper("a")
    assert sorted({*names(spans)}) == [
        "execute_tool Counter",
        *("execute_tool base", "execute_tool cached", "execute_tool max", "execute_tool once"),
    ]


def test_a_class_stays_the_class_of_its_instances(caplog: pytest.LogCaptureFixture) -> None:
    """It is returned as it is, and that is said once."""

    class Search:
        pass

    assert tracegrade.tool(Search) is Search
    assert tracegrade.tool(enum.Enum) is enum.Enum
    assert [record.message for record in caplog.records] == [
        "tracegrade: calls of the class Search are not written; "
        "put @tracegrade.tool on the method that does the work, or on a function"
    ]
    assert tracegrade.failures() == {"tool of a class": 2}


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_has_the_same_bytes(protocol: int) -> None:
    """A tool is pickled by its name, and a foreign function as that, not as ours."""
    original = functools.partial(max, 1)
    foreign = wrapped(copy.deepcopy)

    assert pickle.loads(pickle.dumps(find, protocol)) is find  # noqa: S301
    assert pickle.loads(pickle.dumps(foreign, protocol)) is copy.deepcopy  # noqa: S301
    assert pickle.dumps(wrapped(original), protocol) == pickle.dumps(original, protocol)
    with pytest.raises((AttributeError, pickle.PicklingError), match="lambda"):
        pickle.dumps(wrapped(lambda: 1), protocol)


def lines(error: BaseException) -> list[str]:
    """Return the names of the functions in a traceback."""
    return [frame.name for frame in traceback.extract_tb(error.__traceback__)]


@tracegrade.tool
def fails(depth: int) -> None:
    """Raise, some calls further down."""
    if depth:
        fails(depth - 1)
    raise LookupError


@tracegrade.tool
async def fails_later() -> None:
    """Raise, when awaited."""
    raise LookupError


@tracegrade.tool
def fails_within() -> Iterator[int]:
    """Raise after a value."""
    yield 1
    raise LookupError


@tracegrade.tool
async def fails_within_later() -> AsyncIterator[int]:
    """Raise after a value."""
    yield 1
    raise LookupError


async def read_all() -> object:
    """Read what comes later."""
    return [value async for value in fails_within_later()]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: fails(2), ["fails", "fails", "fails"]),
        (lambda: fails_later().send(None), ["fails_later"]),
        (lambda: [*fails_within()], ["fails_within"]),
        (lambda: read_all().send(None), ["read_all", "fails_within_later"]),
        (lambda: find("a", limits=3), []),  # type: ignore[call-arg]
        (lambda: wrapped(int.bit_length)("a"), []),
        (lambda: plain.nothing, []),
        (lambda: len(wrapped(Counter)), []),
    ],
)
def test_tracebacks_have_no_frame_of_ours(call: Callable[[], object], expected: list[str]) -> None:
    """A program that prints or counts them finds its own."""
    with pytest.raises((LookupError, TypeError, AttributeError)) as raised:
        call()

    found = lines(raised.value)[1:]
    assert [name for name in found if name not in {"<lambda>", "<listcomp>"}] == expected


@tracegrade.tool
def old() -> int:
    """Warn the caller."""
    warnings.warn("old", DeprecationWarning, stacklevel=2)
    logging.getLogger("shop").warning("old", stacklevel=2)
    return 1


def test_warnings_and_log_lines_name_the_caller(caplog: pytest.LogCaptureFixture) -> None:
    """Whose filters decide about them."""
    with pytest.warns(DeprecationWarning, match="old") as warned:
        old()

    assert warned[0].filename == __file__
    assert caplog.records[0].funcName == test_warnings_and_log_lines_name_the_caller.__name__


@tracegrade.tool
async def fetch(url: str) -> str:
    """Return a page."""
    await asyncio.sleep(0)
    return url


@tracegrade.tool
def numbers(to: int) -> Iterator[int]:
    """Yield numbers."""
    yield from range(to)


@tracegrade.tool
async def numbers_later(to: int) -> AsyncIterator[int]:
    """Yield numbers later."""
    try:
        for number in range(to):
            yield number
    finally:
        await asyncio.sleep(0)


@pytest.mark.parametrize("tool", [fetch, numbers, numbers_later])
def test_wrong_arguments_are_refused_at_the_call(tool: Any, spans: Spans) -> None:
    """Not when the result is awaited or read."""
    with pytest.raises(TypeError, match="unexpected keyword argument 'page'"):
        tool(page=1)
    assert names(spans) == [f"execute_tool {tool.__name__}"]


def map_to(function: Callable[[str], object], value: str) -> object:
    """Return what a function gives: what kind of function it is cannot be seen."""
    return function(value)


@pytest.mark.parametrize("end", [lambda made: None, lambda made: made.close()])
@pytest.mark.parametrize("hidden", [False, True])
def test_python_warns_once_of_what_is_not_awaited(
    end: Callable[..., object], hidden: bool
) -> None:
    """By the tool's name; and not at all if it is closed."""
    tool: Any = wrapped(functools.partial(map_to, fetch)) if hidden else fetch
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        made = tool("x")
        end(made)
        closed = inspect.getcoroutinestate(made) == inspect.CORO_CLOSED
        del made
        gc.collect()

    expected = [] if closed else ["coroutine 'fetch' was never awaited"]
    assert [str(each.message) for each in warned] == expected


def test_async_generators_left_open_are_closed_in_peace(spans: Spans) -> None:
    """At its end the loop closes all that it knows at once: of each tool, one."""
    said: list[dict[str, Any]] = []

    async def main() -> list[Any]:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: said.append(context))
        left = [numbers_later(3) for _ in range(3)]
        for each in left:
            await anext(each)
        return left

    asyncio.run(main())
    assert said == []
    assert names(spans) == ["execute_tool numbers_later"] * 3


def test_an_object_that_has_every_attribute_is_wrapped_all_the_same(spans: Spans) -> None:
    """Looking for the tool below a decorator comes to an end."""

    class Everything:
        def __getattr__(self, name: str) -> "Everything":
            return Everything()

        def __call__(self) -> int:
            return 1

    assert wrapped(Everything())() == 1
    assert len(names(spans)) == 1
