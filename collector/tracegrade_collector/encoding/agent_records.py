"""Log records of coding agents → spans, so that a conversation without spans becomes a run.

Codex writes log records with or without spans, and Gemini CLI a trace for each model call. Their
records name the conversation. Each record of an event that `AGENTS` lists becomes a span with the
record's attributes, in a trace whose id is a digest of the conversation's. A dialect reads these
spans (`dialects/codex.sql`, `dialects/gemini_cli.sql`). Equal records give equal spans, so that
what is sent twice is stored once.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ResourceLogs, ScopeLogs
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tracegrade_collector.encoding.otlp import (
    NO_TRACE_ID,
    SPAN_ID_BYTES,
    Encoding,
    ExportRequest,
    Signal,
    count_items,
    decode,
    reject_invalid,
)

_NS_PER_MS: Final = 1_000_000
_DETAILS: Final = "gen_ai.client.inference.operation.details"

_CALLS: Final = {
    _DETAILS: {"gen_ai.response.finish_reasons"},
    "codex.sse_event": {"input_token_count", "error.message"},
}
"""Only records of a whole model call are read from these events: they have one of the keys."""


class Agent(NamedTuple):
    """A coding agent that writes log records."""

    prefix: str
    """The names of its events begin so, and that of the scope of its spans."""
    conversation: str
    """The attribute that names the conversation."""
    events: frozenset[str]
    """Names of the events that become spans."""
    scope: str = ""
    """Name of the scope, if the names of the events do not suffice."""
    is_in_spans: bool = False
    """Whether the agent's spans hold its records, if the records name a trace."""

    @property
    def scope_of_spans(self) -> str:
        """The name of the scope of the spans that are made of its records."""
        return f"{self.prefix}records"


AGENTS: Final = (
    Agent(
        prefix="codex.",
        conversation="conversation.id",
        events=frozenset({"codex.user_prompt", "codex.sse_event", "codex.tool_result"}),
        is_in_spans=True,
    ),
    Agent(
        prefix="gemini_cli.",
        conversation="session.id",
        events=frozenset(
            {
                "gemini_cli.user_prompt",
                "gemini_cli.api_response",
                "gemini_cli.api_error",
                "gemini_cli.tool_call",
                _DETAILS,
            }
        ),
        scope="gemini-cli",
    ),
)


def may_hold_records(body: bytes) -> bool:
    """Return whether a logs request may hold records of such an agent."""
    return any(agent.prefix.encode() in body for agent in AGENTS)


def spans_in_records(body: bytes, encoding: Encoding) -> tuple[bytes, int] | None:
    """Return the spans of the records in a logs request, as protobuf, and their number.

    Raises:
        MalformedRequest: It is not a logs request.
    """
    request = decode(body, Signal.LOGS, encoding)
    reject_invalid(request)
    made = spans_of_agents(request)
    return (made.SerializeToString(), count_items(made)) if made else None


def spans_of_agents(request: ExportRequest) -> ExportTraceServiceRequest | None:
    """Return the spans of the records of agents in a logs request; None without any."""
    if not isinstance(request, ExportLogsServiceRequest):
        return None
    made = ExportTraceServiceRequest()
    for resource_logs in request.resource_logs:
        for scope_logs in resource_logs.scope_logs:
            for agent in AGENTS:
                if spans := list(_spans(scope_logs, agent)):
                    _add(made, resource_logs, agent, spans)
    return made if made.resource_spans else None


def _add(
    made: ExportTraceServiceRequest, logs: ResourceLogs, agent: Agent, spans: Sequence[Span]
) -> None:
    found = made.resource_spans.add(resource=logs.resource, schema_url=logs.schema_url)
    scope_spans = found.scope_spans.add()
    scope_spans.scope.name = agent.scope_of_spans
    scope_spans.spans.extend(spans)


def _spans(scope_logs: ScopeLogs, agent: Agent) -> Iterator[Span]:
    """Yield the spans of an agent's records."""
    if agent.scope in ("", scope_logs.scope.name):
        found = (_span(record, agent) for record in scope_logs.log_records)
        yield from (span for span in found if span)


def _span(record: LogRecord, agent: Agent) -> Span | None:
    """Return the span of a record; None if it is of no event that becomes one."""
    values = {each.key: each.value for each in record.attributes}
    name = _text(values, "event.name") or record.event_name
    conversation = _text(values, agent.conversation)
    if name not in agent.events or not conversation:
        return None
    if name in _CALLS and not _CALLS[name] & values.keys():
        return None
    if agent.is_in_spans and record.trace_id.strip(NO_TRACE_ID[:1]):
        return None
    end = record.time_unix_nano or record.observed_time_unix_nano
    trace = _digest(f"{agent.prefix}{conversation}".encode())
    record_id = _digest(trace, record.SerializeToString(deterministic=True))
    return Span(
        trace_id=trace,
        span_id=record_id[:SPAN_ID_BYTES],
        name=name,
        start_time_unix_nano=max(end - _duration_ns(values), 0),
        end_time_unix_nano=end,
        attributes=record.attributes,
    )


def _text(values: Mapping[str, AnyValue], key: str) -> str:
    """Return the text of an attribute; '' if it is missing or no text."""
    return values[key].string_value if key in values else ""


def _duration_ns(values: Mapping[str, AnyValue]) -> int:
    """Return the length of what a record reports; 0 if it states none."""
    value = values.get("duration_ms")
    if value is None:
        return 0
    if value.string_value.isascii() and value.string_value.isdigit():
        return int(value.string_value[:15]) * _NS_PER_MS
    milliseconds = value.int_value or value.double_value
    return int(milliseconds * _NS_PER_MS) if 0 < milliseconds < 1e15 else 0


def _digest(*parts: bytes) -> bytes:
    """Return a digest as an id; `new_logs.sql` makes that of a conversation, too."""
    return hashlib.md5(b"".join(parts), usedforsecurity=False).digest()
