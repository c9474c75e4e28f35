"""Spans of another tool's own form → spans of the GenAI conventions.

Weave, Opik, Braintrust and Datadog keep a span's input and output as JSON, with a kind that tells
models, tools and agents apart. Each format fills a `PeerSpan`; a span without a parent is the run
if it is neither a model's nor a tool's.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from tracegrade import names
from tracegrade_collector.importing.import_part import ImportPart
from tracegrade_collector.importing.mapping import MAX_KEY
from tracegrade_collector.importing.message_shapes import (
    read_chat_content,
    unpacked,
    unpacked_arguments,
)
from tracegrade_collector.importing.records import TOO_DEEP
from tracegrade_collector.importing.scores import COST
from tracegrade_collector.importing.span_parts import (
    add_attributes,
    as_json,
    one_scope,
    part_of,
    search_attributes,
    span_id_of,
    trace_id_of,
)
from tracegrade_collector.importing.tables import time_ns
from tracegrade_collector.importing.trajectory import SCOPE

MODEL: Final = "chat"
RETRIEVAL: Final = "retrieval"
EMBEDDING: Final = "embeddings"

_EMPTY: Final[tuple[Any, ...]] = (None, "", [], {}, 0, False)


@dataclass(frozen=True)
class PeerSpan:
    """A span in the words of the GenAI conventions."""

    format: str
    trace: Any
    id: Any
    parent: Any = None
    name: str = ""
    operation: str | None = None
    """Name in the conventions; None for steps of the program itself."""

    start: Any = None
    end: Any = None
    input: Any = None
    output: Any = None
    error: Any = None
    """The failure in the tool's words; None without one."""

    failed: bool = False
    """Whether it failed, if there are no words."""

    model: Any = None
    usage: Mapping[str, int] = field(default_factory=dict)
    tools: Any = None
    """List of offered tools, next to the input."""

    cost_usd: Any = None
    conversation: Any = None
    resource: Mapping[str, Any] = field(default_factory=dict)
    """Name and version of the program."""


def part_of_spans(location: str, spans: Iterable[PeerSpan], ignored: Counter[str]) -> ImportPart:
    """Return the part that these spans of one program are; a fault if they are too deep."""
    written, resource = [], dict[str, Any]()
    try:
        for span in spans:
            resource |= {key: value for key, value in span.resource.items() if value}
            written.append(span_of(span, ignored))
    except RecursionError:
        return ImportPart(location, fault=TOO_DEEP)
    return part_of(location, one_scope(written, resource, SCOPE), +ignored)


def span_of(found: PeerSpan, ignored: Counter[str]) -> Span:
    """Return the span; `ignored` counts parts of messages that are not understood."""
    start = time_ns(found.start)
    span = Span(
        trace_id=trace_id_of(found.format, found.trace),
        span_id=span_id_of(found.format, found.id),
        name=found.name,
        start_time_unix_nano=start,
        end_time_unix_nano=time_ns(found.end) or start,
    )
    if found.parent:
        span.parent_span_id = span_id_of(found.format, found.parent)
    if found.error or found.failed:
        span.status.code = Status.STATUS_CODE_ERROR
        span.status.message = as_json(found.error or "")
    add_attributes(span.attributes, _attributes(found, ignored))
    return span


def _attributes(found: PeerSpan, ignored: Counter[str]) -> dict[str, Any]:
    operation = found.operation or (None if found.parent else names.INVOKE_AGENT)
    attributes: dict[str, Any] = {names.OPERATION_NAME: operation}
    if not found.parent:
        attributes[names.CONVERSATION_ID] = found.conversation
        attributes[names.IMPORT_FORMAT] = found.format
    if operation == names.EXECUTE_TOOL:
        return attributes | _of_tool(found)
    if operation == RETRIEVAL:
        return attributes | search_attributes(unpacked(found.input), found.output)
    if operation in (names.INVOKE_AGENT, MODEL):
        attributes |= _messages(found, ignored)
    if found.operation == names.INVOKE_AGENT:
        attributes[names.AGENT_NAME] = found.name or None
    if operation == MODEL:
        model = found.model if isinstance(found.model, str) else None
        attributes |= {"gen_ai.request.model": model or None, **found.usage}
        attributes[COST] = _cost(found.cost_usd)
    return attributes


def _of_tool(found: PeerSpan) -> dict[str, Any]:
    arguments, output = unpacked_arguments(found.input), unpacked(found.output)
    result = output.get("output", output) if isinstance(output, dict) else output
    message = result if isinstance(result, dict) else {}
    is_answer = "tool" in (message.get("type"), message.get("role"))
    if is_answer:
        result = message.get("content")
    return {
        names.TOOL_NAME: found.name,
        names.TOOL_CALL_ID: message.get("tool_call_id") if is_answer else None,
        names.TOOL_CALL_ARGUMENTS: None if arguments is None else as_json(arguments),
        names.TOOL_CALL_RESULT: None if result is None else as_json(result),
        names.ERROR_TYPE: "tool_error" if message.get("status") == "error" else None,
    }


def _messages(found: PeerSpan, ignored: Counter[str]) -> dict[str, Any]:
    given = read_chat_content(found.input, "user", ignored)
    output = read_chat_content(found.output, "assistant", ignored)
    tools = found.tools or given.tools
    return {
        names.INPUT_MESSAGES: as_json(given.messages) if given.messages else None,
        names.OUTPUT_MESSAGES: as_json(output.messages) if output.messages else None,
        names.TOOL_DEFINITIONS: as_json(tools) if tools else None,
    }


def _cost(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and value >= 0 else None


def as_unpacked_object(value: Any) -> dict[str, Any]:
    """Return an object, or the object of JSON in a text; an empty one for any other value."""
    value = unpacked(value)
    return value if isinstance(value, dict) else {}


def unread_fields(record: Mapping[str, Any], read: Iterable[str]) -> Counter[str]:
    """Return counts of the fields of a record that hold something and are not read."""
    kept = set(read)
    return Counter(
        f"fields '{key}'"
        for key, value in record.items()
        if key not in kept and value not in _EMPTY and key.isidentifier() and len(key) <= MAX_KEY
    )
