"""Spans that the harness writes, and sends to the collector without the relay."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, TraceFlags

from tracegrade.sending.otlp import HttpExporter
from tracegrade.state import VERSION
from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.telemetry.relay import Endpoint

SCOPE: Final = "tracegrade.harness"
"""Scope of spans that the harness itself sends; only this scope may set kill points."""


class HarnessSpan(NamedTuple):
    """A span that has ended."""

    trace_id: str
    """32 lower-case hex digits."""
    span_id: str
    """16 lower-case hex digits."""
    parent_id: str | None
    """NULL for the root of its trace."""
    name: str
    attributes: Mapping[str, Any]
    start_ns: int
    end_ns: int
    status: Status


def send_spans(
    collector: Endpoint, spans: Sequence[HarnessSpan], resource: Mapping[str, str], what: str
) -> None:
    """Send spans.

    Args:
        collector: The collector that receives them.
        spans: The spans.
        resource: The attributes of their resource.
        what: Their name in an error.

    Raises:
        EnvironmentFailed: The collector did not take them.
    """
    address, headers = collector
    exporter = HttpExporter(endpoint=f"{address}/v1/traces", headers=dict(headers))
    source = Resource(dict(resource))
    try:
        sent = exporter.export([_readable(span, source) for span in spans])
    finally:
        exporter.shutdown()
    if sent is not SpanExportResult.SUCCESS:
        msg = f"the collector at {address} did not take the {what}; see the collector's log"
        raise EnvironmentFailed(msg)


def _readable(span: HarnessSpan, resource: Resource) -> ReadableSpan:
    return ReadableSpan(
        name=span.name,
        context=_context(span.trace_id, span.span_id),
        parent=_context(span.trace_id, span.parent_id) if span.parent_id else None,
        resource=resource,
        attributes=span.attributes,
        kind=SpanKind.INTERNAL,
        instrumentation_scope=InstrumentationScope(SCOPE, VERSION),
        status=span.status,
        start_time=span.start_ns,
        end_time=span.end_ns,
    )


def _context(trace_id: str, span_id: str) -> SpanContext:
    sampled = TraceFlags(TraceFlags.SAMPLED)
    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=False, trace_flags=sampled)
