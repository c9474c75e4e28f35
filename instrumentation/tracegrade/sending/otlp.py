"""OTLP over HTTP as the SDK's exporter sends it, encoded three times as fast.

Encoding runs in parallel to the agent under the same GIL, so its cost is the agent's cost. With
the SDK's own encoder it is more than half of a wrapped tool call (`make bench`). The SDK builds
each message on its own and copies it into the next larger one. Here messages are filled in place,
and a repeated attribute (operation, tool name, task) is built once. The bytes sent are the same.

Imported only when an exporter is made: protobuf and requests take longer to import than all of
tracegrade.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, SpanFlags, Status
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SpanMessage
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.trace import SpanContext

from tracegrade.guard import report
from tracegrade.sending.answers import http_answer
from tracegrade.sending.delivery import NO_ANSWER, Delivery, Fate, Reply, deliver
from tracegrade.whole_texts import whole_text

MAX_REQUEST_BYTES: Final = 60 * 1024**2  # receivers refuse all of a request beyond 64 MiB
FITTING_BYTES: Final = 3 * 1024**2  # of a request, when spans queue up: gRPC's default is 4 MiB
SMALLEST_BYTES: Final = 64 * 1024
USUAL_SPAN_BYTES: Final = 1024.0
_MAX_REPEATED: Final = 4096  # attributes kept built; a text longer than 64 characters is not
_LOCAL: Final = SpanFlags.SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK
_REMOTE: Final = _LOCAL | SpanFlags.SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK

_repeated: dict[tuple[str, str], KeyValue] = {}

Attributes = Mapping[str, Any] | None


class HttpExporter(OTLPSpanExporter):
    """The SDK's exporter over HTTP, with its settings and retries, and tracegrade's encoding.

    The SDK counts a redirect, a login page and rejected spans as sent; this exporter does not.
    """

    def __init__(
        self, endpoint: str | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        """Send to `endpoint` with these headers; without them, as the environment says."""
        super().__init__(endpoint=endpoint, headers=None if headers is None else dict(headers))
        self._answers: list[Reply] = []
        self._span_bytes = USUAL_SPAN_BYTES
        self._fitting_bytes = FITTING_BYTES
        client: Any = getattr(self, "_client", None)
        transport = getattr(client, "_transport", None)
        self._http: Any = getattr(transport or self, "_session", None)
        if self._http is not None:  # else an SDK that is built otherwise
            self._http.hooks["response"].append(self._hear)

    def _hear(self, response: Any, **_: Any) -> None:
        """Note the meaning of an answer, before the SDK decides whether to retry."""
        headers = response.headers
        answer = http_answer(
            response.status_code,
            response.content,
            headers.get("Content-Type", ""),
            headers.get("Location", ""),
        )
        self._answers.append(answer._replace(wait_secs=_seconds(headers.get("Retry-After", ""))))

    def shutdown(self) -> None:
        """Close the exporter and its connections, which urllib3 leaves open as a process ends."""
        for adapter in getattr(self._http, "adapters", {}).values():
            pools = adapter.poolmanager.pools
            for key in list(pools.keys()):
                pools[key].close()
        super().shutdown()  # type: ignore[no-untyped-call]  # the SDK's

    def batch_size(self) -> int:
        """Return how many spans like those sent before fit well into one request."""
        return max(1, int(self._fitting_bytes / self._span_bytes))

    def deliver(self, spans: Sequence[ReadableSpan]) -> Delivery:
        """Send a batch, and return its result."""
        return deliver(spans, self._send)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send one batch, and return whether all of it was accepted."""
        delivery = self.deliver(spans)
        all_taken = not delivery.waiting and not delivery.lost
        return SpanExportResult.SUCCESS if all_taken else SpanExportResult.FAILURE

    def _send(self, spans: Sequence[ReadableSpan]) -> Reply:
        self._answers.clear()
        client: Any = getattr(self, "_client", None)
        # An SDK with another structure encodes by itself, and so does a closed exporter.
        if not hasattr(client, "export") or getattr(self, "_shutdown", False):
            sent = super().export(spans) is SpanExportResult.SUCCESS
            return self._last_reply(sent)
        body = encode_spans(spans)
        self._span_bytes = max(1.0, len(body) / max(1, len(spans)))
        if len(body) > MAX_REQUEST_BYTES and len(spans) > 1:
            return Reply(Fate.TOO_LARGE)
        reply = self._last_reply(bool(getattr(client.export(body), "success", True)))
        if reply.fate is Fate.TOO_LARGE:
            self._fitting_bytes = max(SMALLEST_BYTES, min(self._fitting_bytes, len(body) // 2))
        return reply

    def _last_reply(self, sent: bool) -> Reply:
        """Return the last answer; the SDK's own result if there is none."""
        if self._answers:
            return self._answers[-1]
        return Reply(Fate.TAKEN) if sent else Reply(Fate.LATER, NO_ANSWER)


def _seconds(retry_after: str) -> float:
    """Return how long a Retry-After asks to wait; 0 for none, and for a date."""
    return float(retry_after) if retry_after.strip().isdecimal() else 0.0


def encode_spans(spans: Iterable[ReadableSpan]) -> bytes:
    """Return an ExportTraceServiceRequest in protobuf's binary form."""
    return build_request(spans).SerializePartialToString()


def build_request(spans: Iterable[ReadableSpan]) -> ExportTraceServiceRequest:
    """Return the request that sends spans."""
    request = ExportTraceServiceRequest()
    resources: dict[int, ResourceSpans] = {}
    scopes: dict[tuple[int, int], ScopeSpans] = {}
    for span in spans:
        resource, scope = span.resource, span.instrumentation_scope
        group = scopes.get((id(resource), id(scope)))
        if group is None:
            parent = resources.get(id(resource)) or _add_resource(request, span)
            resources[id(resource)] = parent
            group = scopes[id(resource), id(scope)] = _add_scope(parent, span)
        _add_span(group.spans, span)
    return request


def _add_resource(request: ExportTraceServiceRequest, span: ReadableSpan) -> ResourceSpans:
    added = request.resource_spans.add(schema_url=whole_text(span.resource.schema_url))
    added.resource.SetInParent()
    _add_attributes(added.resource.attributes, span.resource.attributes)
    return added


def _add_scope(parent: ResourceSpans, span: ReadableSpan) -> ScopeSpans:
    added = parent.scope_spans.add()
    added.scope.SetInParent()
    scope = span.instrumentation_scope
    if scope is not None:
        added.schema_url = whole_text(scope.schema_url or "")
        added.scope.name = whole_text(scope.name)
        added.scope.version = whole_text(scope.version or "")
        _add_attributes(added.scope.attributes, scope.attributes)
    return added


def _add_span(spans: Any, span: ReadableSpan) -> None:
    context, parent = span.get_span_context(), span.parent
    if context is None:
        return
    added: SpanMessage = spans.add(
        trace_id=context.trace_id.to_bytes(16, "big"),
        span_id=context.span_id.to_bytes(8, "big"),
        trace_state=context.trace_state.to_header() if context.trace_state else "",
        parent_span_id=parent.span_id.to_bytes(8, "big") if parent else b"",
        name=whole_text(span.name),
        kind=span.kind.value + 1,  # protobuf's 0 is "unspecified"
        start_time_unix_nano=span.start_time,
        end_time_unix_nano=span.end_time,
        dropped_attributes_count=span.dropped_attributes,
        dropped_events_count=span.dropped_events,
        dropped_links_count=span.dropped_links,
        flags=_flags(parent),
        status=_status(span),
    )
    _add_attributes(added.attributes, span.attributes)
    if span.events or span.links:
        _add_events_and_links(added, span)


def _status(span: ReadableSpan) -> Status:
    status = span.status
    text = status.description
    message = None if text is None else whole_text(text)
    return Status(code=status.status_code.value, message=message)  # type: ignore[arg-type]


def _add_events_and_links(added: SpanMessage, span: ReadableSpan) -> None:
    for event in span.events:
        message = added.events.add(name=whole_text(event.name), time_unix_nano=event.timestamp)
        message.dropped_attributes_count = event.dropped_attributes
        _add_attributes(message.attributes, event.attributes)
    for link in span.links:
        other = added.links.add(
            trace_id=link.context.trace_id.to_bytes(16, "big"),
            span_id=link.context.span_id.to_bytes(8, "big"),
            dropped_attributes_count=link.dropped_attributes,
            flags=_flags(link.context),
        )
        _add_attributes(other.attributes, link.attributes)


def _flags(context: SpanContext | None) -> int:
    return _REMOTE if context and context.is_remote else _LOCAL


def _add_attributes(added: Any, attributes: Attributes) -> None:
    if not attributes:
        return
    for key, value in attributes.items():
        known = _repeated.get((key, value)) if type(value) is str else None
        if known is not None:
            added.append(known)
            continue
        message = added.add(key=whole_text(key))
        try:
            _set_value(message.value, value)
        except Exception as error:  # noqa: BLE001 - one value that protobuf refuses costs only itself
            report("otlp: a value that cannot be sent", error)
        if type(value) is str and len(value) <= 64:
            _remember(key, value, message)


def _remember(key: str, value: str, message: KeyValue) -> None:
    if len(_repeated) >= _MAX_REPEATED:
        _repeated.clear()
    _repeated[key, value] = KeyValue(key=key, value=message.value)


def _set_value(message: AnyValue, value: object) -> None:
    if isinstance(value, str):
        try:
            message.string_value = value
        except UnicodeEncodeError:
            message.string_value = whole_text(value)
    elif isinstance(value, bool):
        message.bool_value = value
    elif isinstance(value, int):
        message.int_value = value
    elif isinstance(value, float):
        message.double_value = value
    elif isinstance(value, bytes):
        message.bytes_value = value
    elif value is None:
        message.SetInParent()  # an empty value, which is not the same as no value
    else:
        _set_nested(message, value)


def _set_nested(message: AnyValue, value: object) -> None:
    if isinstance(value, Mapping):
        message.kvlist_value.SetInParent()
        for key, item in value.items():
            _set_value(message.kvlist_value.values.add(key=whole_text(str(key))).value, item)
    elif isinstance(value, Sequence):
        message.array_value.SetInParent()
        for item in value:
            _set_value(message.array_value.values.add(), item)
