"""The host's context is restored, for each runtime and each order of leaving."""

import asyncio
import gc
import sys
import threading
from collections.abc import AsyncGenerator, Generator, Iterator
from types import ModuleType
from typing import Any

import pytest
from opentelemetry import baggage, trace
from opentelemetry import context as otel_context
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan

import tracegrade

from .conftest import Spans

LANGCHAIN = "openinference.instrumentation.langchain"


@tracegrade.tool
def double(number: int) -> int:
    """Return twice the number."""
    return 2 * number


class Stack(threading.local):
    """A runtime context whose tokens are numbers."""

    def __init__(self) -> None:
        self.contexts = [Context()]

    def attach(self, context: Context) -> int:
        """Make a context current."""
        self.contexts.append(context)
        return len(self.contexts) - 1

    def get_current(self) -> Context:
        """Return the current context."""
        return self.contexts[-1]

    def detach(self, token: int) -> None:
        """Forget a context, and all above it."""
        del self.contexts[token:]


class SpanAlone(threading.local):
    """A runtime context that keeps one value of a context, and lets go of nothing."""

    def __init__(self) -> None:
        self.span: Any = None

    def attach(self, context: Context) -> object:
        """Keep the span of a context."""
        self.span = trace.get_current_span(context)
        return object()

    def get_current(self) -> Context:
        """Return a new context around the span."""
        return Context() if self.span is None else trace.set_span_in_context(self.span, Context())

    def detach(self, token: object) -> None:
        """Do nothing."""


@pytest.fixture(params=[Stack, SpanAlone])
def runtime(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A runtime context that is not contextvars'."""
    other = request.param()
    monkeypatch.setattr(otel_context, "_RUNTIME_CONTEXT", other)
    yield other
    monkeypatch.undo()


def parents(spans: list[ReadableSpan]) -> dict[str, str | None]:
    """Return the name of each span's parent."""
    names = {span.context.span_id: span.name for span in spans}
    return {span.name: names.get(span.parent.span_id) if span.parent else None for span in spans}


def test_runtime_of_another_vendor_is_given_back(runtime: Any, spans: Spans) -> None:
    """Its tokens may be anything, it may lose what it is given: runs and tasks hold together."""
    before = dict(runtime.get_current())
    run = tracegrade.agent_run("a", task="t-1")
    with run, run.sub_goal("g"):
        assert double(1) == 2
    assert double(2) == 4

    assert dict(runtime.get_current()) == before
    assert tracegrade.failures() == {}
    inside, outside = (span for span in spans() if span.name == "execute_tool double")
    assert dict(inside.attributes or {})["tracegrade.sub_goal.id"] == "g"
    assert dict(inside.attributes or {})["tracegrade.task.id"] == "t-1"
    assert inside.parent is not None
    assert outside.parent is None


def test_span_of_the_host_stays_current_where_contexts_are_lost(
    monkeypatch: pytest.MonkeyPatch, spans: Spans
) -> None:
    """Its requests are not children of tracegrade's spans; the run is a child of the request."""
    host = SpanAlone()
    monkeypatch.setattr(otel_context, "_RUNTIME_CONTEXT", host)
    request = trace.NonRecordingSpan(
        trace.SpanContext(7, 7, is_remote=False, trace_flags=trace.TraceFlags(1))
    )
    host.span = request
    with tracegrade.agent_run("a"):
        double(1)
        assert host.span is request

    assert host.span is request
    (run,) = (span for span in spans() if span.name == "invoke_agent a")
    assert run.parent is not None
    assert run.parent.span_id == 7


def test_first_of_two_streams_may_end_first(spans: Spans) -> None:
    """Neither is current once both are over, nor is the first while the second goes on."""

    def stream(agent: str) -> Generator[int, None, None]:
        with tracegrade.agent_run(agent):
            yield 1
            double(1)
            yield 2

    before = otel_context.get_current()
    first, second = stream("first"), stream("second")
    for each in (first, second):
        next(each)
    list(first)
    list(second)

    assert otel_context.get_current() == before
    trace.get_tracer("host").start_span("next request").end()
    assert parents(spans())["next request"] is None


def test_request_after_an_abandoned_stream_is_a_root(spans: Spans) -> None:
    """The loop closes the stream in another task; this one must not keep its run."""

    async def stream() -> AsyncGenerator[int, None]:
        async with tracegrade.agent_run("a"):
            for number in range(3):
                yield number

    async def main() -> None:
        async for _ in stream():
            break
        gc.collect()
        await asyncio.sleep(0.01)
        trace.get_tracer("host").start_span("next request").end()

    asyncio.run(main())

    assert parents(spans()) == {"invoke_agent a": None, "next request": None}


def test_context_that_the_host_leaves_current_stays_without_ours(spans: Spans) -> None:
    """A tool that opens a span or says baggage for what follows does so as without us."""

    @tracegrade.tool
    def open_session() -> object:
        return otel_context.attach(baggage.set_baggage("session", "7"))

    with tracegrade.agent_run("a"):
        open_session()
    try:
        assert baggage.get_all() == {"session": "7"}
        assert trace.get_current_span() is trace.INVALID_SPAN
        trace.get_tracer("host").start_span("next request").end()
    finally:
        otel_context.attach(Context())

    assert parents(spans())["next request"] is None


def test_task_that_outlives_its_run_stays_inside(spans: Spans) -> None:
    """What a run started in the background belongs to it, also once it has ended."""

    async def background(done: asyncio.Event) -> None:
        await done.wait()
        double(1)

    async def main() -> None:
        done = asyncio.Event()
        async with tracegrade.agent_run("a", task="t-1"):
            task = asyncio.create_task(background(done))
            await asyncio.sleep(0)
        done.set()
        await task

    asyncio.run(main())

    assert parents(spans())["execute_tool double"] == "invoke_agent a"


def test_a_tool_of_langchain_is_below_the_span_that_its_instrumentor_names(
    spans: Spans, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its observation, in one trace; afterwards no span is current, as before."""
    run = trace.get_tracer("langchain").start_span("look")
    module = ModuleType(LANGCHAIN)
    monkeypatch.setattr(module, "get_current_span", lambda: run, raising=False)
    monkeypatch.setitem(sys.modules, LANGCHAIN, module)

    assert double(1) == 2
    assert not trace.get_current_span().get_span_context().is_valid
    with tracegrade.agent_run("desk"):
        double(2)
    monkeypatch.setattr(module, "get_current_span", lambda: None)
    double(3)
    monkeypatch.delattr(module, "get_current_span")
    double(4)

    ended = [span for span in spans() if span.name == "execute_tool double"]
    root = next(span for span in spans() if span.name == "invoke_agent desk")
    parents = [span.parent and span.parent.span_id for span in ended]
    assert parents == [run.get_span_context().span_id, root.context.span_id, None, None]
