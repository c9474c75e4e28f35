"""The format `gemini`: session files of Gemini CLI (`~/.gemini/tmp/*/chats/session-*`) → spans.

A session is one trajectory, and so is each subagent's file, which names the folder of its parent
session as conversation. Newer versions write lines: a message again whenever it has grown, so the
last one counts, and checkpoints of the history, which add no work and are left out. Older
versions write a document. Messages that a rewind removed stay, since the agent has written them.

The form is that of google-gemini/gemini-cli 0.61 (November 2026).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from tracegrade_collector.importing.formats.session_part import read_session, session_part
from tracegrade_collector.importing.import_part import ImportPart, ReadOptions
from tracegrade_collector.importing.records import TOO_DEEP, JsonObject
from tracegrade_collector.importing.spellings import as_id, as_text, first, quoted_word
from tracegrade_collector.importing.times import nanoseconds
from tracegrade_collector.importing.tool_results import error_text
from tracegrade_collector.importing.trajectory import (
    Message,
    MessageText,
    Piece,
    RunOrigin,
    Thought,
    ToolCall,
    ToolResult,
    Trajectory,
)
from tracegrade_collector.importing.usage import read_usage

FORMAT: Final = "gemini"
AGENT: Final = "gemini-cli"
SUBAGENT: Final = "gemini-cli-subagent"

_CHATS: Final = "chats"
"""Folder of sessions; a subagent's file is in a folder below it, named as its parent."""

_CONTEXT: Final = ("<session_context>", "<hook_context>")
_TOKENS: Final = {
    "input": "promptTokenCount",
    "output": "candidatesTokenCount",
    "cached": "cachedContentTokenCount",
    "thoughts": "thoughtsTokenCount",
    "tool": "toolUsePromptTokenCount",
}
"""Name that the provider has for each count."""

_ENDED: Final = ("success", "error", "cancelled")


def fits(record: Any) -> bool:
    """Return whether a file that begins with this record is of this format."""
    return isinstance(record, dict) and "sessionId" in record and "projectHash" in record


def read(path: Path, _: ReadOptions) -> Iterator[ImportPart]:
    """Yield a part for the session of a file, after one for each invalid line."""
    session = _Session()
    for record in read_session(path):
        if record.fault:
            yield ImportPart(f"{path}:{record.line}", fault=record.fault)
        else:
            session.add(record.value)
    try:
        run = session.trajectory(path)
        if run.messages:
            yield session_part(path, 1, run, session.ignored)
            return
        fault = "no message of a session is in it"
    except RecursionError:
        fault = TOO_DEEP
    yield ImportPart(str(path), fault=fault, ignored=session.ignored)


