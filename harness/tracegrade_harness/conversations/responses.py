"""OpenAI's Responses API."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tracegrade_harness.conversations.conversation import (
    ModelTurn,
    Part,
    Reasoning,
    Result,
    Text,
    ToolRequest,
    plain_text,
)

_CALLS: Final = {"function_call": "arguments", "custom_tool_call": "input"}
_RESULTS: Final = frozenset({"function_call_output", "custom_tool_call_output"})


def conversation(request: Mapping[str, Any]) -> Iterator[Part]:
    """Yield the messages that a request sends to the model.

    Raises:
        AttributeError, KeyError, TypeError: It is not a request of this API.
    """
    if request.get("instructions"):
        yield Text("system", plain_text(request["instructions"]))
    given_input = request["input"]
    items = (
        [{"role": "user", "content": given_input}] if isinstance(given_input, str) else given_input
    )
    for item in items:
        kind = item.get("type", "message")
        if kind == "message":
            yield Text(item["role"], plain_text(item.get("content")))
        elif kind in _CALLS:
            yield ToolRequest(
                str(item["name"]), str(item.get(_CALLS[kind]) or "{}"), item.get("call_id")
            )
        elif kind in _RESULTS:
            yield Result(plain_text(item.get("output")), item.get("call_id"))


def reply(request: Mapping[str, Any], answer: ModelTurn, number: int) -> dict[str, Any]:
    """Return the body of an answer; `number` identifies it."""
    read, written = answer.input_tokens or 0, answer.output_tokens or 0
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": request.get("instructions"),
        "metadata": {},
        "model": answer.model or request.get("model", ""),
        "output": [*_output(answer, number)],
        "parallel_tool_calls": request.get("parallel_tool_calls", True),
        "temperature": request.get("temperature"),
        "tool_choice": request.get("tool_choice", "auto"),
        "tools": request.get("tools", []),
        "top_p": request.get("top_p"),
        "usage": {
            "input_tokens": read,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": written,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": read + written,
        },
    }


def _output(answer: ModelTurn, number: int) -> Iterator[dict[str, Any]]:
    for place, part in enumerate(answer.parts):
        own = f"{number}_{place}"
        match part:
            case Reasoning():
                summary = [{"type": "summary_text", "text": part.text}]
                yield {"type": "reasoning", "id": f"rs_{own}", "summary": summary}
            case ToolRequest():
                yield {
                    "type": "function_call",
                    "id": f"fc_{own}",
                    "call_id": part.id or f"call_{own}",
                    "name": part.tool,
                    "arguments": part.arguments,
                    "status": "completed",
                }
            case _:
                text = {"type": "output_text", "text": part.text, "annotations": []}
                yield {
                    "type": "message",
                    "id": f"msg_{own}",
                    "role": "assistant",
                    "status": "completed",
                    "content": [{**text, "logprobs": []}],
                }


def events(request: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[str]:
    """Yield the data of each event in which an answer is streamed."""
    del request
    begun = {**body, "status": "in_progress", "output": [], "usage": None}
    texts = [
        ("response.created", {"response": begun}),
        ("response.in_progress", {"response": begun}),
        *(each for index, item in enumerate(body["output"]) for each in _added(index, item)),
        ("response.completed", {"response": body}),
    ]
    for number, (kind, fields) in enumerate(texts):
        yield json.dumps({"type": kind, "sequence_number": number, **fields})


def _added(output_index: int, item: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the events of one item of an answer."""
    whole = {"output_index": output_index, "item": item}
    part = {"item_id": item["id"], "output_index": output_index}
    match item["type"]:
        case "message":
            empty, inner = {**item, "status": "in_progress", "content": []}, "content"
        case "function_call":
            empty, inner = {**item, "status": "in_progress", "arguments": ""}, "arguments"
        case _:
            empty, inner = {**item, "summary": []}, "summary"
    yield "response.output_item.added", {**whole, "item": empty}
    if inner == "arguments":
        arguments = item["arguments"]
        yield "response.function_call_arguments.delta", {**part, "delta": arguments}
        yield "response.function_call_arguments.done", {**part, "arguments": arguments}
    for index, block in enumerate(item[inner] if inner != "arguments" else ()):
        yield from _block(part, inner, index, block)
    yield "response.output_item.done", whole


def _block(
    part: Mapping[str, Any], inner: str, index: int, block: Mapping[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the events of one text of an item."""
    at = {**part, f"{inner}_index": index}
    kind = "content_part" if inner == "content" else "reasoning_summary_part"
    text = "output_text" if inner == "content" else "reasoning_summary_text"
    more: dict[str, Any] = {"logprobs": []} if inner == "content" else {}
    yield f"response.{kind}.added", {**at, "part": {**block, "text": ""}}
    yield f"response.{text}.delta", {**at, "delta": block["text"], **more}
    yield f"response.{text}.done", {**at, "text": block["text"], **more}
    yield f"response.{kind}.done", {**at, "part": block}
