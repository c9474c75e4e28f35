"""The format `phoenix`: Phoenix's data frame of OpenInference spans, as Parquet or JSON lines.

Columns are `context.trace_id`, `attributes.llm.model_name` and so on; in them, lists of messages
become the numbered attributes (`llm.input_messages.0.message.role`) that they were made from. The
spans of its interface have all attributes so already, and JSON in attributes taken apart as well.

The form is that of Phoenix 20.26.1, run in November 2026.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from tracegrade_collector.importing.import_part import ImportPart, ReadOptions
from tracegrade_collector.importing.records import JsonObject
from tracegrade_collector.importing.span_parts import (
    add_attributes,
    as_json,
    one_scope,
    part_of,
    span_id_of,
    trace_id_of,
)
from tracegrade_collector.importing.tables import read_table, time_ns

FORMAT: Final = "phoenix"
SCOPE: Final = "openinference.instrumentation"

_PREFIX: Final = "attributes."
_JSON: Final = (
    "input.value",
    "output.value",
    "metadata",
    "tool.parameters",
    "llm.invocation_parameters",
    "llm.prompt_template.variables",
)
"""Attributes whose value is JSON: objects in them are not split into attributes."""

_STATUS: Final = {"OK": Status.STATUS_CODE_OK, "ERROR": Status.STATUS_CODE_ERROR}


def fits(record: Any) -> bool:
    """Return whether a file that begins with this record is of this format."""
    row = _flat_names(record)
    return "context.trace_id" in row and "context.span_id" in row


def read(path: Path, _: ReadOptions) -> Iterator[ImportPart]:
    """Yield a part for each span of a file, and one for each invalid record."""
    for record in read_table(path):
        location = f"{path}:{record.line}"
        row = _flat_names(record.value)
        if record.fault or not (row.get("context.trace_id") and row.get("context.span_id")):
            lacks = "no span of Phoenix: it lacks context.trace_id or context.span_id"
            yield ImportPart(location, fault=record.fault or lacks)
            continue
        unknown = [key for key in row if key not in _KNOWN and not key.startswith(_PREFIX)]
        ignored = {f"columns '{key}'": 1 for key in unknown if row[key] is not None}
        yield part_of(location, one_scope([_span(row)], {}, _scope(row)), ignored)


_KNOWN: Final = (
    "context.trace_id",
    "context.span_id",
    "parent_id",
    "name",
    "span_kind",
    "start_time",
    "end_time",
    "status_code",
    "status_message",
    "events",
    "id",
    "__index_level_0__",
)


def _flat_names(record: Any) -> JsonObject:
    """Return a row by dotted columns: JSON may have `context` and `attributes` as objects."""
    row = dict(record) if isinstance(record, dict) else {}
    for key in ("context", "attributes"):
        if isinstance(row.get(key), dict):
            inner = row.pop(key)
            row |= {f"{key}.{name}": value for name, value in inner.items()}
    return row


def _span(row: JsonObject) -> Span:
    start = time_ns(row.get("start_time"))
    span = Span(
        trace_id=trace_id_of(FORMAT, row["context.trace_id"]),
        span_id=span_id_of(FORMAT, row["context.span_id"]),
        name=as_json(row.get("name") or ""),
        start_time_unix_nano=start,
        end_time_unix_nano=time_ns(row.get("end_time")) or start,
    )
    if row.get("parent_id"):
        span.parent_span_id = span_id_of(FORMAT, row["parent_id"])
    status = str(row.get("status_code")).upper()
    span.status.code = _STATUS.get(status, Status.STATUS_CODE_UNSET)
    span.status.message = as_json(row.get("status_message") or "")
    add_attributes(span.attributes, _attributes(row))
    events = row.get("events")
    for event in events if isinstance(events, list) else ():
        if isinstance(event, dict):
            added = span.events.add(name=as_json(event.get("name") or ""))
            added.time_unix_nano = time_ns(event.get("timestamp") or event.get("time"))
            inner = event.get("attributes")
            add_attributes(added.attributes, inner if isinstance(inner, dict) else {})
    return span


def _scope(row: JsonObject) -> str:
    """Return the instrumentation of a span, if its name and kind show it; Phoenix has no field."""
    kind, name = str(row.get("span_kind")), str(row.get("name"))
    for instrumentation, pattern in _SCOPES:
        if pattern.fullmatch(f"{kind} {name}"):
            return f"{SCOPE}.{instrumentation}"
    return SCOPE


_SCOPES: Final = tuple(
    (instrumentation, re.compile(pattern))
    for instrumentation, pattern in (
        ("smolagents", r"LLM \w*Model\.(generate|generate_stream|__call__)"),
        ("llama_index", r"CHAIN \w*(Agent|AgentWorkflow)\.\w+|TOOL FunctionTool\.a?call"),
        ("llama_index", r"LLM \w+\.(_prepare_chat_with_tools|a?(stream_)?(chat|complete)\w*)"),
        ("openai_agents", r"LLM (response|generation)|CHAIN (turn|Agent workflow)"),
    )
)
"""Instrumentations whose spans are not read as OpenInference prescribes, by span name."""


def _attributes(row: JsonObject) -> dict[str, Any]:
    found: dict[str, Any] = {"openinference.span.kind": row.get("span_kind")}
    apart: dict[str, dict[str, Any]] = {}
    for column, value in row.items():
        name = column.removeprefix(_PREFIX)
        whole = next((each for each in _JSON if name.startswith(f"{each}.")), None)
        if column == name or value is None:
            continue
        if whole:
            apart.setdefault(whole, {})[name.removeprefix(f"{whole}.")] = value
        else:
            found |= _flattened(name, value)
    return found | {name: _put_together(members) for name, members in apart.items()}


def _put_together(members: JsonObject) -> Any:
    """Return the JSON value that was taken apart into dotted names, and places in lists."""
    inner: dict[str, dict[str, Any]] = {}
    for name, value in members.items():
        head, _, rest = name.partition(".")
        inner.setdefault(head, {})[rest] = value
    found = {
        head: rest[""] if [*rest] == [""] else _put_together(rest) for head, rest in inner.items()
    }
    is_list = [*found] == [str(position) for position in range(len(found))]
    return list(found.values()) if is_list else found


def _flattened(name: str, value: Any) -> dict[str, Any]:
    """Return the attributes that a nested value was made from; NULLs were none."""
    if value is None:
        return {}
    if name in _JSON or not isinstance(value, dict | list):
        return {name: value}
    if isinstance(value, list) and not any(isinstance(each, dict) for each in value):
        return {name: value}
    pairs = enumerate(value) if isinstance(value, list) else value.items()
    found: dict[str, Any] = {}
    for key, inner in pairs:
        found |= _flattened(f"{name}.{key}", inner)
    return found
