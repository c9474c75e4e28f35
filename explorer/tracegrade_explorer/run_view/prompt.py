"""The prompt of a model before a step, and its answer, from its span, message by message. Pure.

Spans write it in several ways: a list of messages as JSON, a key for each part of each message, or
an event for each message. A prompt in another form is not found.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import orjson

from tracegrade_scoring.rendering import words


class PromptMessage(NamedTuple):
    """One message of a model call."""

    role: str
    """'' if the span does not name it."""
    text: str


class MessageKeys(NamedTuple):
    """The attributes that hold the messages of one direction."""

    whole: tuple[str, ...]
    """Hold all messages, or the system messages."""
    part: re.Pattern[str]
    """Hold a part of one message."""
    last: str
    """Holds everything of that direction; read where nothing else is known."""


INPUT: Final = MessageKeys(
    ("gen_ai.system_instructions", "gen_ai.input.messages", "pydantic_ai.all_messages",
     "gen_ai.prompt", "traceloop.entity.input", "haystack.agent.step.llm.input"),
    re.compile(r"(?:llm\.input_messages|gen_ai\.prompt)\.(\d{1,6})\.(.+)"),
    "input.value",
)  # fmt: skip
OUTPUT: Final = MessageKeys(
    ("gen_ai.output.messages", "traceloop.entity.output", "haystack.agent.step.llm.output"),
    re.compile(r"(?:llm\.output_messages|gen_ai\.completion)\.(\d{1,6})\.(.+)"),
    "output.value",
)
EVENT: Final = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message")
MOST_CHARACTERS: Final = 1_000_000
"""Length of a prompt on the page."""


def prompt_messages(
    attributes: Mapping[str, str | None], events: Iterable[Mapping[str, Any]]
) -> list[PromptMessage]:
    """Return the messages of the model's prompt; none if the span does not hold it.

    Args:
        attributes: Of the span of the model call.
        events: Of the same span.
    """
    found = [*messages_of(attributes, INPUT), *_events(events)]
    return _within(found or last_message(attributes, INPUT), MOST_CHARACTERS)


def prompt_text(messages: Iterable[PromptMessage]) -> str:
    """Return a prompt as one text, each message below its role."""
    return "\n\n".join(f"{role}:\n{text}" if role else text for role, text in messages)


def span_messages(
    attributes: Mapping[str, str | None], keys: MessageKeys, most: int
) -> list[PromptMessage]:
    """Return the messages that a span holds, of so many characters in all.

    Args:
        attributes: Of the span.
        keys: Of one direction.
        most: Limit of the characters.
    """
    return _within(messages_of(attributes, keys) or last_message(attributes, keys), most)


def _within(messages: Iterable[PromptMessage], most: int) -> list[PromptMessage]:
    """Return the first messages, of so many characters in all."""
    found, left = list[PromptMessage](), most
    for role, text in messages:
        if left <= 0:
            break
        found.append(PromptMessage(role, words.clip(text, left)))
        left -= len(text)
    return found


def messages_of(attributes: Mapping[str, str | None], keys: MessageKeys) -> list[PromptMessage]:
    """Return the messages that attributes of one direction hold."""
    return [*_whole(attributes, keys), *_parts(attributes, keys)]


def last_message(attributes: Mapping[str, str | None], keys: MessageKeys) -> list[PromptMessage]:
    """Return the messages of the attribute that is read where nothing else is known."""
    text = attributes.get(keys.last)
    return [*_messages(text)] if text else []


def _whole(attributes: Mapping[str, str | None], keys: MessageKeys) -> Iterator[PromptMessage]:
    for key in keys.whole:
        if text := attributes.get(key):
            yield from _messages(text, "system" if key.endswith("instructions") else "")


def _parts(attributes: Mapping[str, str | None], keys: MessageKeys) -> Iterator[PromptMessage]:
    """Yield the messages whose parts have keys of their own."""
    messages: dict[int, dict[str, str]] = {}
    for key, text in attributes.items():
        if text and (match := keys.part.fullmatch(key)):
            part = match[2].removeprefix("message.")
            messages.setdefault(int(match[1]), {})[part] = text
    for _, parts in sorted(messages.items()):
        role = parts.pop("role", "")
        yield PromptMessage(role, "\n".join(parts.values()))


def _events(events: Iterable[Mapping[str, Any]]) -> Iterator[PromptMessage]:
    for event in events:
        if match := EVENT.fullmatch(event["name"] or ""):
            given = event["attributes"] or {}
            yield PromptMessage(
                match[1], given.get("content") or given.get("gen_ai.event.content", "")
            )


def _messages(text: str, role: str = "") -> Iterator[PromptMessage]:
    """Yield each message of a list in JSON; another text as it stands."""
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        yield PromptMessage(role, text)
        return
    if isinstance(found, dict) and isinstance(found.get("messages"), list):
        found = found["messages"]
    if not isinstance(found, list):
        yield PromptMessage(role, found if isinstance(found, str) else _json(found))
        return
    for each in found:
        if isinstance(each, dict):
            yield PromptMessage(str(each.get("role") or role), _content(each))
        else:
            yield PromptMessage(role, each if isinstance(each, str) else _json(each))


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


def _json(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
