"""OpenAI's Chat Completions, as many other servers speak it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tracegrade_harness.conversations.conversation import (
    ModelTurn,
    Part,
    Result,
    Text,
    ToolRequest,
    plain_text,
)


def conversation(request: Mapping[str, Any]) -> Iterator[Part]:
    """Yield the messages that a request sends to the model.

    Raises:
        AttributeError, KeyError, TypeError: It is not a request of this API.
    """
    for message in request["messages"]:
        role, content = message["role"], plain_text(message.get("content"))
        if role == "tool":
            yield Result(content, message.get("tool_call_id"))
            continue
        yield Text(role, content)
        for call in message.get("tool_calls") or ():
            function = call.get("function") or call.get("custom")
            given = function.get("arguments", function.get("input"))
            yield ToolRequest(str(function["name"]), str(given or "{}"), call.get("id"))


def reply(request: Mapping[str, Any], answer: ModelTurn, number: int) -> dict[str, Any]:
    """Return the body of an answer; `number` identifies it."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.text, "refusal": None}
    if answer.reasoning is not None:
        message["reasoning_content"] = answer.reasoning
    if answer.calls:
        message["tool_calls"] = [
            {
                "id": call.id or f"call_{number}_{place}",
                "type": "function",
                "function": {"name": call.tool, "arguments": call.arguments},
            }
            for place, call in enumerate(answer.calls)
        ]
    reason = "tool_calls" if answer.calls else "stop"
    read, written = answer.input_tokens or 0, answer.output_tokens or 0
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": answer.model or request.get("model", ""),
        "choices": [{"index": 0, "message": message, "finish_reason": reason, "logprobs": None}],
        "usage": {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
        },
    }


def events(request: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[str]:
    """Yield the data of each event in which an answer is streamed."""
    choice = body["choices"][0]
    message = choice["message"]
    common = {**body, "object": "chat.completion.chunk"}
    usage = common.pop("usage")
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    for key in ("reasoning_content", "content"):
        if message.get(key):
            deltas.append({key: message[key]})
    for index, call in enumerate(message.get("tool_calls", ())):
        deltas.append({"tool_calls": [{"index": index, **call}]})
    for delta in deltas:
        each = {"index": 0, "delta": delta, "finish_reason": None}
        yield json.dumps({**common, "choices": [each]})
    last = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    yield json.dumps({**common, "choices": [last]})
    if (request.get("stream_options") or {}).get("include_usage"):
        yield json.dumps({**common, "choices": [], "usage": usage})
    yield "[DONE]"
