"""A model's conversation (messages, tool calls, replies) in a form that fits every API.

Two records of one conversation, such as a request and earlier spans, are equal here. APIs and
instrumentations write them differently: texts lose outer blanks; reasoning, which APIs drop, sign
or encrypt, is left out, and so are ids. Results are in the order of their calls.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple, Self

INSTRUCTIONS: Final = "instructions"
"""Key for the instructions of the agent's author, if a conversation is a key."""
INSTRUCTING: Final = frozenset({"system", "developer"})
"""Roles of messages that come from the agent's author."""
_ANSWERING: Final = frozenset({"assistant", "ai", "model"})
_TEXT_BLOCKS: Final = frozenset({"text", "input_text", "output_text"})


class Text(NamedTuple):
    """A text in a conversation."""

    role: str
    """The role in the message."""
    text: str


class ToolRequest(NamedTuple):
    """A tool call that the model requests."""

    tool: str
    arguments: str
    """JSON as the model wrote it; it may be invalid."""
    id: str | None = None


class Result(NamedTuple):
    """The result of a tool call, as the model receives it."""

    text: str
    id: str | None = None
    """Id of the call."""


class Reasoning(NamedTuple):
    """The model's reasoning."""

    text: str


Part = Text | ToolRequest | Result | Reasoning


class ModelTurn(NamedTuple):
    """One reply of a model."""

    parts: tuple[Part, ...]
    model: str | None = None
    """Name of the model."""
    input_tokens: int | None = None
    output_tokens: int | None = None

    @property
    def text(self) -> str | None:
        """All texts of the reply; None if it has none."""
        texts = [part.text for part in self.parts if isinstance(part, Text)]
        return "\n".join(texts) if texts else None

    @property
    def calls(self) -> list[ToolRequest]:
        """The tool calls that it requests."""
        return [part for part in self.parts if isinstance(part, ToolRequest)]

    @property
    def reasoning(self) -> str | None:
        """The model's reasoning; None if there is none."""
        texts = [part.text for part in self.parts if isinstance(part, Reasoning)]
        return "\n".join(texts) if texts else None

    def as_json(self) -> dict[str, Any]:
        """Return it in the form for tapes."""
        parts = [_part_as_json(part) for part in self.parts]
        optional = {
            "model": self.model,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
        }
        return {
            "says": parts,
            **{key: value for key, value in optional.items() if value is not None},
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Return a reply from a tape.

        Raises:
            ValueError: It is not a reply.
        """
        try:
            parts = tuple(_part_from_json(part) for part in value["says"])
            tokens = value.get("input_tokens"), value.get("output_tokens")
            return cls(parts, value.get("model"), *tokens)
        except (AttributeError, KeyError, TypeError) as error:
            msg = f"it is not a model's answer: {error!r}"
            raise ValueError(msg) from error


def key_arguments(parts: Iterable[Part], *, instructed: bool = True) -> dict[str, Any]:
    """Return the key that identifies a conversation, as JSON.

    Args:
        parts: All parts, in order.
        instructed: Whether the author's instructions belong to the key.
    """
    given = [*parts]
    texts = [_stripped(part) for part in given if is_instruction(part)]
    instructions = "\n".join(filter(None, texts)) if instructed else ""
    compared = [
        part for part in given if not isinstance(part, Reasoning) and not is_instruction(part)
    ]
    key: dict[str, Any] = {"messages": [*_messages(_in_order_of_calls(compared))]}
    return {**key, INSTRUCTIONS: instructions} if instructions else key


def is_instruction(part: Part) -> bool:
    """Return whether a part comes from the agent's author."""
    return isinstance(part, Text) and part.role in INSTRUCTING


def plain_text(content: object) -> str:
    """Return the content of a message, a text or a list of blocks, as text."""
    if isinstance(content, list):
        texts = [block if isinstance(block, str) else _block_text(block) for block in content]
        return "\n".join(text for text in texts if text is not None)
    return content if isinstance(content, str) else ""


def _block_text(block: object) -> str | None:
    text = block.get("text") if isinstance(block, dict) else None
    return text if isinstance(text, str) else None


def _messages(parts: Sequence[Part]) -> Iterator[dict[str, Any]]:
    """Yield the messages; consecutive texts of one role become one."""
    for role, group in groupby(parts, _role):
        if role is None:
            yield from map(_call_or_result, group)
        elif text := "\n".join(filter(None, map(_stripped, group))):
            yield {role: text}


def _role(part: Part) -> str | None:
    """Return the role of a text; None for other parts."""
    if not isinstance(part, Text):
        return None
    return "assistant" if part.role in _ANSWERING else "user"


def _stripped(part: Part) -> str:
    return part.text.strip() if isinstance(part, Text) else ""


def _call_or_result(part: Part) -> dict[str, Any]:
    if isinstance(part, ToolRequest):
        return {"call": part.tool, "arguments": _value(part.arguments or "{}")}
    return {"result": _result(part.text if isinstance(part, Result) else "")}


def _result(text: str) -> Any:
    """Return a result as JSON, else as text; text in JSON or blocks is unwrapped."""
    value = _value(text)
    if isinstance(value, dict) and value.get("type") == "text":
        value = [value]
    if isinstance(value, list) and value and all(map(_is_text_block, value)):
        value = "\n".join(block["text"] for block in value)
    return _value(value) if isinstance(value, str) and value != text else value


def _is_text_block(value: object) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        return False
    return value.get("type", "text") in _TEXT_BLOCKS


def _value(text: str) -> Any:
    """Return a text as JSON, else without outer blanks."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text.strip()


def _in_order_of_calls(parts: Sequence[Part]) -> list[Part]:
    """Return parts in which consecutive results have the order of their calls."""
    places = {part.id: place for place, part in enumerate(parts) if isinstance(part, ToolRequest)}
    ordered: list[Part] = []
    for are_results, group in groupby(parts, lambda part: isinstance(part, Result)):
        block = [*group]
        if are_results:
            block.sort(key=lambda part: places.get(getattr(part, "id", None), len(parts)))
        ordered += block
    return ordered


def _part_as_json(part: Part) -> dict[str, Any]:
    match part:
        case ToolRequest():
            called = {"call": part.tool, "arguments": part.arguments}
            return called if part.id is None else {**called, "id": part.id}
        case Reasoning():
            return {"reasoning": part.text}
        case _:
            return {"text": part.text}


def _part_from_json(part: Mapping[str, Any]) -> Part:
    if "call" in part:
        return ToolRequest(str(part["call"]), str(part["arguments"]), part.get("id"))
    if "reasoning" in part:
        return Reasoning(str(part["reasoning"]))
    return Text("assistant", str(part["text"]))
