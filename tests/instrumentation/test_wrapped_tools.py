"""Every kind of callable becomes a tool and keeps its kind: coroutines, generators, methods."""

import asyncio
import functools
from collections.abc import AsyncIterator, Generator, Iterator

import pytest
from inline_snapshot import snapshot
from opentelemetry.sdk.trace import Span, SpanProcessor, TracerProvider

import tracegrade
from tracegrade.names import STEP_INDEX, STEP_MONOTONIC_NS
from tracegrade.state import is_off, state

from .conftest import Spans
from .trees import tree


def test_async_tool_is_a_coroutine_function_and_its_time_counts(spans: Spans) -> None:
    """A wrapped coroutine function is still one, and its span ends when it does."""

    @tracegrade.tool
    async def fetch(url: str) -> dict[str, int]:
        await asyncio.sleep(0.01)
        tracegrade.thought("inside")
        return {"status": 200}

    async def main() -> object:
        async with tracegrade.agent_run("crawler"):
            return await fetch("http://x")

    assert asyncio.iscoroutinefunction(fetch)
    assert asyncio.run(main()) == {"status": 200}
    assert tree(spans()) == snapshot(
        [
            {
                "name": "invoke_agent crawler",
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": "crawler",
                "children": [
                    {
                        "name": "execute_tool fetch",
                        "gen_ai.operation.name": "execute_tool",
                        "tracegrade.step.kind": "tool_call",
                        "gen_ai.tool.name": "fetch",
                        "gen_ai.tool.type": "function",
                        "gen_ai.agent.name": "crawler",
                        "gen_ai.tool.call.arguments": {"url": "http://x"},
                        "gen_ai.tool.call.result": {"status": 200},
                        "children": [
                            {
                                "name": "thought",
                                "tracegrade.step.kind": "thought",
                                "gen_ai.agent.name": "crawler",
                                "tracegrade.thought.content": "inside",
                            }
                        ],
                    },
                    {
                        "name": "observation",
                        "tracegrade.step.kind": "observation",
                        "gen_ai.agent.name": "crawler",
                        "links": ["execute_tool fetch"],
                    },
                ],
            }
        ]
    )
    call = spans()[1]
    assert call.end_time is not None
    assert call.start_time is not None
    assert call.end_time - call.start_time >= 10_000_000


def test_coroutine_hidden_by_a_decorator_is_waited_for(spans: Spans) -> None:
    """A plain function that returns a coroutine ends its call when the coroutine is done."""

    async def fetch() -> str:
        tracegrade.thought("inside")
        return "page"

    async def main() -> str:
        running = tracegrade.tool(name="fetch")(lambda: fetch())()  # noqa: PLW0108 - hides it
        tracegrade.thought("outside")
        return await running

    assert asyncio.run(main()) == "page"
    outside, inside = (span for span in spans() if span.name == "thought")
    (call,) = (span for span in spans() if span.name == "execute_tool fetch")
    assert call.context is not None
    assert outside.parent is None
    assert inside.parent is not None
    assert inside.parent.span_id == call.context.span_id
    assert (call.attributes or {})["gen_ai.tool.call.result"] == "page"


def test_static_and_class_methods_stay_what_they_are(spans: Spans) -> None:
    """In either order of decorators, a static method gets no `self`."""

    class Tools:
        @tracegrade.tool
        @staticmethod
        def plus(a: int, b: int) -> int:
            return a + b

        @classmethod
        @tracegrade.tool
        def name(cls, suffix: str) -> str:
            return cls.__name__ + suffix

    assert Tools().plus(1, 2) == 3
    assert Tools.name("!") == "Tools!"
    arguments = [(span.attributes or {}).get("gen_ai.tool.call.arguments") for span in spans()]
    assert arguments == ['{"a":1,"b":2}', None, '{"suffix":"!"}', None]


