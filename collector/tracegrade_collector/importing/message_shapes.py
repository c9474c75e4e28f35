"""Converts inputs and outputs of models and agents from other tools into GenAI messages.

Tools store inputs and outputs as they got them: a text, a message, a list of messages, or the
provider's request and response. These are JSON, or JSON in a text.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from tracegrade_collector.importing.chat import is_message, read_messages
from tracegrade_collector.importing.records import parse
from tracegrade_collector.importing.span_parts import as_json
from tracegrade_collector.importing.trajectory import Message, ToolResult, as_part

_INNER: Final = ("messages", "choices", "generations", "output", "message", "new_message", "text")
"""Keys where an input or an output holds its messages; the first present key counts."""

_REPR: Final = "role='"
"""Beginning of a message that a tool has written as Python's `repr`."""

_HALF_CHARACTER: Final = re.compile(r"\\(?:u|U0000)[dD][89a-fA-F]")

_MAX_REPR: Final = 100_000
"""Characters of Python's notation that are read; more is kept as text."""

_LANGCHAIN_ROLES: Final = {
    "AIMessage": "assistant",
    "AIMessageChunk": "assistant",
    "ChatMessage": "user",
    "HumanMessage": "user",
    "SystemMessage": "system",
    "ToolMessage": "tool",
}


class ChatContent(NamedTuple):
    """Messages, and the tools that were offered with them."""

    messages: list[dict[str, Any]]
    """As the GenAI conventions have them."""

    tools: list[Any]


def read_chat_content(value: Any, role: str, ignored: Counter[str]) -> ChatContent:
    """Return the messages and tools of an input or output.

    Args:
        value: The input or output in any of the shapes.
        role: The role of a message that names none.
        ignored: Counts parts that are not understood.
    """
    value = unpacked(value)
    tools = [each for each in _listed(value, "tools") if isinstance(each, dict)]
    messages: list[dict[str, Any]] = []
    for each in _messages(value, role):
        if tool := _offered(each):
            tools.append(tool)
        else:
            messages += _genai(each, ignored)
    return ChatContent(messages, tools)


def unpacked(value: Any) -> Any:
    """Return the value of JSON in a text; other texts and values are unchanged."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return parse(value.encode())
        except (ValueError, RecursionError):
            return value
    return value


def unpacked_arguments(value: Any) -> Any:
    """Return the arguments of a call, which a tool may have written as Python shows them."""
    value = unpacked(value)
    if isinstance(value, str) and value.startswith("{") and len(value) < _MAX_REPR:
        if _HALF_CHARACTER.search(value):
            return value
        try:
            found = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return value
        return found if isinstance(found, dict) else value
    return value


def plain(value: Any) -> Any:
    """Return a message that LangChain wrote as its constructor without the wrapping."""
    if not isinstance(value, dict) or not isinstance(value.get("kwargs"), dict):
        return value
    names = value.get("id")
    name = names[-1] if isinstance(names, list) and names else None
    role = _LANGCHAIN_ROLES.get(str(name))
    return {"role": role, **value["kwargs"]} if role else value


def _messages(value: Any, role: str) -> Iterator[Any]:
    value = plain(value)
    if value is None or value == "":
        return
    if isinstance(value, str):
        yield {"role": role, "content": value}
    elif isinstance(value, list):
        yield from _of_list(value, role)
    elif isinstance(value, dict):
        yield from _of_object(value, role)


def _of_list(values: list[Any], role: str) -> Iterator[Any]:
    """Yield the messages of a list: of messages, of lists of them, of calls, or of texts."""
    if values and all(_is_call(each) for each in values):
        yield {"role": role, "tool_calls": values}
        return
    if values and all(_is_block(each) for each in values):
        yield {"role": role, "content": values}
        return
    for each in values:
        yield from _messages(each, role)


def _of_object(value: dict[str, Any], role: str) -> Iterator[Any]:
    has_parts = isinstance(value.get("parts"), list) and isinstance(value.get("role"), str)
    if has_parts or (is_message(value) and not isinstance(value.get("message"), dict)):
        yield value
    elif isinstance(value.get("content"), dict) and is_message(value["content"]):
        yield value["content"]
    elif inner := next((key for key in _INNER if value.get(key) not in (None, "")), None):
        if isinstance(value.get("system"), str):
            yield {"role": "system", "content": value["system"]}
        yield from _messages(value[inner], role)
    elif "content" in value or "tool_calls" in value:
        yield {**value, **_whose(value.get("role"), role)}
    else:
        yield {"role": role, "content": as_json(_prompt_text(value))}


def _whose(named: Any, role: str) -> dict[str, Any]:
    """Return the role of a message; an unknown role is the name of the tool that answered."""
    return {"role": "tool", "name": named} if isinstance(named, str) else {"role": role}


def _prompt_text(value: dict[str, Any]) -> Any:
    """Return the only text of an object, such as a prompt's; else all of the object."""
    for key in ("prompt", "input", "question", "query"):
        if isinstance(value.get(key), str):
            return value[key]
    texts = [each for each in value.values() if isinstance(each, str)]
    return texts[0] if len(texts) == len(value) == 1 else value


def _is_call(value: Any) -> bool:
    return isinstance(value, dict) and "toolName" in value and "role" not in value


def _is_block(value: Any) -> bool:
    return isinstance(value, dict) and value.get("type") in ("text", "tool_use", "thinking")


def _offered(message: Any) -> Any:
    """Return the tool that a message offers: LangChain's tools come as messages of tools."""
    content = message.get("content")
    is_tool = isinstance(content, dict) and isinstance(content.get("function"), dict)
    return content if is_tool and message.get("role") == "tool" else None


def _genai(message: dict[str, Any], ignored: Counter[str]) -> list[dict[str, Any]]:
    parts = message.get("parts")
    if isinstance(parts, list) and any(isinstance(p, dict) and "type" in p for p in parts):
        return [message]
    if str(message.get("content")).startswith(_REPR):
        ignored["messages in Python's notation"] += 1
        return []
    found = read_messages([plain(message)], ignored)
    return [_written(each) for each in found if each.pieces]


def _written(message: Message) -> dict[str, Any]:
    return {
        "role": message.role,
        "parts": [
            {"type": "tool_call_response", "id": piece.call_id, "response": piece.text}
            if isinstance(piece, ToolResult)
            else as_part(piece)
            for piece in message.pieces
        ],
    }


def _listed(value: Any, key: str) -> list[Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []
