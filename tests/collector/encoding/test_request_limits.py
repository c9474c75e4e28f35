"""What a request holds is counted right before it is decoded, and never further than it may."""

import json

import pytest
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.collector.otlp_samples import log_requests, span_requests

from tracegrade_collector.encoding import otlp
from tracegrade_collector.encoding.otlp import Encoding, Signal
from tracegrade_collector.encoding.otlp_json import write_json
from tracegrade_collector.encoding.request_limits import (
    ITEMS,
    RequestLimits,
    check_limits,
    count_messages,
    messages_of,
)
from tracegrade_collector.errors import TooLarge
from tracegrade_collector.receive.accept_request import decode

from .wire_bytes import field

MILLION = 1_000_000
DEFAULT = RequestLimits(250_000, 2 * MILLION)


def messages(message: Message) -> int:
    """Return how many messages are in a message, at any depth."""
    found = 0
    for descriptor, value in message.ListFields():
        if descriptor.message_type:
            inner = value if descriptor.is_repeated else [value]
            found += sum(1 + messages(each) for each in inner)
    return found


def items(request: ExportTraceServiceRequest | ExportLogsServiceRequest) -> int:
    """Return how many resources, scopes and items are in a request."""
    if isinstance(request, ExportTraceServiceRequest):
        return sum(
            1 + sum(1 + len(scope.spans) for scope in resource.scope_spans)
            for resource in request.resource_spans
        )
    return sum(
        1 + sum(1 + len(scope.log_records) for scope in resource.scope_logs)
        for resource in request.resource_logs
    )


@given(span_requests | log_requests)
@settings(max_examples=15)
def test_count_is_that_of_the_decoded_request(
    request: ExportTraceServiceRequest | ExportLogsServiceRequest,
) -> None:
    """Stepping over the bytes finds what decoding finds."""
    body = request.SerializeToString()

    assert count_messages(body, ITEMS) == items(request)
    assert count_messages(body, messages_of(request.DESCRIPTOR)) == messages(request)


@given(st.binary(max_size=200) | span_requests.map(lambda request: request.SerializeToString()))
@settings(max_examples=25)
def test_any_bytes_can_be_counted(body: bytes) -> None:
    """What is malformed is left to the decoder, also when cut or with one byte changed."""
    small = RequestLimits(3, 3)
    for each in (body, body[:-1], body[: len(body) // 2], body + b"\x0a", b"\xff" + body):
        for encoding in Encoding:
            try:
                check_limits(each, Signal.TRACES, encoding, small)
            except TooLarge as error:
                assert "more than 3" in str(error)  # noqa: PT017 - either is right


def spans(count: int) -> bytes:
    """Return a request of so many empty spans."""
    return field(1, field(2, b"\x12\0" * count))


def attributes(count: int) -> bytes:
    """Return a request of one span with so many empty attributes."""
    return field(1, field(2, field(2, b"\x4a\0" * count)))


@pytest.mark.parametrize(
    ("body", "what"),
    [
        pytest.param(spans(MILLION), "spans", id="a million spans in 2 MB"),
        pytest.param(b"\x0a\0" * 5 * MILLION, "resources", id="5 million resources in 10 MB"),
        pytest.param(field(1, b"\x12\0" * MILLION), "scopes", id="a million scopes"),
        pytest.param(
            attributes(4 * MILLION),
            "attributes",
            id="4 million attributes",
            marks=pytest.mark.slow,
        ),
        pytest.param(b"\x8a\x00\0" * MILLION, "resources", id="padded tags"),
        pytest.param(b"\x0a\x80\x00" * MILLION, "resources", id="padded lengths"),
        pytest.param(b"\x0b\x0a\0\x0c" * MILLION, "resources", id="in groups"),
        pytest.param(b"\x18\0" * 5 * MILLION, "resources", id="unknown fields"),
    ],
)
def test_small_bodies_with_many_messages_are_refused(body: bytes, what: str) -> None:
    """However the bytes are written."""
    with pytest.raises(TooLarge, match=what):
        check_limits(body, Signal.TRACES, Encoding.PROTOBUF, DEFAULT)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"[" + b"[]," * MILLION * 2 + b"[]]", id="lists"),
        pytest.param(
            b'{"resourceSpans":[' + b"{}," * MILLION * 2 + b"{}]}",
            id="objects",
            marks=pytest.mark.slow,
        ),
        pytest.param(b"[" + b"1," * MILLION * 3 + b"1]", id="numbers", marks=pytest.mark.slow),
        pytest.param(b'{"a":"' + b'[\\",' * MILLION * 2 + b'"}' + b",[" * MILLION * 2, id="both"),
    ],
)
def test_json_with_many_values_is_refused(body: bytes) -> None:
    """Also where a string comes first that looks like them."""
    with pytest.raises(TooLarge, match="values"):
        check_limits(body, Signal.TRACES, Encoding.JSON, DEFAULT)


