"""What tests of bad inputs share: requests, and what a collector made of them."""

import json
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from tests.collector.running import Collector, landed
from tests.waiting import wait_until

LIMIT = 1 << 20
"""Bytes that a request may have."""

MILLION = 1_000_000
ids_from_here = iter(range(1000, MILLION))


def quarantined(collector: Collector) -> list[bytes]:
    """Return the contents of the quarantine."""
    return [file.read_bytes() for file in (collector.lake / "quarantine").glob("[!.]*")]


def rows_of(collector: Collector, *span_ids: int) -> list[dict[str, Any]]:
    """Return the rows of these spans once all have landed."""
    wanted = {f"{span_id:016x}" for span_id in span_ids}
    wait_until(lambda: wanted <= set(landed(collector.lake)["span_id"].to_pylist()))
    rows = landed(collector.lake)
    found: list[dict[str, Any]] = rows.filter(
        pc.is_in(rows["span_id"], pa.array(sorted(wanted)))
    ).to_pylist()
    return found


def sorted_rows(collector: Collector, *span_ids: int) -> list[dict[str, Any]]:
    """Return the rows of these spans by their id."""
    return sorted(rows_of(collector, *span_ids), key=lambda row: str(row["span_id"]))


def spans_of(request: ExportTraceServiceRequest) -> Any:
    """Return the spans of a request with one scope."""
    return request.resource_spans[0].scope_spans[0].spans


def only_span(request: ExportTraceServiceRequest) -> Span:
    """Return the span of a request with one."""
    (span,) = spans_of(request)
    assert isinstance(span, Span)
    return span


def json_spans(*spans: dict[str, object]) -> bytes:
    """Return a JSON request."""
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()


def json_span(span_id: int, **members: object) -> dict[str, object]:
    """Return a valid span in JSON."""
    return {"traceId": "0" * 31 + "1", "spanId": f"{span_id:016x}", **members}