def test_generator_result_is_the_list_of_what_it_yielded(spans: Spans) -> None:
    """Values, sends, the return value and later mutation behave as without us."""
    pages: list[list[int]] = []

    @tracegrade.tool
    def read_pages(count: int) -> Iterator[list[int]]:
        for number in range(count):
            tracegrade.thought(f"page {number}")
            page = [number]
            pages.append(page)
            yield page

    for page in read_pages(2):
        tracegrade.thought("the reader's own")
        page.append(99)

    assert pages == [[0, 99], [1, 99]]
    assert tree(spans()) == snapshot(
        [
            {
                "name": "execute_tool read_pages",
                "gen_ai.operation.name": "execute_tool",
                "tracegrade.step.kind": "tool_call",
                "gen_ai.tool.name": "read_pages",
                "gen_ai.tool.type": "function",
                "gen_ai.tool.call.arguments": {"count": 2},
                "gen_ai.tool.call.result": [[0], [1]],
                "children": [
                    {
                        "name": "thought",
                        "tracegrade.step.kind": "thought",
                        "tracegrade.thought.content": "page 0",
                    },
                    {
                        "name": "thought",
                        "tracegrade.step.kind": "thought",
                        "tracegrade.thought.content": "page 1",
                    },
                ],
            },
            {
                "name": "thought",
                "tracegrade.step.kind": "thought",
                "tracegrade.thought.content": "the reader's own",
            },
            {
                "name": "thought",
                "tracegrade.step.kind": "thought",
                "tracegrade.thought.content": "the reader's own",
            },
            {
                "name": "observation",
                "tracegrade.step.kind": "observation",
                "links": ["execute_tool read_pages"],
            },
        ]
    )


def test_generator_passes_values_exceptions_and_its_return_value() -> None:
    """`send`, `throw`, `close` and `return` reach through the wrapper."""

    @tracegrade.tool
    def adder() -> Generator[int, int, str]:
        total = 0
        while True:
            try:
                total += yield total
            except KeyError:
                return "stopped"

    running = adder()
    assert next(running) == 0
    assert running.send(2) == 2
    with pytest.raises(StopIteration) as stopped:
        running.throw(KeyError())
    assert stopped.value.value == "stopped"


def test_abandoned_generator_ends_its_call(spans: Spans) -> None:
    """A caller that breaks off leaves an ended span with what it had got."""

    @tracegrade.tool
    def numbers() -> Generator[int, None, None]:
        yield from range(10)

    running = numbers()
    next(running)
    running.close()

    assert [span.name for span in spans()] == ["execute_tool numbers", "observation"]
    assert (spans()[0].attributes or {})["gen_ai.tool.call.result"] == "[0]"


def test_async_generator_is_written_like_a_generator(spans: Spans) -> None:
    """What the caller does between two values is not inside the call."""

    @tracegrade.tool
    async def stream(text: str) -> AsyncIterator[str]:
        for word in text.split():
            yield word

    async def main() -> list[str]:
        words = []
        async for word in stream("a b"):
            tracegrade.thought("between")
            words.append(word)
        return words

    assert asyncio.run(main()) == ["a", "b"]
    assert tree(spans()) == snapshot(
        [
            {
                "name": "execute_tool stream",
                "gen_ai.operation.name": "execute_tool",
                "tracegrade.step.kind": "tool_call",
                "gen_ai.tool.name": "stream",
                "gen_ai.tool.type": "function",
                "gen_ai.tool.call.arguments": {"text": "a b"},
                "gen_ai.tool.call.result": ["a", "b"],
            },
            {
                "name": "thought",
                "tracegrade.step.kind": "thought",
                "tracegrade.thought.content": "between",
            },
            {
                "name": "thought",
                "tracegrade.step.kind": "thought",
                "tracegrade.thought.content": "between",
            },
            {
                "name": "observation",
                "tracegrade.step.kind": "observation",
                "links": ["execute_tool stream"],
            },
        ]
    )


class Shelf:
    """Holds books, for tools that are methods or objects."""

    def find(self, title: str) -> str:
        """Return the title, found."""
        return title

    async def __call__(self, title: str) -> str:
        """Return the title, later."""
        return title