def test_json_inside_text_does_not_count() -> None:
    """Agents put JSON into attributes; only what is JSON itself counts."""
    text = json.dumps({"a": "[1,2,{" * MILLION}).encode()

    check_limits(text, Signal.TRACES, Encoding.JSON, DEFAULT)


def test_text_that_looks_like_fields_does_not_count() -> None:
    """A long text of the letters that stand for attributes on the wire is one value."""
    text = b"J" * 5 * MILLION
    body = field(1, field(2, field(2, field(9, field(1, b"k") + field(2, field(1, text))))))

    check_limits(body, Signal.TRACES, Encoding.PROTOBUF, DEFAULT)


@given(span_requests | log_requests, st.integers(0, 12))
@settings(max_examples=25)
def test_items_of_json_have_the_limit_of_protobuf(
    request: ExportTraceServiceRequest | ExportLogsServiceRequest, most: int
) -> None:
    """A request is refused in both encodings, or in none."""
    at_most = RequestLimits(most, MILLION)
    signal = Signal.TRACES if isinstance(request, ExportTraceServiceRequest) else Signal.LOGS
    bodies = {
        Encoding.PROTOBUF: request.SerializeToString(),
        Encoding.JSON: json.dumps(write_json(request)).encode(),
    }
    refused = set()
    for encoding, body in bodies.items():
        try:
            decode(body, signal, encoding, at_most)
        except TooLarge as error:
            refused.add(str(error))

    what = "resources, scopes and spans, log records or metrics"
    few = f"more than {most} {what}; send smaller batches"
    assert refused == ({f"the request holds {few}"} if items(request) > most else set())


def test_limit_itself_is_allowed() -> None:
    """Two messages enclose the spans; one more than the limit is too many."""
    at_most = RequestLimits(1000, 2000)
    check_limits(spans(998), Signal.TRACES, Encoding.PROTOBUF, at_most)

    with pytest.raises(TooLarge, match="more than 1000"):
        check_limits(spans(999), Signal.TRACES, Encoding.PROTOBUF, at_most)


@pytest.mark.parametrize(
    ("resources", "scopes", "spans", "is_few"),
    [(1, 1, 8, True), (1, 1, 10, False), (11, 0, 0, False), (1, 11, 0, False), (3, 1, 1, True)],
)
def test_few_parts_are_told_from_many(
    resources: int, scopes: int, spans: int, is_few: bool
) -> None:
    """Resources, scopes and spans count together; only few are checked at once."""
    request = ExportTraceServiceRequest()
    for _ in range(resources):
        resource = request.resource_spans.add()
        for _ in range(scopes):
            scope = resource.scope_spans.add()
            for _ in range(spans):
                scope.spans.add()

    assert otlp.holds_at_most(request, 10) is is_few


@pytest.mark.parametrize("encoding", Encoding)
def test_a_resource_that_items_repeat_too_often_is_refused(encoding: Encoding) -> None:
    """A megabyte in each of 600 rows is more than their columns should hold; in 500 it is not."""
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    group.resource.attributes.add(key="process.command_line").value.string_value = "x" * (1 << 20)
    spans = group.scope_spans.add().spans

    def body(count: int) -> bytes:
        del spans[:]
        for number in range(1, count + 1):
            spans.add(trace_id=b"t" * 16, span_id=number.to_bytes(8))
        text = json.dumps(write_json(request)).encode()
        return text if encoding is Encoding.JSON else request.SerializeToString()

    assert otlp.count_items(decode(body(500), Signal.TRACES, encoding, DEFAULT).request) == 500
    with pytest.raises(TooLarge, match="repeats its resource and scope, here 62"):
        decode(body(600), Signal.TRACES, encoding, DEFAULT)
