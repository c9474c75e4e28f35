"""`--code-calls`: fenced code of a model, with the reply after it, → calls.

For logs of agents that act by writing code. A code block is a call, its language is the tool, and
the text before it is a thought. The next message, if the user's or a tool's, is the result. Blocks
in languages that are not run (JSON, a document, an output) are part of the model's text. Code is
kept unchanged: its language is not guessed and it is not taken apart.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from tracegrade.errors import BadInput
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

_SAME: Final[Mapping[str, str]] = {
    **dict.fromkeys(("py", "python3", "ipython"), "python"),
    **dict.fromkeys(("js", "node"), "javascript"),
    **dict.fromkeys(("ps1", "pwsh"), "powershell"),
    "shell": "sh",
    "ts": "typescript",
}
"""Languages that have several names in fences."""

_NEVER_RUN: Final = frozenset(
    {"console", "csv", "css", "diff", "html", "http", "ini", "json", "json5", "jsonc", "jsonl"}
    | {"latex", "log", "markdown", "md", "mermaid", "output", "patch", "plain", "plaintext"}
    | {"svg", "tex", "text", "toml", "tsv", "txt", "xml", "yaml", "yml"}
)
"""Data, documents and what programs put out."""

_FENCE: Final = re.compile(r"[ \t]*(`{3,}|~{3,})([^`]*)")
_LANGUAGE: Final = re.compile(r"\w[\w+#-]*")


class Block(NamedTuple):
    """A code block in a text, or the text between two blocks."""

    tool: str | None
    """Language of the code; None for other text."""

    text: str


def parse_languages(texts: Iterable[str]) -> frozenset[str]:
    """Return the languages, each by the one name that its calls have.

    Raises:
        BadInput: A text is not LANGUAGE,….
    """
    named = [each.strip().casefold() for text in texts for each in text.split(",")]
    for each in named:
        if not _LANGUAGE.fullmatch(each):
            msg = f"--code-language must be LANGUAGE,…, such as python,bash, got '{each}'"
            raise BadInput(msg)
    return frozenset(_SAME.get(each, each) for each in named)


def code_calls(messages: Sequence[Message], languages: Collection[str] = ()) -> list[Message]:
    """Return the messages, with code that got a reply as calls and the reply as the result.

    A message that requests tools in another way is unchanged. If a message has several blocks, the
    reply belongs to the last one; the results of the other blocks are unknown.

    Args:
        messages: The messages of a run.
        languages: Languages whose code is a call; if empty, all languages that are run.
    """
    found: list[Message] = []
    awaited: str | None = None  # id of the call that the next message replies to
    for index, message in enumerate(messages):
        after = messages[index + 1] if index + 1 < len(messages) else None
        call_id, awaited = awaited, None
        if call_id is not None:
            found.append(_reply(message, call_id))
        elif _is_reply(after) and (pieces := _pieces(message, f"code-{index}", languages)):
            found.append(replace(message, pieces=pieces))
            awaited = next(p.call_id for p in reversed(pieces) if isinstance(p, ToolCall))
        else:
            found.append(message)
    return found


def blocks(text: str, languages: Collection[str] = ()) -> Iterator[Block]:
    """Yield code and other texts in order; an open fence ends with the text."""
    text_lines: list[str] = []
    opening, fence, code = "", "", list[str]()
    for line in [*text.splitlines(), None]:
        opened = _FENCE.fullmatch(line) if line is not None and not fence else None
        if opened and line is not None:
            opening, fence, code = line, opened[1], []
        elif fence and (line is None or _closes(fence, line)):
            if _is_run(tool := _tool(opening.strip().lstrip("`~")), languages):
                yield from _block(None, text_lines)
                yield from _block(tool, code)
                text_lines = []
            else:
                text_lines += [opening, *code, *([] if line is None else [line])]
            fence = ""
        elif line is not None:
            (code if fence else text_lines).append(line)
    yield from _block(None, text_lines)


def _tool(info: str) -> str:
    """Return the language that a fence names, which `{.python}` and `Python 3` do too."""
    named = _LANGUAGE.search(info)
    name = named[0].casefold() if named else CODE
    return _SAME.get(name, name)


def _is_run(tool: str, languages: Collection[str]) -> bool:
    """Return whether code of a language is run."""
    return tool in languages if languages else tool not in _NEVER_RUN


def _closes(fence: str, line: str) -> bool:
    """Return whether a line ends the code: enough marks, or smolagents' end of code."""
    bare = line.strip().removesuffix("<end_code>").rstrip()
    return bare.startswith(fence) and not bare.strip(fence[0])


def _block(tool: str | None, lines: Sequence[str]) -> Iterator[Block]:
    text = "\n".join(lines)
    if text.strip():
        yield Block(tool, text if tool else text.strip())


def _is_reply(message: Message | None) -> bool:
    return message is not None and message.role in ("user", "tool") and bool(message.pieces)


def _pieces(message: Message, name: str, languages: Collection[str]) -> list[Piece]:
    """Return the pieces of a model's message that writes code; empty for other messages."""
    if message.role != "assistant" or any(isinstance(each, ToolCall) for each in message.pieces):
        return []
    pieces: list[Piece] = []
    for piece in message.pieces:
        parts = list(blocks(piece.text, languages)) if isinstance(piece, MessageText) else []
        last = max((position for position, part in enumerate(parts) if part.tool), default=-1)
        if last < 0:
            pieces.append(piece)
        for position, (tool, text) in enumerate(parts if last >= 0 else ()):
            if tool:
                arguments = json.dumps({"code": text}, ensure_ascii=False)
                pieces.append(ToolCall(f"{name}.{len(pieces)}", tool, arguments))
            else:
                pieces.append(Thought(text) if position < last else MessageText(text))
    return pieces if any(isinstance(each, ToolCall) for each in pieces) else []


def _reply(message: Message, call_id: str) -> Message:
    """Return the reply to code as the result of its last call."""
    pieces = [each for each in message.pieces if isinstance(each, MessageText | ToolResult)]
    results = [each for each in pieces if isinstance(each, ToolResult)]
    failed = any(each.failed for each in results)
    error = next((each.error for each in results if each.error), None)
    result = ToolResult(call_id, None, joined([each.text for each in pieces]), failed, error)
    others = (each for each in message.pieces if not isinstance(each, MessageText | ToolResult))
    return replace(message, role="tool", pieces=[result, *others])
