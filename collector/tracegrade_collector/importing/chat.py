"""Messages of chats as providers and tools write them → messages of a trajectory.

Reads OpenAI (Chat Completions with `tool_calls`, the older `function_call`, items of Responses),
Anthropic (`tool_use`, `tool_result`, `thinking`), Google (`parts`), Bedrock, LangChain's `type`
and ShareGPT's `from`. What does not belong to a trajectory (images, unknown blocks) is counted by
name.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from tracegrade_collector.importing.times import nanoseconds
from tracegrade_collector.importing.trajectory import (
    Message,
    MessageText,
    Piece,
    Thought,
    ToolCall,
    ToolResult,
)

ROLES: Final = {
    "ai": "assistant",
    "assistant": "assistant",
    "bot": "assistant",
    "developer": "system",
    "function": "tool",
    "function_response": "tool",
    "gpt": "assistant",
    "human": "user",
    "model": "assistant",
    "observation": "tool",
    "system": "system",
    "tool": "tool",
    "user": "user",
}
_ITEM_ROLES: Final = {  # items of OpenAI Responses that name no role
    "function_call": "assistant",
    "function_call_output": "tool",
    "reasoning": "assistant",
}
_TOKENS: Final = {
    "input_tokens": "gen_ai.usage.input_tokens",
    "prompt_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
    "completion_tokens": "gen_ai.usage.output_tokens",
    "cache_read_input_tokens": "gen_ai.usage.cache_read.input_tokens",
}
MAX_TOKENS: Final = 2**62  # what an attribute's integer holds, and more than anybody counts


def is_message(value: Any) -> bool:
    """Return whether this looks like a message of a chat."""
    return isinstance(value, dict) and _role(value) is not None


def read_messages(values: Iterable[Any], ignored: Counter[str]) -> list[Message]:
    """Return the messages in order; others are counted in `ignored`."""
    messages = []
    for value in values:
        role = _role(value) if isinstance(value, dict) else None
        if role is None:
            ignored["messages without a known role"] += 1
        else:
            messages.append(_message(role, value, ignored))
    return messages


def read_call(call: Mapping[str, Any]) -> ToolCall:
    """Return a call in any provider's spelling; one without a name has an empty one."""
    function = call.get("function")
    inner = {**call, **function} if isinstance(function, dict) else call
    name = _first(inner, "name", "toolName", "tool_name")
    arguments = _first(inner, "arguments", "args", "input", "parameters", "kwargs")
    return ToolCall(
        _id(_first(inner, "call_id", "id", "toolUseId", "toolCallId")),
        "" if name is None else as_text(name),
        None if arguments is None else as_text(arguments),
    )


