"""Anthropic's Messages API."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tracegrade_harness.conversations.conversation import (
    ModelTurn,
    Part,
    Reasoning,
    Result,
    Text,
    ToolRequest,
    plain_text,
)

Json = dict[str, Any]


def conversation(request: Mapping[str, Any]) -> Iterator[Part]:
    """Yield the messages that a request sends to the model.

    Raises:
        AttributeError, KeyError, TypeError: It is not a request of this API.
    """
    if request.get("system"):
        yield Text("system", plain_text(request["system"]))
    for message in request["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            match block.get("type"):
                case "text":
                    yield Text(message["role"], str(block["text"]))
                case "tool_use":
                    arguments = json.dumps(block.get("input") or {})
                    yield ToolRequest(str(block["name"]), arguments, block.get("id"))
                case "tool_result":
                    yield Result(plain_text(block.get("content")), block.get("tool_use_id"))


def reply(request: Mapping[str, Any], answer: ModelTurn, number: int) -> Json:
    """Return the body of an answer; `number` identifies it."""
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": answer.model or request.get("model", ""),
        "content": [_block(part, f"toolu_{number}_{i}") for i, part in enumerate(answer.parts)],
        "stop_reason": "tool_use" if answer.calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": answer.input_tokens or 0,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": answer.output_tokens or 0,
        },
    }


def _block(part: Part, own_id: str) -> Json:
    match part:
        case Reasoning():
            return {"type": "thinking", "thinking": part.text, "signature": ""}
        case ToolRequest():
            arguments = _object(part.arguments)
            return {
                "type": "tool_use",
                "id": part.id or own_id,
                "name": part.tool,
                "input": arguments,
            }
        case _:
            return {"type": "text", "text": part.text}


def _object(text: str) -> Json:
    """Return arguments as an object, which this API alone demands."""
    try:
        value = json.loads(text or "{}")
    except ValueError:
        value = text
    return value if isinstance(value, dict) else {"input": value}


def events(request: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[str]:
    """Yield the data of each event in which an answer is streamed."""
    del request
    begun = {**body, "content": [], "stop_reason": None}
    yield json.dumps({"type": "message_start", "message": begun})
    for index, block in enumerate(body["content"]):
        empty, deltas = _pieces(block)
        at = {"index": index}
        yield json.dumps({"type": "content_block_start", **at, "content_block": empty})
        for delta in deltas:
            yield json.dumps({"type": "content_block_delta", **at, "delta": delta})
        yield json.dumps({"type": "content_block_stop", **at})
    ended = {"stop_reason": body["stop_reason"], "stop_sequence": None}
    usage = {"output_tokens": body["usage"]["output_tokens"]}
    yield json.dumps({"type": "message_delta", "delta": ended, "usage": usage})
    yield json.dumps({"type": "message_stop"})


def _pieces(block: Json) -> tuple[Json, list[Json]]:
    """Return the beginning of a content block, and its later additions."""
    if block["type"] == "text":
        return {**block, "text": ""}, [{"type": "text_delta", "text": block["text"]}]
    if block["type"] == "thinking":
        thought = {"type": "thinking_delta", "thinking": block["thinking"]}
        return {**block, "thinking": ""}, [thought]
    arguments = json.dumps(block["input"])
    return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": arguments}]
