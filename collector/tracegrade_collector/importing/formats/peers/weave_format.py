"""The format `weave`: calls of W&B Weave, as its pages and its service export them → spans.

A record is a call: a list of calls, one a line, or rows of Parquet. A call's kind is the one that
its op declares. Without one, a call is a model's if it is of a client that Weave patches, or if it
alone has token usage and no calls below it; it is a tool's if a model of its trace asked for a
tool of that name.

The form is that of https://docs.wandb.ai/weave/guides/tracking/call-schema-reference, as of August
2026.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tracegrade import names
from tracegrade_collector.importing.formats.peers.peer_spans import (
    MODEL,
    RETRIEVAL,
    PeerSpan,
    as_unpacked_object,
    part_of_spans,
    unread_fields,
)
from tracegrade_collector.importing.import_part import ImportPart, ReadOptions
from tracegrade_collector.importing.message_shapes import read_chat_content, unpacked
from tracegrade_collector.importing.records import JsonObject
from tracegrade_collector.importing.span_parts import as_json
from tracegrade_collector.importing.spellings import as_list, as_object
from tracegrade_collector.importing.tables import read_table
from tracegrade_collector.importing.usage import read_usage

FORMAT: Final = "weave"

_KINDS: Final = {
    "agent": names.INVOKE_AGENT,
    "llm": MODEL,
    "tool": names.EXECUTE_TOOL,
    "search": RETRIEVAL,
}
_OP: Final = re.compile(r"weave:///.*/op/([^:]+)(?::.*)?")
_CLIENTS: Final = re.compile(
    r"(openai|anthropic|litellm|mistralai|cohere|groq|cerebras|google|vertexai|bedrock|together)\."
)
_READ: Final = (
    *("id", "project_id", "op_name", "display_name", "trace_id", "parent_id", "started_at"),
    *("ended_at", "inputs", "output", "exception", "attributes", "summary", "thread_id"),
    *("turn_id", "wb_user_id", "wb_run_id", "wb_run_step", "storage_size_bytes", "status"),
)


def fits(record: Any) -> bool:
    """Return whether a file that begins with this record is of this format."""
    return any(map(_is_call, _calls(record)[:1]))


def read(path: Path, _: ReadOptions) -> Iterator[ImportPart]:
    """Yield a part for each call, after a first reading of how calls belong together."""
    context = _Context()
    for record in read_table(path):
        for call in _calls(record.value):
            if _is_call(call):
                context.take(call)
    for record in read_table(path):
        location = f"{path}:{record.line}"
        calls = _calls(record.value)
        if record.fault or not calls:
            yield ImportPart(location, fault=record.fault or "no call of Weave")
        for call in calls:
            if _is_call(call):
                ignored = unread_fields(call, _READ)
                yield part_of_spans(location, [_peer(call, context)], ignored)
            else:
                fault = "no call of Weave: it lacks an id, a trace or an op"
                yield ImportPart(location, fault=fault)


class _Context:
    """Facts about a call that other calls of its file have."""

    def __init__(self) -> None:
        self.parents: set[str] = set()
        self.requested: defaultdict[str, set[str]] = defaultdict(set)
        """Names of tools that models asked for, by trace."""

    def take(self, call: JsonObject) -> None:
        """Note a call's parent, and the tools that it asks for."""
        if call.get("parent_id"):
            self.parents.add(str(call["parent_id"]))
        output = unpacked(call.get("output"))
        if isinstance(output, dict | list):
            chat = read_chat_content(output, "assistant", Counter())
            parts = (part for each in chat.messages for part in as_list(each.get("parts")))
            found = (as_object(part) for part in parts)
            tools = (part.get("name") for part in found if part.get("type") == "tool_call")
            self.requested[str(call["trace_id"])].update(map(str, filter(None, tools)))

    def operation(self, call: JsonObject, name: str) -> str | None:
        """Return what a call is, in the words of the conventions."""
        weave = as_object(as_unpacked_object(call.get("attributes")).get("weave"))
        if declared := _KINDS.get(str(weave.get("kind"))):
            return declared
        is_leaf = str(call["id"]) not in self.parents
        if _CLIENTS.match(name) or (is_leaf and _usage(call)):
            return MODEL
        return names.EXECUTE_TOOL if name in self.requested[str(call["trace_id"])] else None


def _calls(record: Any) -> list[Any]:
    if not isinstance(record, dict):
        return []
    calls = record.get("calls")
    return calls if isinstance(calls, list) else [record]


def _is_call(value: Any) -> bool:
    found = as_object(value)
    has_ids = bool(found.get("id") and found.get("trace_id") and found.get("op_name"))
    return has_ids and "started_at" in found


def _peer(call: JsonObject, context: _Context) -> PeerSpan:
    op = as_json(call["op_name"])
    matched = _OP.fullmatch(op)
    name = matched[1] if matched else op
    inputs, usage = as_unpacked_object(call.get("inputs")), _usage(call)
    model = next(iter(usage), None) or inputs.get("model")
    return PeerSpan(
        FORMAT,
        call["trace_id"],
        call["id"],
        call.get("parent_id"),
        name,
        context.operation(call, name),
        call.get("started_at"),
        call.get("ended_at"),
        {key: value for key, value in inputs.items() if key != "self"},
        call.get("output"),
        call.get("exception") or None,
        model=model,
        usage=read_usage(next(iter(usage.values()), None)),
        conversation=call.get("thread_id"),
        resource={names.SERVICE_NAME: call.get("project_id")},
    )


def _usage(call: JsonObject) -> dict[str, Any]:
    """Return the token usage by model."""
    return as_unpacked_object(as_unpacked_object(call.get("summary")).get("usage"))
