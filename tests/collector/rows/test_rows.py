"""The fast way from bytes to rows says the same as the slow one, message by message."""

from collections.abc import Sequence
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from tests.collector import otlp_samples
from tests.examples import many

from tracegrade_collector.encoding.otlp import Encoding, Signal
from tracegrade_collector.errors import MalformedRequest
from tracegrade_collector.rows import row_loop
from tracegrade_collector.rows.item_columns import span_columns
from tracegrade_collector.rows.rows import Record, log_rows, span_rows
from tracegrade_collector.rows.wire import NonCanonicalBytes, item_columns, scope_blocks

RECEIVED_NS = 1_763_762_400_000_000_000


def records(bodies: Sequence[bytes], signal: Signal = Signal.TRACES) -> list[Record]:
    """Return bodies as requests that came in on two days."""
    return [
        Record(seq, RECEIVED_NS + seq * 10**13, signal, Encoding.PROTOBUF, "", body)
        for seq, body in enumerate(bodies, 1)
    ]


def same(fast: pa.Table, slow: pa.Table) -> bool:
    """Return whether two tables hold the same rows; says where not."""
    fast.validate(full=True)
    assert fast.schema == slow.schema
    for name in slow.column_names:
        assert fast[name].to_pylist() == slow[name].to_pylist(), name
    return True


@settings(max_examples=many(12))
@given(st.lists(otlp_samples.span_requests, max_size=3))
def test_spans_become_the_rows_of_the_slow_way(sent: list[ExportTraceServiceRequest]) -> None:
    """All columns of requests together: holes, equal keys, every kind of value, all extremes."""
    given_ = records([each.SerializeToString() for each in sent])

    assert same(span_rows(given_, "c"), row_loop.span_rows(given_, "c"))


@settings(max_examples=many(20))
@given(st.lists(otlp_samples.log_requests, max_size=3))
def test_log_records_become_the_rows_of_the_slow_way(sent: list[ExportLogsServiceRequest]) -> None:
    """As for spans; bodies too."""
    given_ = records([each.SerializeToString() for each in sent], Signal.LOGS)

    assert same(log_rows(given_, "c"), row_loop.log_rows(given_, "c"))


bad_ids = st.binary(max_size=17) | st.sampled_from([bytes(8), bytes(16), b"s" * 8, b"t" * 16])
spans_of_any_ids = st.builds(
    Span,
    trace_id=bad_ids,
    span_id=bad_ids,
    parent_span_id=bad_ids,
    links=st.lists(st.builds(Span.Link, trace_id=bad_ids, span_id=bad_ids), max_size=2),
)


@settings(max_examples=many(20))
@given(st.lists(spans_of_any_ids | otlp_samples.spans, max_size=5))
def test_refused_spans_have_no_rows(spans: list[Span]) -> None:
    """Spans with ids of a wrong length are left out, those beside them are not."""
    request = ExportTraceServiceRequest()
    request.resource_spans.add().scope_spans.add().spans.extend(spans)
    given_ = records([request.SerializeToString()])

    assert same(span_rows(given_, "c"), row_loop.span_rows(given_, "c"))


@settings(max_examples=many(20))
@given(st.integers(), otlp_samples.span_requests)
def test_strange_spelling_makes_no_difference(seed: int, sent: ExportTraceServiceRequest) -> None:
    """Fields in any order, twice, padded, or unknown are read as protobuf reads them.

    Only the hash is that of the bytes themselves.
    """
    body = respelled(Random(seed), sent)  # noqa: S311 - nothing secret
    try:
        ExportTraceServiceRequest.FromString(body)
    except DecodeError:
        return
    given_ = records([body, sent.SerializeToString()])
    fast, slow = (rows(given_, "c") for rows in (span_rows, row_loop.span_rows))

    assert same(fast.drop_columns("content_hash"), slow.drop_columns("content_hash"))


def respelled(random: Random, message: Message) -> bytes:
    """Return the message's bytes with its fields in another order, some twice, some unknown."""
    unknown = [b"\xfa\x3f\x01x", b"\xfb\x3f\x08\x01\xfc\x3f"]  # field 1023: text, and a group
    fields = random.choices([[], unknown[:1], unknown[1:]], [8, 1, 1])[0]
    for field, value in message.ListFields():
        fields = fields + [_field(random, message, field, each) for each in _values(field, value)]
    fields = fields + [each for each in fields if random.random() < 0.05]
    random.shuffle(fields)
    return b"".join(fields)


def _values(field: FieldDescriptor, value: Any) -> Any:
    return value if field.is_repeated else [value]


def _field(random: Random, message: Message, field: FieldDescriptor, value: Any) -> bytes:
    if field.message_type is None:
        alone = type(message)(**{field.name: [value] if field.is_repeated else value})
        return alone.SerializeToString()
    content = respelled(random, value)
    size = _varint(len(content))
    if random.random() < 0.1:
        size = size[:-1] + bytes([size[-1] | 128, 0])  # one byte more than needed
    return _varint(field.number << 3 | 2) + size + content


def _varint(number: int) -> bytes:
    low, rest = number & 127, number >> 7
    return bytes([low | 128]) + _varint(rest) if rest else bytes([low])


def test_a_value_set_twice_is_found() -> None:
    """The last one counts; such a request takes the slow way, those beside it do not."""
    twice = b"\x4a\x0d\x0a\x03key\x12\x06\x0a\x02up\x18\x05"
    ids = Span(trace_id=b"t" * 16, span_id=b"s" * 8).SerializeToString()
    body = _enclosed(_enclosed(_enclosed(ids + twice, 2), 2), 1)
    with pytest.raises(NonCanonicalBytes):
        span_columns(item_columns([body], Signal.TRACES))

    (row,) = span_rows(records([body]), "c").to_pylist()
    assert (row["attributes"], row["attribute_types"]) == ([("key", "5")], "i")


def test_a_resource_sent_in_two_pieces_is_whole() -> None:
    """Protobuf joins them; bytes that keep only the second would lose the first."""
    pieces = _enclosed(b"\x0a\x03\x0a\x01a", 1) + _enclosed(b"\x0a\x03\x0a\x01b", 1)
    spans = _enclosed(Span(trace_id=b"t" * 16, span_id=b"s" * 8).SerializeToString(), 2)
    body = _enclosed(pieces + _enclosed(spans, 2), 1)
    with pytest.raises(NonCanonicalBytes):
        list(scope_blocks(body, Signal.TRACES))

    (row,) = span_rows(records([body]), "c").to_pylist()
    assert row["resource_attributes"] == [("a", None), ("b", None)]


def _enclosed(content: bytes, number: int) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(content)) + content


@pytest.mark.parametrize("body", [b"\x0a\xff", b"\x0b", b"\x0a\x02\x12\x05"])
def test_bytes_that_are_no_request_are_told(body: bytes) -> None:
    """For damage in any part of the shell."""
    with pytest.raises(MalformedRequest, match="not an OTLP protobuf message"):
        span_rows(records([body]), "c")


def test_large_lots_keep_the_order() -> None:
    """Rows of more requests than one batch holds stand as they were sent."""
    bodies = []
    for number in range(40):
        request = ExportTraceServiceRequest()
        spans = request.resource_spans.add().scope_spans.add().spans
        spans.add(trace_id=b"t" * 16, span_id=b"s" * 8, name=f"{number}" + "x" * (1 << 20))
        bodies.append(request.SerializeToString())

    names = span_rows(records(bodies), "c")["name"].to_pylist()
    assert [name.strip("x") for name in names] == [f"{number}" for number in range(40)]
