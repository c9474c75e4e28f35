"""Messages of chats as providers and tools write them → messages of a trajectory.

Reads OpenAI (Chat Completions with `tool_calls`, the older `function_call`, items of Responses),
Anthropic (`tool_use`, `tool_result`, `thinking`), Google (`parts`), Bedrock, LangChain's `type`
and ShareGPT's `from`. Calls that providers ran themselves are unchanged. What does not belong to a
trajectory (images, unknown blocks) is counted by name.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tracegrade_collector.importing.hosted import hosted_beside, is_hosted
from tracegrade_collector.importing.spellings import (
    as_id,
    as_object,
    as_text,
    block_text,
    first,
    quoted_word,
)
from tracegrade_collector.importing.times import nanoseconds
from tracegrade_collector.importing.tool_results import read_result, read_results, result_in
from tracegrade_collector.importing.trajectory import (
    HostedPart,
    Message,
    MessageText,
    Piece,
    Thought,
    ToolCall,
)
from tracegrade_collector.importing.usage import message_usage

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
_ROLE_KEYS: Final = ("role", "from", "type", "sender", "speaker")
_CONTENTS: Final = ("content", "value", "parts", "text", "message")
_CLIENT_CALLS: Final = (  # that OpenAI's models ask the client to run
    "apply_patch_call",
    "computer_call",
    "custom_tool_call",
    "function_call",
    "local_shell_call",
    "shell_call",
)
_ITEM_ROLES: Final = {  # items of OpenAI Responses that name no role
    **dict.fromkeys(_CLIENT_CALLS, "assistant"),
    **dict.fromkeys((f"{call}_output" for call in _CLIENT_CALLS), "tool"),
    "mcp_approval_response": "tool",
    "reasoning": "assistant",
}


class Chat(NamedTuple):
    """A chat that was read from a list of messages."""

    messages: list[Message]
    """Messages with a known role, in order."""

    unread: Counter[str]
    """Count of unread messages by reason: an unknown role, or no readable content."""


def is_message(value: Any, roles: Mapping[str, str] = ROLES) -> bool:
    """Return whether this looks like a message of a chat."""
    return isinstance(value, dict) and _role(value, roles) is not None


def has_role(value: Any) -> bool:
    """Return whether this is a message with a role of any name and some content."""
    return (
        isinstance(value, dict)
        and any(isinstance(value.get(key), str) for key in _ROLE_KEYS if key != "type")
        and any(key in value for key in (*_CONTENTS, "tool_calls"))
    )


def role_names(value: Any) -> Iterator[str]:
    """Yield the names of roles that a message has, in lower case."""
    names = (value.get(key) for key in _ROLE_KEYS) if isinstance(value, dict) else ()
    yield from (name.casefold() for name in names if isinstance(name, str))


def read_chat(values: Iterable[Any], ignored: Counter[str], roles: Mapping[str, str]) -> Chat:
    """Return the messages, and counts of those that were not understood.

    Args:
        values: Messages in any provider's spelling.
        ignored: Counts the parts that are left out of understood messages.
        roles: assistant, user, system or tool by each name of a role, in lower case.
    """
    chat = Chat([], Counter())
    for value in values:
        role = _role(value, roles) if isinstance(value, dict) else None
        if role is None:
            chat.unread[_no_role(value)] += 1
            continue
        left_out = Counter[str]()
        message = _message(role, value, left_out)
        ignored.update(left_out)
        chat.messages.append(message)
        if left_out and not message.pieces:
            chat.unread["messages without any readable content"] += 1
    return chat


def read_messages(values: Iterable[Any], ignored: Counter[str]) -> list[Message]:
    """Return the messages in order; others are counted in `ignored`."""
    chat = read_chat(values, ignored, ROLES)
    ignored.update(chat.unread)
    return chat.messages


def read_call(call: Mapping[str, Any]) -> ToolCall:
    """Return a call in any provider's spelling; one without a name has an empty one."""
    function = call.get("function")
    inner = {**call, **function} if isinstance(function, dict) else call
    named = function if isinstance(function, str) else None
    name = first(inner, "name", "toolName", "tool_name") or named
    arguments = first(
        inner, "arguments", "args", "input", "parameters", "kwargs", "action", "operation"
    )
    if inner.get("type") == "custom_tool_call":
        arguments = {"input": arguments}
    if name is None and inner.get("type") in _CLIENT_CALLS:
        name = str(inner["type"]).removesuffix("_call")
    return ToolCall(
        as_id(first(inner, "call_id", "id", "toolUseId", "toolCallId")),
        "" if name is None else as_text(name),
        None if arguments is None else as_text(arguments),
    )


