"""Counts traces of Langfuse with their observations, of every framework that writes them.

A call is an observation of a tool: by its type, by OpenInference's kind, or by a tool's message of
LangChain as its output. A model call that holds another model call repeats it, so its tokens do
not count; and of the model calls of one parent, only the last can answer.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.collector.importing.raw_counts import RunCounts

Row = dict[str, Any]
_CALLS = ("tool_calls", "function_call", "toolCallId", "tool_call_chunks")
_CALL_TYPES = ("tool_use", "tool_call", "function_call", "tool-call")


def raw_counts(path: Path) -> RunCounts:
    """Return the counts of one file."""
    observations: list[Row] = json.loads(path.read_text("utf-8"))["observations"]
    tools = [each for each in observations if _is_tool(each)]
    outer = {each["parentObservationId"] for each in observations if _is_model(each)}
    models = [each for each in observations if _is_model(each) and each["id"] not in outer]
    asked = {each["id"] for each in observations if _is_model(each) and _requests(each["output"])}
    ordered = sorted(models, key=lambda each: each["startTime"])
    last = {each["parentObservationId"] or each["id"]: each for each in ordered}.values()
    usages = [each.get("usageDetails") or {} for each in models]
    return RunCounts(
        runs=len({each["traceId"] for each in observations}),
        calls=len(tools),
        failed_calls=sum(each["level"] == "ERROR" for each in tools),
        answers=sum(not asked & {each["id"], each["parentObservationId"]} for each in last),
        input_tokens=sum(_tokens(usage, "input") for usage in usages),
        output_tokens=sum(_tokens(usage, "output") for usage in usages),
    )


def _tokens(usage: Row, side: str) -> int:
    """Return the tokens, and their parts where the total is more than both sides."""
    whole = usage.get("total") == usage.get("input", 0) + usage.get("output", 0)
    parts = [count for name, count in usage.items() if name.startswith(f"{side}_")]
    return int(usage.get(side, 0)) + (0 if whole else sum(parts))


def _is_model(observation: Row) -> bool:
    return bool(observation["type"] == "GENERATION")


def _is_tool(observation: Row) -> bool:
    metadata = _parsed(observation["metadata"])
    attributes = metadata.get("attributes", {}) if isinstance(metadata, dict) else {}
    kind = attributes.get("openinference.span.kind")
    message = _parsed(observation["output"])
    inner = message.get("kwargs", message) if isinstance(message, dict) else {}
    of_langchain = observation["type"] == "SPAN" and bool(inner.get("tool_call_id"))
    return observation["type"] == "TOOL" or kind == "TOOL" or of_langchain


def _requests(output: Any) -> bool:
    return any(
        any(each.get(key) for key in _CALLS) or each.get("type") in _CALL_TYPES
        for each in _objects(_parsed(output))
    )


def _objects(value: Any) -> Iterator[Row]:
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value:
        if isinstance(each, dict | list):
            yield from _objects(each)


def _parsed(value: Any) -> Any:
    try:
        found = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        found = {}
    return found if isinstance(found, dict | list) else {}
