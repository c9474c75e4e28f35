"""`--code-calls`: fenced code of a model, with the reply after it, → calls.

For logs of agents that act by writing code: a block is a call of the tool that is its language,
what is said before it a thought, and the next message, if the user's or a tool's, its result.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from tracegrade_collector.importing.spellings import joined
from tracegrade_collector.importing.trajectory import (
    Message,
    MessageText,
    Piece,
    Thought,
    ToolCall,
    ToolResult,
)

CODE: Final = "code"
"""The tool of a block that does not say its language."""

_FENCE: Final = re.compile(r"[ \t]*(`{3,}|~{3,})([^`]*)")
_LANGUAGE: Final = re.compile(r"\w[\w+#-]*")


class Block(NamedTuple):
    """Code in a text, or what stands between."""

    tool: str | None
    """Language of the code; None for other text."""

    text: str


def code_calls(messages: Sequence[Message]) -> list[Message]:
    """Return the messages, with code that got a reply as calls and the replies as their results.

    A message that requests tools in another way stays as it is. Of several blocks in a message the
    reply belongs to the last; what became of the others is not known.
    """
    found: list[Message] = []
    awaited: str | None = None  # id of the call that the next message replies to
    for index, message in enumerate(messages):
        after = messages[index + 1] if index + 1 < len(messages) else None
        call_id, awaited = awaited, None
        if call_id is not None:
            found.append(_reply(message, call_id))
        elif _is_reply(after) and (pieces := _pieces(message, f"code-{index}")):
            found.append(replace(message, pieces=pieces))
            awaited = next(p.call_id for p in reversed(pieces) if isinstance(p, ToolCall))
        else:
            found.append(message)
    return found


def blocks(text: str) -> Iterator[Block]:
    """Yield code and other texts in order; a fence that is not closed ends with the text."""
    fence, tool, lines = "", "", list[str]()
    for line in text.splitlines():
        opened = None if fence else _FENCE.fullmatch(line)
        if opened:
            yield from _block(None, lines)
            fence, tool, lines = opened[1], _tool(opened[2]), []
        elif fence and _closes(fence, line):
            yield from _block(tool, lines)
            fence, lines = "", []
        else:
            lines.append(line)
    yield from _block(tool if fence else None, lines)


def _tool(info: str) -> str:
    """Return the language that a fence names, which `{.python}` and `Python 3` do too."""
    named = _LANGUAGE.search(info)
    return named[0].casefold() if named else CODE


def _closes(fence: str, line: str) -> bool:
    """Return whether a line ends the code: at least as many marks, and smolagents' end of code."""
    bare = line.strip().removesuffix("<end_code>").rstrip()
    return bare.startswith(fence) and not bare.strip(fence[0])


def _block(tool: str | None, lines: Sequence[str]) -> Iterator[Block]:
    text = "\n".join(lines)
    if text.strip():
        yield Block(tool, text if tool else text.strip())


def _is_reply(message: Message | None) -> bool:
    return message is not None and message.role in ("user", "tool") and bool(message.pieces)


def _pieces(message: Message, name: str) -> list[Piece]:
    """Return the pieces of a message of the model that writes code; none if it does not."""
    if message.role != "assistant" or any(isinstance(each, ToolCall) for each in message.pieces):
        return []
    pieces: list[Piece] = []
    for piece in message.pieces:
        parts = list(blocks(piece.text)) if isinstance(piece, MessageText) else []
        last = max((place for place, part in enumerate(parts) if part.tool), default=-1)
        if last < 0:
            pieces.append(piece)
        for place, (tool, text) in enumerate(parts if last >= 0 else ()):
            if tool:
                arguments = json.dumps({"code": text}, ensure_ascii=False)
                pieces.append(ToolCall(f"{name}.{len(pieces)}", tool, arguments))
            else:
                pieces.append(Thought(text) if place < last else MessageText(text))
    return pieces if any(isinstance(each, ToolCall) for each in pieces) else []


def _reply(message: Message, call_id: str) -> Message:
    """Return the reply to code as the result of its last call."""
    said = [each for each in message.pieces if isinstance(each, MessageText | ToolResult)]
    results = [each for each in said if isinstance(each, ToolResult)]
    failed = any(each.failed for each in results)
    error = next((each.error for each in results if each.error), None)
    result = ToolResult(call_id, None, joined([each.text for each in said]), failed, error)
    others = (each for each in message.pieces if not isinstance(each, MessageText | ToolResult))
    return replace(message, role="tool", pieces=[result, *others])
