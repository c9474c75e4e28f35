"""OTLP bytes to messages, and what a receiver refuses in them. Pure: no files, no network.

`decode` reads one request; `reject_invalid` then takes out the items whose ids break the data
model (specification: https://opentelemetry.io/docs/specs/otlp, trace.proto, logs.proto). Both are
deterministic, so that the lander finds in the log of requests what the receiver answered for.
"""

from collections import Counter
from collections.abc import Callable, Iterator, MutableSequence
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias, TypeVar

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tracegrade_collector.errors import MalformedRequest
from tracegrade_collector.otlp_json import read_json

Request: TypeAlias = ExportTraceServiceRequest | ExportLogsServiceRequest
Item = TypeVar("Item", Span, LogRecord)

TRACE_ID_BYTES = 16
SPAN_ID_BYTES = 8
NO_TRACE_ID = bytes(TRACE_ID_BYTES)
NO_SPAN_ID = bytes(SPAN_ID_BYTES)


class Signal(StrEnum):
    """What a request carries."""

    TRACES = "traces"
    LOGS = "logs"


_REQUESTS: Final[dict[Signal, Callable[[], Request]]] = {
    Signal.TRACES: ExportTraceServiceRequest,
    Signal.LOGS: ExportLogsServiceRequest,
}


class Encoding(StrEnum):
    """How a request is written."""

    PROTOBUF = "protobuf"
    JSON = "json"


class Rejection(NamedTuple):
    """How many items were refused for one reason."""

    reason: str
    count: int  # type: ignore[assignment]  # tuple has a method of this name, which nobody needs


class InvalidItem(NamedTuple):
    """A refused span or log record, and what it belongs to."""

    reason: str
    item: Span | LogRecord
    scope: InstrumentationScope
    resource: Resource


def decode(body: bytes, signal: Signal, encoding: Encoding) -> Request:
    """Return the request that these bytes are. No bytes at all are an empty request.

    Raises:
        MalformedRequest: They are none; the text says where.
    """
    request = (
        ExportTraceServiceRequest() if signal is Signal.TRACES else ExportLogsServiceRequest()
    )
    if encoding is Encoding.JSON:
        read_json(body, request)
        return request
    try:
        request.ParseFromString(body)
    except DecodeError as error:
        msg = f"{signal} request of {len(body)} bytes is no OTLP protobuf message: {error}"
        raise MalformedRequest(msg) from error
    return request


def empty_request(signal: Signal) -> Request:
    """Return a request of this signal with nothing in it."""
    return _REQUESTS[signal]()


def items_of(request: Request) -> Iterator[Span | LogRecord]:
    """Yield the spans, or the log records, in the order sent."""
    if isinstance(request, ExportTraceServiceRequest):
        for resource_spans in request.resource_spans:
            for scope_spans in resource_spans.scope_spans:
                yield from scope_spans.spans
    else:
        for resource_logs in request.resource_logs:
            for scope_logs in resource_logs.scope_logs:
                yield from scope_logs.log_records


def reject_invalid(request: Request) -> list[Rejection]:
    """Take the items with bad ids out of the request, in place; return counts, most first.

    Spans need a trace id of 16 bytes and a span id of 8, neither all zeros. A parent's, a link's
    or a log record's ids may be absent, but not of another length.
    """
    reasons: Counter[str] = Counter()
    if isinstance(request, ExportTraceServiceRequest):
        for resource_spans in request.resource_spans:
            for scope_spans in resource_spans.scope_spans:
                reasons.update(_reject(scope_spans.spans, _span_fault))
    else:
        for resource_logs in request.resource_logs:
            for scope_logs in resource_logs.scope_logs:
                reasons.update(_reject(scope_logs.log_records, _log_fault))
    return [Rejection(reason, count) for reason, count in reasons.most_common()]


def invalid_items(request: Request) -> Iterator[InvalidItem]:
    """Return what `reject_invalid` would take out, in the order received."""
    if isinstance(request, ExportTraceServiceRequest):
        return (
            InvalidItem(reason, span, scope_spans.scope, resource_spans.resource)
            for resource_spans in request.resource_spans
            for scope_spans in resource_spans.scope_spans
            for span in scope_spans.spans
            if (reason := _span_fault(span))
        )
    return (
        InvalidItem(reason, record, scope_logs.scope, resource_logs.resource)
        for resource_logs in request.resource_logs
        for scope_logs in resource_logs.scope_logs
        for record in scope_logs.log_records
        if (reason := _log_fault(record))
    )


def _reject(items: MutableSequence[Item], fault: Callable[[Item], str | None]) -> list[str]:
    faults = [fault(item) for item in items]
    for index in reversed([index for index, reason in enumerate(faults) if reason]):
        del items[index]
    return [reason for reason in faults if reason]


def _span_fault(span: Span) -> str | None:
    if len(span.trace_id) != TRACE_ID_BYTES or span.trace_id == NO_TRACE_ID:
        return "trace_id is not 16 bytes with one that is not zero"
    if len(span.span_id) != SPAN_ID_BYTES or span.span_id == NO_SPAN_ID:
        return "span_id is not 8 bytes with one that is not zero"
    if len(span.parent_span_id) not in (0, SPAN_ID_BYTES):
        return "parent_span_id is neither empty nor 8 bytes"
    if not all(_may_be_ids(link.trace_id, link.span_id) for link in span.links):
        return "a link's trace_id or span_id is neither empty nor of its length"
    return None


def _log_fault(record: LogRecord) -> str | None:
    if not _may_be_ids(record.trace_id, record.span_id):
        return "trace_id or span_id of a log record is neither empty nor of its length"
    return None


def _may_be_ids(trace_id: bytes, span_id: bytes) -> bool:
    return len(trace_id) in (0, TRACE_ID_BYTES) and len(span_id) in (0, SPAN_ID_BYTES)