def test_foreign_callables_are_wrapped_under_their_own_name(spans: Spans) -> None:
    """Partials, bound methods, callable objects and C functions keep name and arguments."""
    shelf = Shelf()
    read = tracegrade.tool(effect="read")

    assert read(functools.partial(sorted, reverse=True))([1, 2]) == [2, 1]
    assert read(shelf.find)("Emma") == "Emma"
    assert asyncio.run(read(shelf)("Ulysses")) == "Ulysses"
    assert read(max)(3, 7) == 7
    assert tracegrade.tool(Shelf.find)(shelf, "Dune") == "Dune"
    written = [span.attributes or {} for span in spans()[::2]]
    arguments = [(of["gen_ai.tool.name"], of["gen_ai.tool.call.arguments"]) for of in written]
    assert arguments == snapshot(
        [
            ("sorted", '{"iterable":[1,2]}'),
            ("find", '{"title":"Emma"}'),
            ("Shelf", '{"title":"Ulysses"}'),
            ("max", '{"args":[3,7]}'),
            ("find", '{"title":"Dune"}'),
        ]
    )


def test_tool_wrapped_twice_is_one_call(spans: Spans) -> None:
    """A decorated function that is also listed as `tool(function)` is written once."""
    find = tracegrade.tool(Shelf().find)
    tracegrade.tool(find)("Emma")

    assert [span.name for span in spans()] == ["execute_tool find", "observation"]


def test_switched_off_tool_does_nothing_but_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a provider, and with OpenTelemetry disabled; a provider that comes counts."""
    plain = tracegrade.tool(len)
    assert (is_off(), plain("ab")) == (True, 2)
    with pytest.raises(TypeError):
        plain(1)  # type: ignore[arg-type]

    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    tracegrade.init()
    assert (is_off(), plain("ab")) == (True, 2)
    monkeypatch.delenv("OTEL_SDK_DISABLED")
    monkeypatch.setattr(state, "tracer", TracerProvider().get_tracer("x"))
    assert not is_off()


class Watching(SpanProcessor):
    """A host's processor, which looks at attributes as a span starts."""

    def __init__(self) -> None:
        self.seen: list[dict[str, object]] = []

    def on_start(self, span: Span, parent_context: object = None) -> None:
        """Note them."""
        self.seen.append(dict(span.attributes or {}))


@pytest.mark.parametrize("watched", [False, True], ids=["", "watched"])
def test_attributes_are_the_same_whether_the_sdk_checks_them(spans: Spans, watched: bool) -> None:
    """They are put into a span unchecked only if no processor sees them at the start."""
    watching = Watching()
    if watched:
        assert state.provider is not None
        state.provider.add_span_processor(watching)
    with tracegrade.agent_run("a", task="t", trial=2):
        tracegrade.tool(name="look", effect="read", cost=1.5)(lambda key: [key])("k")
    (call,) = [span for span in spans() if span.name == "execute_tool look"]

    attributes = dict(call.attributes or {})
    here = {key: attributes.pop(key) for key in (STEP_INDEX, STEP_MONOTONIC_NS)}
    assert all(type(each) is int for each in here.values())
    assert attributes == {
        "gen_ai.operation.name": "execute_tool",
        "tracegrade.step.kind": "tool_call",
        "gen_ai.tool.name": "look",
        "gen_ai.tool.type": "function",
        "tracegrade.tool.effect": "read",
        "tracegrade.tool.cost": 1.5,
        "gen_ai.agent.name": "a",
        "tracegrade.task.id": "t",
        "tracegrade.trial": 2,
        "gen_ai.tool.call.arguments": '{"key":"k"}',
        "gen_ai.tool.call.result": '["k"]',
    }
    if watched:
        assert watching.seen[1].items() <= {**attributes, **here}.items()
        assert "gen_ai.tool.call.arguments" in watching.seen[1]