def as_text(value: Any) -> str:
    """Return a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _role(value: dict[str, Any]) -> str | None:
    for key in ("role", "from", "type"):
        name = value.get(key)
        if isinstance(name, str) and name.lower() in ROLES:
            return ROLES[name.lower()]
    return _ITEM_ROLES.get(str(value.get("type")))


def _message(role: str, value: dict[str, Any], ignored: Counter[str]) -> Message:
    pieces = list(_pieces(role, value, ignored))
    time = next((value[key] for key in ("timestamp", "created_at", "time") if key in value), None)
    model = value.get("model")
    return Message(
        role, pieces, nanoseconds(time), model if isinstance(model, str) else None, _usage(value)
    )


def _usage(value: dict[str, Any]) -> dict[str, int]:
    usage = value.get("usage")
    if not isinstance(usage, dict):
        return {}
    return {
        _TOKENS[key]: tokens
        for key, tokens in usage.items()
        if key in _TOKENS and type(tokens) is int and 0 <= tokens < MAX_TOKENS
    }


def _pieces(role: str, value: dict[str, Any], ignored: Counter[str]) -> Iterator[Piece]:
    """Yield thoughts, texts, then calls: in Chat Completions they are fields, without an order."""
    for key in ("reasoning_content", "reasoning"):
        if isinstance(value.get(key), str) and value[key]:
            yield Thought(value[key])
            break
    if role == "tool":
        yield _result(value)
    elif str(value.get("type")) in _ITEM_ROLES:
        yield from _block(value, ignored)
    else:
        yield from _content(_content_of(value), ignored)
    yield from _requests(value, ignored)


def _content_of(value: dict[str, Any]) -> Any:
    return next((value[key] for key in ("content", "value", "parts") if key in value), None)


def _content(content: Any, ignored: Counter[str]) -> Iterator[Piece]:
    if isinstance(content, str):
        if content:
            yield MessageText(content)
    elif isinstance(content, dict):
        yield from _block(content, ignored)
    elif isinstance(content, list):
        for block in content:
            yield from _content(block, ignored)
    elif content is not None:
        ignored["contents that are neither text nor blocks"] += 1


def _requests(value: dict[str, Any], ignored: Counter[str]) -> Iterator[ToolCall]:
    calls = value.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        if isinstance(call, dict):
            yield read_call(call)
        else:
            ignored["tool calls that are not objects"] += 1
    if isinstance(value.get("function_call"), dict):
        yield read_call(value["function_call"])


def _result(value: Mapping[str, Any]) -> ToolResult:
    """Return a result in any of the spellings."""
    name = _first(value, "name", "tool_name", "toolName")
    call_id = _first(value, "tool_call_id", "tool_use_id", "toolUseId", "call_id", "id")
    content = _first(value, "content", "output", "response", "result", "value")
    failed = value.get("is_error") is True or value.get("status") == "error"
    return ToolResult(
        _id(call_id),
        name if isinstance(name, str) else None,
        "" if content is None else as_text(content),
        failed,
    )


def _id(value: Any) -> str | None:
    return None if value is None or value == "" else as_text(value)


def _first(value: Mapping[str, Any], *keys: str) -> Any:
    return next((value[key] for key in keys if value.get(key) is not None), None)


def _block(block: dict[str, Any], ignored: Counter[str]) -> Iterator[Piece]:
    """Yield what a content block is."""
    if (call := _inner(block, _CALL_KEYS, _CALL_TYPES)) is not None:
        yield read_call(call)
    elif (result := _inner(block, _RESULT_KEYS, _RESULT_TYPES)) is not None:
        yield _result(result)
    elif thought := _thought(block):
        yield Thought(thought)
    elif isinstance(block.get("text"), str):
        yield from _content(block["text"], ignored)
    elif block.get("type") not in _THOUGHT_TYPES:  # one without its text says nothing
        ignored[f"content blocks of type {_shown(block.get('type'))}"] += 1


_CALL_KEYS: Final = ("toolUse", "functionCall", "function_call")
_CALL_TYPES: Final = ("tool_use", "tool_call", "function_call", "tool-call")
_RESULT_KEYS: Final = ("toolResult", "functionResponse", "function_response")
_RESULT_TYPES: Final = (
    "tool_result",
    "tool_call_response",
    "function_call_output",
    "tool-result",
)
_THOUGHT_TYPES: Final = ("thinking", "reasoning", "reasoningContent", "summary_text")


def _inner(
    block: dict[str, Any], keys: Sequence[str], types: Sequence[str]
) -> dict[str, Any] | None:
    """Return what a block holds under one of these keys, or the block if its type is one."""
    held = next((block[key] for key in keys if isinstance(block.get(key), dict)), None)
    return block if held is None and block.get("type") in types else held


def _thought(block: dict[str, Any]) -> str | None:
    """Return the text of a thought; None if the block is none, or tells no text."""
    text: Any = None
    if block.get("type") in _THOUGHT_TYPES:
        text = _first(block, "thinking", "text", "content", "reasoning") or _summary(block)
    elif block.get("thought") is True:
        text = block.get("text")
    elif isinstance(block.get("reasoningContent"), dict):
        inner = block["reasoningContent"].get("reasoningText")
        text = inner.get("text") if isinstance(inner, dict) else None
    return text if isinstance(text, str) else None


def _summary(block: dict[str, Any]) -> str | None:
    """Return the text of OpenAI's summary of a thought."""
    summary = block.get("summary")
    items = summary if isinstance(summary, list) else []
    texts = [item.get("text") for item in items if isinstance(item, dict)]
    return "\n".join(text for text in texts if isinstance(text, str)) or None


def _shown(kind: Any) -> str:
    """Return a type's name for a message; anything but a plain word is left out."""
    if isinstance(kind, str) and kind.replace("_", "").isalnum() and len(kind) <= 40:
        return f"'{kind}'"
    return "unknown"
