"""Spans whose attributes are written as they come, and messages as providers have them."""

import json
from collections.abc import Mapping
from typing import Any

from tests.queries.classes.story import LEFT_OUT, Call, Message, Place, Tokens
from tests.queries.traces import Row, span


def with_attributes(place: Place, attributes: Mapping[str, Any], *, scope: str, name: str) -> Row:
    """Return a span; attributes that are None are left out, lists and objects are JSON."""
    told: Row = {
        key: value if isinstance(value, str | int | float) else json.dumps(value)
        for key, value in attributes.items()
        if value is not None
    }
    return span(
        place.number, place.parent, at=place.at, ms=place.ms, trace=place.trace,
        scope=scope, name=name, **told,
    )  # fmt: skip


def raised(row: Row, error_type: str, text: str = "") -> Row:
    """Return the span as one that ended with an exception."""
    told = {"exception.type": error_type, "exception.message": text}
    attributes = [{"key": key, "value": {"stringValue": told[key]}} for key in told]
    event = {
        "timeUnixNano": row["endTimeUnixNano"], "name": "exception", "attributes": attributes
    }  # fmt: skip
    return row | {"events": [event], "status": {"code": 2, "message": text}}


def as_text(arguments: object) -> str:
    """Return arguments as OpenAI has them: a JSON text."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def openai_call(call: Call) -> Row:
    """Return a request as OpenAI's messages have it."""
    function: Row = {"name": call.name}
    if call.arguments is not LEFT_OUT:
        none = call.arguments is None
        function["arguments"] = None if none else as_text(call.arguments)
    return {"id": call.id, "type": "function", "function": function}


def openai_message(message: Message) -> Row:
    """Return a message as OpenAI's Chat Completions have it."""
    if message.replies_to:
        reply = {"role": "tool", "tool_call_id": message.replies_to.id, "content": message.text}
        return reply | ({"is_error": True} if message.failed else {})
    calls = [openai_call(call) for call in message.calls]
    return {"role": message.role, "content": message.text or None} | (
        {"tool_calls": calls} if calls else {}
    )


def openai_usage(tokens: Tokens) -> Row:
    """Return usage as OpenAI tells it: what a cache had is part of the input."""
    return {
        "prompt_tokens": tokens.input,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.input + tokens.output,
        "prompt_tokens_details": {
            "cached_tokens": tokens.cache_read, "cache_write_tokens": tokens.cache_write
        },
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
    }  # fmt: skip


def anthropic_hosted(name: str, arguments: object, result: str, text: str) -> list[Row]:
    """Return what a model said as Anthropic has it, with a tool that Anthropic ran."""
    return [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": name, "input": arguments},
        {"type": f"{name}_tool_result", "tool_use_id": "srvtoolu_1", "content": result},
        {"type": "text", "text": text},
    ]
