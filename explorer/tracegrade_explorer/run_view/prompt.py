"""The prompt of a model before a step, from its span, message by message. Pure.

Spans write it in several ways: a list of messages as JSON, a key for each part of each message, or
an event for each message. A prompt in another form is not found.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import orjson

WHOLE_KEYS: Final = (
    "gen_ai.system_instructions", "gen_ai.input.messages", "pydantic_ai.all_messages",
    "gen_ai.prompt", "traceloop.entity.input", "haystack.agent.step.llm.input",
)  # fmt: skip
"""Keys of attributes that hold all messages, or the system messages."""
LAST_KEY: Final = "input.value"
"""Holds everything that a span was given; read where nothing else is known."""
PART_KEY: Final = re.compile(r"(?:llm\.input_messages|gen_ai\.prompt)\.(\d{1,6})\.(.+)")
"""Pattern of attributes that hold a part of one message."""
EVENT: Final = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message")
MOST_CHARACTERS: Final = 1_000_000
"""Length of a prompt on the page."""


def prompt_text(attributes: Mapping[str, str | None], events: Iterable[Mapping[str, Any]]) -> str:
    """Return the model's prompt; '' if the span does not hold it.

    Args:
        attributes: Of the span of the model call.
        events: Of the same span.
    """
    found = [*_whole(attributes), *_parts(attributes), *_events(events)]
    if not found and (text := attributes.get(LAST_KEY)):
        found = [*_messages(text)]
    return "\n\n".join(found)[:MOST_CHARACTERS]


def _whole(attributes: Mapping[str, str | None]) -> Iterator[str]:
    for key in WHOLE_KEYS:
        if text := attributes.get(key):
            yield from _messages(text, "system" if key.endswith("instructions") else "")


def _parts(attributes: Mapping[str, str | None]) -> Iterator[str]:
    """Yield the messages whose parts have keys of their own."""
    messages: dict[int, dict[str, str]] = {}
    for key, text in attributes.items():
        if text and (match := PART_KEY.fullmatch(key)):
            part = match[2].removeprefix("message.")
            messages.setdefault(int(match[1]), {})[part] = text
    for _, parts in sorted(messages.items()):
        role = parts.pop("role", "")
        yield _message(role, "\n".join(parts.values()))


def _events(events: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for event in events:
        if match := EVENT.fullmatch(event["name"] or ""):
            given = event["attributes"] or {}
            yield _message(match[1], given.get("content") or given.get("gen_ai.event.content", ""))


def _messages(text: str, role: str = "") -> Iterator[str]:
    """Yield each message of a list in JSON; another text as it stands."""
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        yield _message(role, text)
        return
    if isinstance(found, dict) and isinstance(found.get("messages"), list):
        found = found["messages"]
    if not isinstance(found, list):
        yield _message(role, found if isinstance(found, str) else _json(found))
        return
    for each in found:
        if isinstance(each, dict):
            yield _message(str(each.get("role") or role), _content(each))
        else:
            yield _message(role, each if isinstance(each, str) else _json(each))


def _content(message: Mapping[str, Any]) -> str:
    content = message.get("content", message.get("parts"))
    if isinstance(content, str):
        rest = {key: each for key, each in message.items() if key not in {"role", "content"}}
        return f"{content}\n{_json(rest)}" if rest.get("tool_calls") else content
    if isinstance(content, list):
        return "\n".join(_part(part) for part in content)
    return _json({key: each for key, each in message.items() if key != "role"})


def _part(part: object) -> str:
    if isinstance(part, dict):
        text = part.get("content", part.get("text"))
        if isinstance(text, str):
            return text
    return part if isinstance(part, str) else _json(part)


def _message(role: str, text: str) -> str:
    return f"{role}:\n{text}" if role else text


def _json(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
