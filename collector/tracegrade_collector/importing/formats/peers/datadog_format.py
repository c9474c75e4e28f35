"""The format `datadog`: spans of Datadog's LLM Observability, from its Export API → spans.

A record is an answer of the interface (`{"data": [span, …]}`) or a span. The kind of a span says
whether it is an agent, a model or a tool. The program is the span's `ml_app`, its version the tag
`version`, the conversation the tag `session_id`.

The form is that of https://docs.datadoghq.com/llm_observability/evaluations/export_api, late in
2025.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tracegrade import names
from tracegrade_collector.importing.formats.peers.peer_spans import (
    EMBEDDING,
    MODEL,
    RETRIEVAL,
    PeerSpan,
    part_of_spans,
    unread_fields,
)
from tracegrade_collector.importing.import_part import ImportPart, ReadOptions
from tracegrade_collector.importing.records import JsonObject
from tracegrade_collector.importing.span_parts import as_json
from tracegrade_collector.importing.spellings import as_list, as_object
from tracegrade_collector.importing.tables import read_table
from tracegrade_collector.importing.times import nanoseconds
from tracegrade_collector.importing.usage import read_usage

FORMAT: Final = "datadog"

_OPERATIONS: Final = {
    "agent": names.INVOKE_AGENT,
    "llm": MODEL,
    "tool": names.EXECUTE_TOOL,
    "embedding": EMBEDDING,
    "retrieval": RETRIEVAL,
}
_KINDS: Final = {*_OPERATIONS, "workflow", "task"}
_NO_PARENT: Final = (None, "", "undefined", "0")
_READ: Final = (
    *("span_id", "trace_id", "parent_id", "tags", "name", "status", "start_ns", "duration"),
    *("ml_app", "span_kind", "model_name", "model_provider", "input", "output"),
    *("tool_definitions", "metrics"),
)
_TOKENS: Final = {
    "input_tokens": "prompt_tokens",  # whole, with what a cache gave
    "output_tokens": "completion_tokens",
    "cache_read_input_tokens": "cached_tokens",
    "reasoning_output_tokens": "reasoning_tokens",
}


def fits(record: Any) -> bool:
    """Return whether a file that begins with this record is of this format."""
    return any(map(_is_span, _spans(record)[:1]))


def read(path: Path, _: ReadOptions) -> Iterator[ImportPart]:
    """Yield a part for each span, and one for each record without any."""
    for record in read_table(path):
        location, spans = f"{path}:{record.line}", _spans(record.value)
        if record.fault or not spans:
            yield ImportPart(location, fault=record.fault or "no span of LLM Observability")
        for span in spans:
            if _is_span(span):
                yield part_of_spans(location, [_peer(span)], unread_fields(span, _READ))
            else:
                fault = "no span of LLM Observability: it lacks ids or a kind"
                yield ImportPart(location, fault=fault)


def _spans(record: Any) -> list[Any]:
    """Return the attributes of the spans in a record."""
    found = as_object(record)
    data = found.get("data")
    resources = data if isinstance(data, list) else [found] if found else []
    return [as_object(each).get("attributes", each) for each in resources]


def _is_span(value: Any) -> bool:
    found = as_object(value)
    has_ids = bool(found.get("span_id") and found.get("trace_id"))
    return has_ids and str(found.get("span_kind")) in _KINDS


def _peer(span: JsonObject) -> PeerSpan:
    kind, start = str(span["span_kind"]), nanoseconds(span.get("start_ns"))
    duration, tags = span.get("duration"), _tags(span)
    is_timed = start is not None and isinstance(duration, int | float) and duration >= 0
    parent = span.get("parent_id")
    return PeerSpan(
        FORMAT,
        span["trace_id"],
        span["span_id"],
        None if parent in _NO_PARENT else parent,
        as_json(span.get("name") or ""),
        _OPERATIONS.get(kind),
        start,
        start + int(duration) if is_timed and start and duration else start,
        _content(span.get("input")),
        _content(span.get("output")),
        failed=span.get("status") == "error",
        model=span.get("model_name"),
        usage=_usage(span),
        tools=_tools(span),
        conversation=tags.get("session_id"),
        resource={
            names.SERVICE_NAME: span.get("ml_app"),
            names.SERVICE_VERSION: tags.get("version"),
            names.ENVIRONMENT: tags.get("env"),
        },
    )


def _tags(span: JsonObject) -> dict[str, str]:
    pairs = (tag.partition(":") for tag in as_list(span.get("tags")) if isinstance(tag, str))
    return {key: value for key, _, value in pairs if value}


def _content(value: Any) -> Any:
    """Return the messages, else the value or the documents, of an input or output."""
    found = as_object(value)
    messages = [each for each in as_list(found.get("messages")) if isinstance(each, dict)]
    return [part for each in messages for part in _plain(each)] or found.get(
        "value", found.get("documents")
    )


def _plain(message: JsonObject) -> Iterator[dict[str, Any]]:
    """Yield a message with its calls, then the results that it holds."""
    calls = [
        {**call, "id": call.get("tool_id")}
        for call in as_list(message.get("tool_calls"))
        if isinstance(call, dict)
    ]
    results = list(map(as_object, as_list(message.get("tool_results"))))
    if calls or message.get("content") or not results:
        yield {**message, "tool_calls": calls, "tool_results": None}
    for each in results:
        yield {
            **{"role": "tool", "tool_call_id": each.get("tool_id"), "name": each.get("name")},
            "content": each.get("result"),
        }


def _tools(span: JsonObject) -> list[dict[str, Any]] | None:
    offered = [
        {**tool, "parameters": tool.get("schema")}
        for tool in as_list(span.get("tool_definitions"))
        if isinstance(tool, dict)
    ]
    return offered or None


def _usage(span: JsonObject) -> dict[str, int]:
    """Return the tokens; the interface writes them as floats too."""
    metrics = as_object(span.get("metrics"))
    counts = {key: metrics.get(key) for key in _TOKENS}
    return read_usage(
        {
            _TOKENS[key]: int(count)
            for key, count in counts.items()
            if isinstance(count, int | float) and 0 <= count < 2**62
        }
    )
