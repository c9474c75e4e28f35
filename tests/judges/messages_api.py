"""Rules that speak Anthropic's Messages API, made of those that speak Chat Completions.

Requests and answers are translated field by field, as the API's reference describes them, so that
one rule tells how judges of both providers fare.
"""

import json
from importlib.util import find_spec
from typing import Any

import pytest

from .model_server import Json, Reply, Rule

needs_client = pytest.mark.skipif(
    find_spec("anthropic") is None,
    reason="the client is not installed; pip install 'tracegrade[judge-anthropic]'",
)


def speaking_messages(rule: Rule) -> Rule:
    """Return a rule that is asked, and answers, by the Messages API."""

    def answer(request: Json, number: int) -> Reply:
        return as_message(rule(as_chat(request), number))

    return answer


def as_chat(request: Json) -> Json:
    """Return a request as Chat Completions has it."""
    system = request["system"]
    text = system if isinstance(system, str) else "".join(block["text"] for block in system)
    messages = [{"role": "system", "content": text}]
    for message in request["messages"]:
        messages += _messages(message["role"], message["content"])
    return {**request, "messages": messages}


def _messages(role: str, content: Any) -> list[Json]:
    if isinstance(content, str):
        return [{"role": role, "content": content}]
    found: list[Json] = []
    for block in content:
        if block["type"] == "tool_result":
            inner = block["content"]
            text = inner if isinstance(inner, str) else "".join(each["text"] for each in inner)
            found.append({"role": "tool", "content": text})
        elif block["type"] == "text":
            found.append({"role": role, "content": block["text"]})
        else:
            found.append({"role": role, "content": None, "tool_calls": [block]})
    return found


def as_message(reply: Reply) -> Reply:
    """Return an answer in the form of the Messages API; other bodies stay unchanged."""
    try:
        completion = json.loads(reply.body)
        choice = completion["choices"][0]
        content = [*_blocks(choice["message"])]
        finish, usage = choice["finish_reason"], completion["usage"]
    except (ValueError, LookupError, TypeError, AttributeError):
        return reply
    stops = {"length": "max_tokens", "content_filter": "refusal", "tool_calls": "tool_use"}
    body = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content,
        "stop_reason": stops.get(finish, "end_turn"), "stop_sequence": None,
        "usage": {
            "input_tokens": usage["prompt_tokens"], "output_tokens": usage["completion_tokens"],
        },
    }  # fmt: skip
    return reply._replace(body=json.dumps(body).encode())


def _blocks(message: Json) -> list[Json]:
    found: list[Json] = []
    if message.get("content"):
        found.append({"type": "text", "text": message["content"]})
    for call in message.get("tool_calls") or []:
        function = call["function"]
        found.append({
            "type": "tool_use", "id": f"toolu_{call['id']}", "name": function["name"],
            "input": json.loads(function["arguments"]),
        })  # fmt: skip
    return found
