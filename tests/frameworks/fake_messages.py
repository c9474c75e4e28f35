"""Anthropic's Messages API: what the fake model says, plain and streamed."""

import json
from collections.abc import Iterator
from typing import Any

from .model_turn import Turn, words

Json = dict[str, Any]


def message(request: Json, turn: Turn) -> Json:
    """Return the body of an answer of the Messages API."""
    content: list[Json] = []
    if turn.thought:
        content.append({"type": "thinking", "thinking": turn.thought, "signature": "c2lnbmVk"})
    if turn.text:
        content.append({"type": "text", "text": turn.text})
    content += [
        {
            "type": "tool_use",
            "id": turn.call_id(place),
            "name": tool,
            "input": json.loads(arguments),
        }
        for place, (tool, arguments) in enumerate(turn.calls)
    ]
    return {
        "id": f"msg_{turn.name}",
        "type": "message",
        "role": "assistant",
        "model": request["model"],
        "content": content,
        "stop_reason": "tool_use" if turn.calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 50,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": 10,
        },
    }


def message_events(answer: Json) -> Iterator[Json]:
    """Yield an answer of the Messages API in the events of a stream."""
    usage = {**answer["usage"], "output_tokens": 1}
    begun = {**answer, "content": [], "stop_reason": None, "usage": usage}
    yield {"type": "message_start", "message": begun}
    for index, block in enumerate(answer["content"]):
        empty, deltas = _pieces(block)
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ended = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
    told = {"output_tokens": answer["usage"]["output_tokens"]}
    yield {"type": "message_delta", "delta": ended, "usage": told}
    yield {"type": "message_stop"}


def _pieces(block: Json) -> tuple[Json, list[Json]]:
    """Return how a block of content begins, and what is added to it."""
    if block["type"] == "text":
        added = [{"type": "text_delta", "text": word} for word in words(block["text"])]
        return {"type": "text", "text": ""}, added
    if block["type"] == "thinking":
        added = [{"type": "thinking_delta", "thinking": word} for word in words(block["thinking"])]
        signed = {"type": "signature_delta", "signature": block["signature"]}
        return {"type": "thinking", "thinking": "", "signature": ""}, [*added, signed]
    added = [
        {"type": "input_json_delta", "partial_json": piece}
        for piece in words(json.dumps(block["input"]))
    ]
    return {**block, "input": {}}, added
