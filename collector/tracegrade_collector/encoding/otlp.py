"""OTLP bytes to messages, and their checks by a receiver. Pure: no files, no network.

`decode` reads one request; `reject_invalid` then takes out the items whose ids break the data
model (specification: https://opentelemetry.io/docs/specs/otlp, trace.proto, logs.proto). The
functions are deterministic, so that the lander finds in the log of requests the same items and
rejections as the receiver.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from enum import StrEnum
from operator import attrgetter
from typing import Any, Final, NamedTuple, TypeAlias

from google.protobuf.internal.containers import RepeatedCompositeFieldContainer
from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ResourceLogs, ScopeLogs
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from tracegrade_collector.encoding.otlp_json import (
    INVALID_UNICODE,
    MAX_QUOTED_KEYS,
    JsonReading,
    read_json,
)
from tracegrade_collector.encoding.wire_texts import BadWire, Utf8Repair, WireRewriter
from tracegrade_collector.errors import MalformedRequest

ExportRequest: TypeAlias = ExportTraceServiceRequest | ExportLogsServiceRequest
OtlpItems: TypeAlias = RepeatedCompositeFieldContainer[Any]
"""Spans, or log records."""

TRACE_ID_BYTES = 16
SPAN_ID_BYTES = 8
NO_TRACE_ID = bytes(TRACE_ID_BYTES)
NO_SPAN_ID = bytes(SPAN_ID_BYTES)
_PARENTS = (0, SPAN_ID_BYTES)
_SPAN_IDS = attrgetter("trace_id", "span_id", "parent_span_id", "links")


class Signal(StrEnum):
    """The kind of items that a request carries."""

    TRACES = "traces"
    LOGS = "logs"


_REQUESTS: Final[dict[Signal, Callable[[], ExportRequest]]] = {
    Signal.TRACES: ExportTraceServiceRequest,
    Signal.LOGS: ExportLogsServiceRequest,
}


class Encoding(StrEnum):
    """The encoding of a request."""

    PROTOBUF = "protobuf"
    JSON = "json"


class Rejection(NamedTuple):
    """A reason for refusing items, and their count."""

    reason: str
    count: int  # type: ignore[assignment]  # tuple has an unused method of this name


class ScopeGroup(NamedTuple):
    """The spans, or log records, of one scope of one resource."""

    resource: ResourceSpans | ResourceLogs
    scope: ScopeSpans | ScopeLogs
    items: OtlpItems
    path: tuple[int, int]
    """The index of the resource in the request, and of the scope in the resource."""


class InvalidItem(NamedTuple):
    """A refused span or log record, and where it stands."""

    reason: str
    item: Span | LogRecord
    group: ScopeGroup
    position: int
    """In the group, before anything was taken out."""


class Decoded(NamedTuple):
    """A request, and notes on reading it."""

    request: ExportRequest
    reading: JsonReading


def decode(body: bytes, signal: Signal, encoding: Encoding) -> ExportRequest:
    """Return the request that these bytes are. No bytes at all are an empty request.

    Raises:
        MalformedRequest: They are not one; the message says where.
    """
    return read(body, signal, encoding).request


def read(body: bytes, signal: Signal, encoding: Encoding) -> Decoded:
    """Return the request that these bytes are, and which of its values had to be replaced.

    Raises:
        MalformedRequest: They are not one; the message says where.
    """
    request = empty_request(signal)
    if encoding is Encoding.JSON:
        return Decoded(request, read_json(body, request))
    try:
        request.ParseFromString(body)
        return Decoded(request, JsonReading(unknown=_unknown_fields(request)))
    except DecodeError as error:
        msg = f"{signal} request of {len(body)} bytes is not an OTLP protobuf message: {error}"
        try:
            return _repaired(body, signal)
        except (BadWire, DecodeError):
            raise MalformedRequest(msg) from error


def _repaired(body: bytes, signal: Signal) -> Decoded:
    """Read a request with texts that are not UTF-8, which the library refuses as a whole.

    Raises:
        BadWire: It is not a protobuf message.
        DecodeError: It has another fault, too.
    """
    request, repair = empty_request(signal), Utf8Repair()
    request.ParseFromString(WireRewriter(repair).rewritten(body, request.DESCRIPTOR))
    return Decoded(request, JsonReading(Counter({INVALID_UNICODE: repair.count})))


def _unknown_fields(request: ExportRequest) -> list[str]:
    """Return the fields of a request in which no resource is found."""
    if request.ListFields():
        return []
    fields = UnknownFieldSet(request)
    numbers = {fields[index].field_number for index in range(len(fields))}
    return [f"field {number}" for number in sorted(numbers)[:MAX_QUOTED_KEYS]]


def empty_request(signal: Signal) -> ExportRequest:
    """Return a request of this signal with nothing in it."""
    return _REQUESTS[signal]()


def groups(request: ExportRequest) -> Iterator[ScopeGroup]:
    """Yield the items of a request by resource and scope, in the order sent."""
    if isinstance(request, ExportTraceServiceRequest):
        for first, resource_spans in enumerate(request.resource_spans):
            for second, scope_spans in enumerate(resource_spans.scope_spans):
                yield ScopeGroup(resource_spans, scope_spans, scope_spans.spans, (first, second))
    else:
        for first, resource_logs in enumerate(request.resource_logs):
            for second, scope_logs in enumerate(resource_logs.scope_logs):
                yield ScopeGroup(
                    resource_logs, scope_logs, scope_logs.log_records, (first, second)
                )


def count_items(request: ExportRequest) -> int:
    """Return how many spans or log records a request holds."""
    return sum(len(group.items) for group in groups(request))


def holds_at_most(request: ExportRequest, count: int) -> bool:
    """Return whether it has so many resources, scopes and items together."""
    if isinstance(request, ExportTraceServiceRequest):
        count -= len(request.resource_spans)
    else:
        count -= len(request.resource_logs)
    if count < 0:
        return False
    for group in groups(request):
        count -= 1 + len(group.items)
        if count < 0:
            return False
    return True


def reject_invalid(request: ExportRequest) -> list[Rejection]:
    """Take the items with bad ids out of the request, in place; return counts, most first.

    Spans need a trace id of 16 bytes and a span id of 8, neither all zeros. A parent's, a link's
    or a log record's ids may be absent, but not of another length.
    """
    reasons: Counter[str] = Counter()
    for group in groups(request):
        if _are_valid(group.items):
            continue
        rejected = [reason for item in group.items if (reason := _fault(item))]
        if rejected:
            _drop_last(group.items, len(rejected))
            reasons.update(rejected)
    return [Rejection(reason, count) for reason, count in reasons.most_common()]


def _are_valid(items: OtlpItems) -> bool:
    """Return whether all items are plainly valid: `_fault` in one go, for the usual case."""
    if not items or not isinstance(items[0], Span):
        return False
    for trace_id, span_id, parent_span_id, links in map(_SPAN_IDS, items):
        if len(trace_id) != TRACE_ID_BYTES or len(span_id) != SPAN_ID_BYTES or len(links):
            return False
        if trace_id == NO_TRACE_ID or span_id == NO_SPAN_ID or len(parent_span_id) not in _PARENTS:
            return False
    return True


def _drop_last(items: OtlpItems, count: int) -> None:
    """Move invalid items to the end and drop them at once, which avoids quadratic time."""
    items.sort(key=lambda item: _fault(item) is not None)
    del items[-count:]


def invalid_items(request: ExportRequest) -> Iterator[InvalidItem]:
    """Yield what `reject_invalid` would take out, in the order received."""
    for group in groups(request):
        for position, item in enumerate(group.items):
            if reason := _fault(item):
                yield InvalidItem(reason, item, group, position)


def _fault(item: Span | LogRecord) -> str | None:
    return _span_fault(item) if isinstance(item, Span) else _log_fault(item)


def _span_fault(span: Span) -> str | None:
    if len(span.trace_id) != TRACE_ID_BYTES or span.trace_id == NO_TRACE_ID:
        return "trace_id must be 16 bytes, not all zero"
    if len(span.span_id) != SPAN_ID_BYTES or span.span_id == NO_SPAN_ID:
        return "span_id must be 8 bytes, not all zero"
    if len(span.parent_span_id) not in (0, SPAN_ID_BYTES):
        return "parent_span_id must be empty or 8 bytes"
    if not all(_may_be_ids(link.trace_id, link.span_id) for link in span.links):
        return "a link's trace_id must be empty or 16 bytes, its span_id empty or 8"
    return None


def _log_fault(record: LogRecord) -> str | None:
    if not _may_be_ids(record.trace_id, record.span_id):
        return "a log record's trace_id must be empty or 16 bytes, its span_id empty or 8"
    return None


def _may_be_ids(trace_id: bytes, span_id: bytes) -> bool:
    return len(trace_id) in (0, TRACE_ID_BYTES) and len(span_id) in (0, SPAN_ID_BYTES)
