"""Spans as they leave: OTLP over loopback, our encoder against the SDK's, a collector down."""

import socket
import subprocess
import sys
import time
from collections.abc import Sequence

import pytest
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans as sdk_encode
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Link, SpanContext, SpanKind, StatusCode, TraceFlags, TraceState

import tracegrade
from tracegrade.sending import otlp
from tracegrade.sending.otlp import encode_spans

from ..conftest import Received, Spans

STATE = TraceState([("ot", "th:8"), ("a", "b")])
REMOTE = SpanContext(7, 8, is_remote=True, trace_flags=TraceFlags(1), trace_state=STATE)

CANARY = "sk-proj-CANARY0123456789abcdef"


def test_run_arrives_over_otlp(collector: Received, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real collector gets every span, the resource and the scope."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    tracegrade.init("shop", "1.4.2", "staging")
    add = tracegrade.tool(effect="read")(lambda a, b: a + b)
    with tracegrade.agent_run("support", task="t-1"):
        add(1, 2)
    tracegrade.flush()

    assert [span.name for span in collector.spans()] == [
        "execute_tool <lambda>",
        "observation",
        "invoke_agent support",
    ]
    resource = collector.resource()
    assert resource["service.name"] == "shop"
    assert resource["service.version"] == "1.4.2"
    assert resource["deployment.environment.name"] == "staging"
    call, observation, agent = collector.spans()
    assert observation.links[0].span_id == call.span_id
    assert {call.parent_span_id, observation.parent_span_id} == {agent.span_id}


def odd_spans() -> Sequence[ReadableSpan]:
    """Return spans with every field and type of value that OTLP has."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"a": 1, "b": ["x", "y"]}, "http://schema/1"))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    plain = provider.get_tracer("plain")
    tracer = provider.get_tracer("scope", "2.0", "http://schema/2", {"scope": True})
    inside = trace.set_span_in_context(trace.NonRecordingSpan(REMOTE))
    with tracer.start_as_current_span("root", inside, SpanKind.SERVER) as root:
        root.set_attributes({"s": "é", "b": True, "one": 1, "i": -5, "f": 0.5, "y": b"\x00"})
        root.set_attributes(
            {"l": [1, "x", None, [2.5]], "m": {"k": {"n": 1}}, "empty": [], "none": None}
        )
        root.add_event("event", {"b": False}, timestamp=17)
        root.add_link(REMOTE, {"why": "because"})
        root.set_status(StatusCode.ERROR, "broken")
        for kind in SpanKind:
            plain.start_span("child", kind=kind, links=[Link(REMOTE)]).end()
    with plain.start_as_current_span("full") as full:
        for number in range(200):
            full.set_attribute(f"key-{number}", number)
            full.add_event("event")
        full.set_status(StatusCode.OK)
    return exporter.get_finished_spans()


def test_our_encoder_says_what_the_sdks_says() -> None:
    """Every field of every span, in the same groups and order; also the second time."""
    spans = odd_spans()
    expected = sdk_encode(spans)

    assert ExportTraceServiceRequest.FromString(encode_spans(spans)) == expected
    assert ExportTraceServiceRequest.FromString(encode_spans(spans)) == expected


def test_value_that_cannot_be_sent_costs_only_itself() -> None:
    """An integer beyond 64 bits, or half a character, leaves its span and its batch unharmed."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    span = provider.get_tracer("x").start_span("s")
    span.set_attributes({"big": 2**64, "fine": "x", "surrogate": "\ud800"})
    span.end()
    request = ExportTraceServiceRequest.FromString(encode_spans(exporter.get_finished_spans()))

    (sent,) = request.resource_spans[0].scope_spans[0].spans
    texts = {item.key: item.value.string_value for item in sent.attributes}
    assert (texts["fine"], texts["surrogate"]) == ("x", "\ufffd")
    assert tracegrade.failures() == {
        "otlp: a value that cannot be sent": 1,
        "texts with half characters": 1,
    }


def test_batch_that_is_too_large_for_one_request_is_sent_in_parts(
    collector: Received, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Receivers refuse a request beyond 64 MiB as a whole."""
    monkeypatch.setattr(otlp, "MAX_REQUEST_BYTES", 1000)
    exporter = otlp.HttpExporter(endpoint=f"{collector.url}/v1/traces")
    result = exporter.export(odd_spans())

    assert result is SpanExportResult.SUCCESS
    assert len(collector.requests) > 1
    assert len(collector.spans()) == len(odd_spans())


def test_secret_in_a_third_party_span_does_not_leave(spans: Spans) -> None:
    """Attributes at any depth, events, links and the status of others' spans are cleaned."""
    with tracegrade.agent_run("a"):
        span = trace.get_tracer("openai").start_span("chat")
        span.set_attributes({"input.value": CANARY, "stop": [CANARY, "b"], "model": "m-1"})
        span.set_attribute("request", {"headers": [{"x-api-key": "short", "to": CANARY}]})
        span.add_event("log", {"body": CANARY})
        span.add_link(REMOTE, {"why": CANARY})
        span.set_status(StatusCode.ERROR, f"bad key {CANARY}")
        span.end()

    chat = spans()[1]
    assert CANARY not in str(chat.to_json())
    attributes = chat.attributes or {}
    assert attributes["stop"] == ("[redacted:api_key]", "b")
    assert attributes["model"] == "m-1"
    headers = {"x-api-key": "[redacted:named]", "to": "[redacted:api_key]"}
    assert attributes["request"] == {"headers": (headers,)}
    assert attributes["tracegrade.redacted"] == ["input.value", "stop", "request"]


def test_third_party_content_stays_in_without_content(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Texts are removed under every key; names, definitions of tools and numbers stay."""
    monkeypatch.setenv("TRACEGRADE_CONTENT", "none")
    spans: Spans = request.getfixturevalue("spans")
    with tracegrade.agent_run("a"):
        span = trace.get_tracer("openai").start_span("chat")
        span.set_attributes(
            {
                "llm.input_messages.0.message.content": "hi",
                "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "search",
                "gen_ai.input.messages": "hi",
                "next.years.framework": [{"says": "hi"}],
                "gen_ai.tool.definitions": "[]",
                "gen_ai.usage.input_tokens": 3,
                "scores": [0.5, 1],
            }
        )
        span.add_event("gen_ai.user.message", {"content": "hi"})
        span.record_exception(ValueError("hi"))
        span.end()

    chat = spans()[1]
    kept = {key for key in chat.attributes or {} if not key.startswith("tracegrade.")}
    assert kept == {
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name",
        "gen_ai.tool.definitions",
        "gen_ai.usage.input_tokens",
        "scores",
    }
    message, exception = chat.events
    assert not message.attributes
    assert set(exception.attributes or {}) == {"exception.type", "exception.escaped"}


def test_more_attributes_than_the_sdk_keeps_are_kept(spans: Spans) -> None:
    """The SDK's 128 would evict the oldest, which is where a conversation begins."""
    span = trace.get_tracer("openai").start_span("chat")
    span.set_attributes({f"llm.input_messages.{n}": "x" for n in range(1000)})
    span.end()

    assert len(spans()[0].attributes or {}) == 1000
    assert spans()[0].dropped_attributes == 0


DOWN = """
import tracegrade
tracegrade.init(service="lonely")
@tracegrade.tool
def double(n): return 2 * n
with tracegrade.agent_run("a"):
    assert [double(n) for n in range(3000)][-1] == 5998
"""


def test_collector_that_is_down_costs_one_retry_and_one_line() -> None:
    """The end of the program waits for no more: the exporter alone would try for a minute."""
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", DOWN], env=environment, capture_output=True, text=True, check=True
    )

    assert time.monotonic() - start < 45
    (line,) = done.stderr.splitlines()
    assert line == "tracegrade: 6001 spans were lost: no answer (6001)"


def test_flush_waits_no_longer_than_it_is_asked_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """A collector that takes connections and never answers does not hold the agent."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "60")
        tracegrade.init(service="x")
        tracegrade.thought("x")
        start = time.monotonic()
        tracegrade.flush(timeout_secs=0.1)

        assert time.monotonic() - start < 30


def test_other_users_of_the_exporter_keep_their_complaints(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """We silence our own sending, not the SDK's exporter as such."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    tracegrade.init(service="x")
    OTLPSpanExporter(timeout=0.1).export(odd_spans())

    assert any("export" in line for line in caplog.messages)
