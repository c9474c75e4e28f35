"""All data received over OTLP can be restored exactly from the Parquet files."""

import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from google.protobuf import text_format
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.collector import otlp_samples
from tests.examples import many

from tracegrade_collector.encoding.otlp import Encoding, ExportRequest, Signal, decode
from tracegrade_collector.encoding.otlp_json import write_json
from tracegrade_collector.rows.otlp_messages import log_request, span_request
from tracegrade_collector.rows.rows import Record, log_rows, span_rows

NOW_NS = 1_763_676_000_000_000_000


def record(request: ExportRequest, signal: Signal) -> Record:
    """Return the request as the write-ahead log would hold it."""
    return Record(1, NOW_NS, signal, Encoding.PROTOBUF, "", request.SerializeToString())


def through_parquet(rows: pa.Table) -> list[dict[str, Any]]:
    """Return the rows as a reader of their file sees them."""
    file = io.BytesIO()
    pq.write_table(rows, file)
    found: list[dict[str, Any]] = pq.read_table(file).to_pylist()
    return found


def items(request: Any) -> list[list[str]]:
    """Return each span or log record with its resource and scope, as protobuf's own text.

    Text, because each NaN is equal there; it tells an absent message from an empty one.
    """
    found = []
    traces = isinstance(request, ExportTraceServiceRequest)
    for group in request.resource_spans if traces else request.resource_logs:
        for part in group.scope_spans if traces else group.scope_logs:
            shared = [_text(group, "resource"), group.schema_url, _text(part, "scope")]
            for item in part.spans if traces else part.log_records:
                found.append([*shared, part.schema_url, text_format.MessageToString(item)])
    return found


def _text(group: Any, name: str) -> str:
    message = getattr(group, name)
    return text_format.MessageToString(message) if group.HasField(name) else "absent"


@settings(max_examples=many(12))
@given(otlp_samples.span_requests)
def test_spans_come_back_as_they_were_sent(sent: ExportTraceServiceRequest) -> None:
    """Every field of every span survives rows and Parquet, with any values."""
    rows = span_rows([record(sent, Signal.TRACES)], "c1")

    assert items(span_request(through_parquet(rows))) == items(sent)


@settings(max_examples=many(20))
@given(otlp_samples.log_requests)
def test_log_records_come_back_as_they_were_sent(sent: ExportLogsServiceRequest) -> None:
    """Every field of every log record survives rows and Parquet, with any values."""
    rows = log_rows([record(sent, Signal.LOGS)], "c1")

    assert items(log_request(through_parquet(rows))) == items(sent)


@settings(max_examples=many(20))
@given(st.one_of(otlp_samples.span_requests, otlp_samples.log_requests))
def test_json_says_what_protobuf_says(sent: ExportRequest) -> None:
    """A request written as OTLP/JSON reads back as the same request."""
    signal = Signal.TRACES if isinstance(sent, ExportTraceServiceRequest) else Signal.LOGS

    read = decode(json.dumps(write_json(sent)).encode(), signal, Encoding.JSON)

    assert text_format.MessageToString(read) == text_format.MessageToString(sent)


@settings(max_examples=many(10))
@given(otlp_samples.span_requests)
def test_content_hash_does_not_depend_on_the_encoding(sent: ExportTraceServiceRequest) -> None:
    """JSON or protobuf, first or sent again: the same span has the same hash."""
    first = record(sent, Signal.TRACES)
    body = json.dumps(write_json(decode(first.body, first.signal, first.encoding))).encode()

    again = first._replace(seq=2, encoding=Encoding.JSON, body=body)

    hashes = [span_rows([each], "c1")["content_hash"].to_pylist() for each in (first, again)]
    assert hashes[0] == hashes[1]
