"""Our failures stay ours: counted, logged once, and nothing of them reaches the program."""

import inspect
import logging
import sys
from collections.abc import Sequence
from typing import Any

import pytest
from opentelemetry import context as otel_context
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import tracegrade
from tracegrade.state import state

from .conftest import Spans


@tracegrade.tool
def double(number: int) -> int:
    """Return twice the number."""
    return 2 * number


class Broken(SpanExporter):
    """Raises at each batch."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Fail."""
        msg = "disk on fire"
        raise OSError(msg)


def test_tracer_that_fails_costs_the_program_nothing(
    spans: Spans, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls return, runs run, and the log has one line for each place."""

    class NoTracer:
        def start_span(self, *_: object, **__: object) -> Any:
            msg = "no"
            raise RuntimeError(msg)

    monkeypatch.setattr(state, "tracer", NoTracer())
    with tracegrade.agent_run("a") as run:
        results = [double(n) for n in range(3)]
        run.thought("x")
        run.answer("y")

    assert results == [0, 2, 4]
    assert tracegrade.failures()["begin"] == 3
    assert sum("begin failed" in line for line in caplog.messages) == 1


def test_broken_exporter_is_said_once_and_spans_counted(caplog: pytest.LogCaptureFixture) -> None:
    """The agent continues; the count shows the losses."""
    tracegrade.init(exporter=Broken())
    for _ in range(2):
        assert double(2) == 4
        tracegrade.flush()

    assert tracegrade.failures()["export: the exporter failed"] == 4
    assert sum("spans are being lost" in line for line in caplog.messages) == 1


def test_broken_redact_hook_lets_nothing_out() -> None:
    """Where the user's rule fails, the text it was to clean does not leave."""

    def rule(key: str, text: str) -> str:
        if "private" in text:
            raise KeyError(key)
        return text.replace("bob", "***")

    exporter = InMemorySpanExporter()
    tracegrade.init(exporter=exporter, redact=rule)
    tracegrade.thought("private matters")
    tracegrade.thought("hello bob")
    tracegrade.flush()

    texts = [(span.attributes or {}) for span in exporter.get_finished_spans()]
    assert [it["tracegrade.thought.content"] for it in texts] == ["[redacted]", "hello ***"]
    assert texts[1]["tracegrade.redacted"] == ["tracegrade.thought.content"]
    assert tracegrade.failures() == {"redact=": 1}


def test_redact_hook_must_return_text() -> None:
    """A rule that returns nothing is a rule that failed."""
    exporter = InMemorySpanExporter()
    tracegrade.init(exporter=exporter, redact=lambda _key, _text: None)  # type: ignore[arg-type,return-value]
    tracegrade.thought("x")
    tracegrade.flush()

    (span,) = exporter.get_finished_spans()
    assert (span.attributes or {})["tracegrade.thought.content"] == "[redacted]"


def test_wrong_arguments_raise_what_they_would_without_us(spans: Spans) -> None:
    """A call that Python refuses is refused by Python."""
    with pytest.raises(TypeError, match="unexpected keyword"):
        double(count=1)  # type: ignore[call-arg]


def test_thing_that_cannot_be_wrapped_is_returned_as_it_is(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """`tool` never raises at import of the user's module."""

    class Strange:
        __name__ = property(lambda _: 1 / 0)

        def __call__(self) -> int:
            return 1

    strange = Strange()

    assert tracegrade.tool(strange)() == 1
    assert "tool failed" in caplog.text


def test_tool_object_of_a_framework_stays_one(caplog: pytest.LogCaptureFixture) -> None:
    """What cannot be called is given back, and where to put the decorator is said."""

    class StructuredTool:
        pass

    made = StructuredTool()

    assert tracegrade.tool(made) is made  # type: ignore[call-overload]
    assert "put @tracegrade.tool below what made it" in caplog.text


def test_result_of_a_strange_class_passes(spans: Spans) -> None:
    """An object that cannot even be asked for its class is returned."""

    class Strange:
        @property
        def __class__(self) -> type:
            raise KeyError

        @__class__.setter
        def __class__(self, _: type) -> None: ...

    strange = Strange()

    assert tracegrade.tool(lambda: strange)() is strange


def test_our_logger_speaks_of_no_content(spans: Spans, caplog: pytest.LogCaptureFixture) -> None:
    """In the common case there is nothing to say at all."""
    caplog.set_level(logging.DEBUG, logger="tracegrade")
    double(21)
    spans()

    assert [record for record in caplog.records if record.name == "tracegrade"] == []
    assert tracegrade.failures() == {}


class Failing(logging.Handler):
    """A handler of the host's that fails."""

    def emit(self, record: logging.LogRecord) -> None:
        """Fail."""
        raise LookupError(record)


def test_log_handler_of_the_host_that_fails_costs_the_line(spans: Spans) -> None:
    """What we say through the host's log must not end the call that it is about."""
    handler = Failing()
    logging.getLogger("tracegrade").addHandler(handler)
    try:
        tracegrade.agent_run("a", mode="odd")  # type: ignore[arg-type]
    finally:
        logging.getLogger("tracegrade").removeHandler(handler)

    assert tracegrade.failures() == {"mode=": 1}


def test_tool_that_is_called_with_no_stack_left_works_or_fails_as_without(spans: Spans) -> None:
    """What we would do needs more of it: that is left out, and counted."""

    def deeper(frames: int) -> int:
        return double(21) if frames == 0 else deeper(frames - 1)

    outcomes = []
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 120)
    try:
        for frames in range(60, 130):
            try:
                outcomes.append(deeper(frames))
            except RecursionError:
                outcomes.append(0)
    finally:
        sys.setrecursionlimit(limit)

    assert outcomes == sorted(outcomes, reverse=True)
    assert {0, 42} == set(outcomes)
    assert double(1) == 2
    assert otel_context.get_current() == {}
