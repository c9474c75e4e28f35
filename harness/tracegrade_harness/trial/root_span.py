"""What the harness itself sends of runs that are killed on purpose, which are no attempts.

A span below the root says so as soon as the run starts (docs/metrics.md, section 6.1): the same
agent once more, which adds no step. The root span is sent in the agent's place, which could not
end it: without it, the run would have no name and no task, and would be waited for.
"""

import secrets
import time
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from tracegrade import names
from tracegrade.otlp import HttpExporter
from tracegrade.state import VERSION
from tracegrade_harness.doors.otlp_relay import Endpoint
from tracegrade_harness.errors import EnvironmentFailed

SCOPE: Final = "tracegrade.harness"
"""Of spans that the harness itself sends; injections are believed from no other."""


class RootSpan(NamedTuple):
    """The agent span that a run is, as its agent started it."""

    trace_id: str
    """32 lower-case hex digits."""
    span_id: str
    """16 lower-case hex digits."""
    name: str
    attributes: Mapping[str, Any]
    start_ns: int
    parent_id: str | None = None
    """NULL for a root of its trace."""

    @property
    def trajectory_id(self) -> str:
        """The id of the trajectory that it is the root of."""
        return f"{self.trace_id}-{self.span_id}"


def send_mark(
    collector: Endpoint, root: RootSpan, injection: str, resource: Mapping[str, str]
) -> None:
    """Send a span that says of a run that started just now that it is to be killed.

    Args:
        collector: Where it is sent.
        root: The run's root span.
        injection: early | mid | late.
        resource: What the agent's spans say of where they come from.

    Raises:
        EnvironmentFailed: The collector did not take it.
    """
    inside = root._replace(span_id=secrets.token_hex(8), parent_id=root.span_id)
    _send(collector, _ended(inside, injection, resource), f"mark of {root.trajectory_id}")


def send_root(
    collector: Endpoint, root: RootSpan, injection: str, resource: Mapping[str, str]
) -> None:
    """Send the root span of a run that was killed just now.

    Args:
        collector: Where it is sent.
        root: The span.
        injection: early | mid | late, or recovery for the run of a recovery command.
        resource: What the agent's spans say of where they come from.

    Raises:
        EnvironmentFailed: The collector did not take it.
    """
    _send(collector, _ended(root, injection, resource), f"root span of {root.trajectory_id}")


def _send(collector: Endpoint, span: ReadableSpan, what: str) -> None:
    address, headers = collector
    exporter = HttpExporter(endpoint=f"{address}/v1/traces", headers=dict(headers))
    try:
        sent = exporter.export([span])
    finally:
        exporter.shutdown()  # type: ignore[no-untyped-call]
    if sent is not SpanExportResult.SUCCESS:
        msg = f"the collector at {address} did not take the {what}; see the collector's log"
        raise EnvironmentFailed(msg)


def _ended(root: RootSpan, injection: str, resource: Mapping[str, str]) -> ReadableSpan:
    return ReadableSpan(
        name=root.name,
        context=_context(root.trace_id, root.span_id),
        parent=_context(root.trace_id, root.parent_id) if root.parent_id else None,
        resource=Resource(dict(resource)),
        attributes={**root.attributes, names.INJECTION: injection},
        kind=SpanKind.INTERNAL,
        instrumentation_scope=InstrumentationScope(SCOPE, VERSION),
        status=Status(StatusCode.ERROR, "killed by the harness"),
        start_time=root.start_ns,
        end_time=time.time_ns(),
    )


def _context(trace_id: str, span_id: str) -> SpanContext:
    sampled = TraceFlags(TraceFlags.SAMPLED)
    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=False, trace_flags=sampled)