def _role(value: dict[str, Any], roles: Mapping[str, str]) -> str | None:
    known = (roles.get(name) for name in role_names(value))
    if is_hosted(value):
        return next(filter(None, known), "assistant")
    return next(filter(None, known), None) or _ITEM_ROLES.get(str(value.get("type")))


def _no_role(value: Any) -> str:
    """Return why a message is not understood."""
    if not isinstance(value, dict):
        return "messages that are not objects"
    name = first(value, *_ROLE_KEYS)
    return "messages without a role" if name is None else f"messages of role {quoted_word(name)}"


def _message(role: str, value: dict[str, Any], ignored: Counter[str]) -> Message:
    pieces = list(_pieces(role, value, ignored))
    time = next((value[key] for key in ("timestamp", "created_at", "time") if key in value), None)
    model = value.get("model")
    return Message(
        role,
        pieces,
        nanoseconds(time),
        model if isinstance(model, str) else None,
        message_usage(value),
    )


def _pieces(role: str, value: dict[str, Any], ignored: Counter[str]) -> Iterator[Piece]:
    """Yield thoughts, texts, then calls: in Chat Completions they are fields, without an order."""
    for key in ("reasoning_content", "reasoning"):
        if isinstance(value.get(key), str) and value[key]:
            yield Thought(value[key])
            break
    if role == "assistant":
        yield from map(HostedPart, hosted_beside(value))
    if role == "tool":
        yield from read_results(value)
    elif str(value.get("type")) in _ITEM_ROLES or is_hosted(value):
        yield from _block(value, ignored)
    else:
        yield from _content(_content_of(value), ignored)
    if isinstance(value.get("refusal"), str) and value["refusal"]:
        yield MessageText(value["refusal"])
    yield from _requests(value, ignored)


def _content_of(value: dict[str, Any]) -> Any:
    return next((value[key] for key in _CONTENTS if key in value), None)


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
    """Yield the calls beside a message's content; LangChain may have them a level deeper."""
    more = as_object(value.get("additional_kwargs"))
    calls = value.get("tool_calls") or more.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        if isinstance(call, dict):
            yield read_call(call)
        else:
            ignored["tool calls that are not objects"] += 1
    if isinstance(value.get("function_call"), dict):
        yield read_call(value["function_call"])


def _block(block: dict[str, Any], ignored: Counter[str]) -> Iterator[Piece]:
    """Yield the parts of a content block."""
    if is_hosted(block):
        yield HostedPart(block)
    elif (call := _inner(block, _CALL_KEYS, _CALL_TYPES)) is not None:
        yield read_call(call)
    elif (result := result_in(block)) is not None:
        yield read_result(result)
    elif thought := _thought(block):
        yield Thought(thought)
    elif (text := block_text(block)) is not None:
        yield from _content(text, ignored)
    elif block.get("type") not in _THOUGHT_TYPES:  # a thought without its text is skipped
        ignored[f"content blocks of type {quoted_word(block.get('type'))}"] += 1


_CALL_KEYS: Final = ("toolUse", "functionCall", "function_call")
_CALL_TYPES: Final = ("tool_use", "tool_call", "tool-call", *_CLIENT_CALLS)
_THOUGHT_TYPES: Final = ("thinking", "reasoning", "reasoningContent", "summary_text")


def _inner(
    block: dict[str, Any], keys: Sequence[str], types: Sequence[str]
) -> dict[str, Any] | None:
    """Return a block's value under one of these keys, or the block if its type is one."""
    inner = next((block[key] for key in keys if isinstance(block.get(key), dict)), None)
    return block if inner is None and block.get("type") in types else inner


def _thought(block: dict[str, Any]) -> str | None:
    """Return the text of a thought; None for other blocks and thoughts without text."""
    text: Any = None
    if block.get("type") in _THOUGHT_TYPES:
        text = first(block, "thinking", "text", "content", "reasoning") or _summary(block)
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