class _Session:
    """Collects a session line by line."""

    def __init__(self) -> None:
        self.ignored: Counter[str] = Counter()
        self._meta: JsonObject = {}
        self._entries: dict[str, JsonObject] = {}

    def add(self, record: JsonObject) -> None:
        """Take a line, or a whole session."""
        if "$set" in record:
            changed = record["$set"]
            if isinstance(changed, dict) and "messages" in changed:
                self.ignored["checkpoints of the history"] += 1
        elif "$rewindTo" in record:
            self.ignored["rewinds"] += 1
        elif "type" in record:
            self._add_message(record)
        else:
            self._meta = self._meta or record
            messages = record.get("messages")
            for message in messages if isinstance(messages, list) else ():
                if isinstance(message, dict):
                    self._add_message(message)

    def trajectory(self, path: Path) -> Trajectory:
        """Return the session as one run."""
        session = as_id(self._meta.get("sessionId")) or path.stem
        is_subagent = self._meta.get("kind") == "subagent"
        nested = is_subagent and path.parent.parent.name == _CHATS
        return Trajectory(
            RunOrigin(FORMAT, session, "", 0),
            session,
            [message for entry in self._entries.values() for message in self._messages(entry)],
            agent=SUBAGENT if is_subagent else AGENT,
            conversation=path.parent.name if nested else session,
        )

    def _add_message(self, message: JsonObject) -> None:
        key = as_id(message.get("id")) or f"message {len(self._entries)}"
        self._entries[key] = message

    def _messages(self, entry: JsonObject) -> Iterator[Message]:
        """Yield the message that an entry is, and the results of its tools."""
        kind, time = entry.get("type"), nanoseconds(entry.get("timestamp"))
        if kind == "user":
            if texts := list(self._user_texts(entry)):
                yield Message("user", texts, time)
        elif kind == "gemini":
            calls = _objects(entry.get("toolCalls"))
            model = entry.get("model")
            yield Message(
                "assistant",
                [*_thoughts(entry), *self._texts(entry), *map(_call, calls)],
                time,
                model if isinstance(model, str) else None,
                _usage(entry.get("tokens")),
            )
            yield from self._results(calls)
        else:
            self.ignored[f"messages of type {quoted_word(kind)}"] += 1

    def _user_texts(self, entry: JsonObject) -> Iterator[Piece]:
        for piece in self._texts(entry):
            if piece.text.lstrip().startswith(_CONTEXT):
                self.ignored["messages that the user did not write"] += 1
            else:
                yield piece

    def _texts(self, entry: JsonObject) -> Iterator[MessageText]:
        """Yield the texts of a message; the results of its calls are in it a second time."""
        content = entry.get("content")
        for part in content if isinstance(content, list) else [content]:
            if isinstance(part, str):
                yield from [MessageText(part)] if part else []
            elif isinstance(part, dict) and isinstance(part.get("text"), str):
                if part.get("thought") is not True:
                    yield MessageText(part["text"])
            elif isinstance(part, dict) and not _OF_CALLS & part.keys():
                self.ignored[f"parts of type {quoted_word(next(iter(part), None))}"] += 1

    def _results(self, calls: Sequence[JsonObject]) -> Iterator[Message]:
        for call in calls:
            if call.get("status") in _ENDED:
                result = _result(call, self.ignored)
                yield Message("tool", [result], nanoseconds(call.get("timestamp")))


_OF_CALLS: Final = frozenset({"functionCall", "functionResponse"})


def _thoughts(entry: JsonObject) -> Iterator[Thought]:
    for thought in _objects(entry.get("thoughts")):
        words = (thought.get("subject"), thought.get("description"))
        if text := "\n".join(word for word in words if isinstance(word, str) and word):
            yield Thought(text)


def _call(call: JsonObject) -> ToolCall:
    args = call.get("args")
    return ToolCall(
        as_id(call.get("id")),
        as_text(call.get("name") or ""),
        None if args is None else as_text(args),
    )


def _result(call: JsonObject, ignored: Counter[str]) -> ToolResult:
    """Return what a call gave the model; else what it showed the user."""
    call_id, texts, error = as_id(call.get("id")), [], None
    content = call.get("result")
    for part in content if isinstance(content, list) else [content]:
        response = part.get("functionResponse") if isinstance(part, dict) else None
        if isinstance(response, dict) and response.get("id") in (None, call.get("id")):
            given = response.get("response")
            found = first(given, "output", "error") if isinstance(given, dict) else given
            texts.append(as_text(given if found is None else found))
            error = given.get("error") if isinstance(given, dict) else None
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and "inlineData" in part:
            ignored["images in tool results"] += 1
    shown = call.get("resultDisplay")
    text = "\n".join(texts) or (shown if isinstance(shown, str) else "")
    failed = call.get("status") != "success"
    reason = error_text(error) if failed and error else None
    return ToolResult(call_id, as_text(call.get("name") or ""), text, failed, error=reason)


def _usage(tokens: Any) -> dict[str, int]:
    counts = tokens if isinstance(tokens, dict) else {}
    return read_usage({name: counts.get(key) for key, name in _TOKENS.items()})


def _objects(value: Any) -> list[JsonObject]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
