"""The format `qwen`: Qwen Code's session files (`~/.qwen/projects/*/chats/*.jsonl`) → spans.

A line is a message of Google's form, or bookkeeping. A session is one trajectory, and so is each
of its subagents; they share the session's id as conversation. Summaries by compression, hook
contexts and notifications are left out, and so are lines that a fork has copied. Messages that a
rewind removed stay, since the agent has written them. A call failed if its status says so, or its
response is an error.

The form is that of QwenLM/qwen-code (`ChatRecord`, 015346f, August 2026), read from its source.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from tracegrade_collector.importing.chat import read_messages
from tracegrade_collector.importing.formats.session_part import read_session, session_part
from tracegrade_collector.importing.import_part import ImportPart, ReadOptions
from tracegrade_collector.importing.records import TOO_DEEP, JsonObject
from tracegrade_collector.importing.spellings import (
    as_id,
    as_list,
    as_object,
    as_text,
    first,
    quoted_word,
)
from tracegrade_collector.importing.times import nanoseconds
from tracegrade_collector.importing.tool_results import error_text
from tracegrade_collector.importing.trajectory import (
    Message,
    RunOrigin,
    ToolResult,
    Trajectory,
)
from tracegrade_collector.importing.usage import read_usage

FORMAT: Final = "qwen"
AGENT: Final = "qwen-code"
SUBAGENT: Final = "qwen-code-subagent"
MAIN: Final = ""

_MESSAGES: Final = ("user", "assistant", "tool_result")
_BY_USER: Final = (None, "mid_turn_user_message")
"""Subtypes of what the user wrote."""

_HOOK_CONTEXT: Final = "<qwen:user-prompt-submit-context>"
_FAILED: Final = ("error", "cancelled")


def fits(record: Any) -> bool:
    """Return whether a file that begins with this record is of this format."""
    line = as_object(record)
    if not line.keys() >= {"uuid", "sessionId", "type"}:
        return False
    has_parts = isinstance(as_object(line.get("message")).get("parts"), list)
    return has_parts or (line["type"] == "system" and "systemPayload" in line)


def read(path: Path, _: ReadOptions) -> Iterator[ImportPart]:
    """Yield a part for each trajectory of a session, after one for each invalid line."""
    session = _Session()
    for record in read_session(path):
        if record.fault:
            yield ImportPart(f"{path}:{record.line}", fault=record.fault)
        else:
            try:
                session.add(record.line, record.value)
            except RecursionError:
                yield ImportPart(f"{path}:{record.line}", fault=TOO_DEEP)
    ignored = session.ignored
    for number, chain in enumerate(session.chains):
        run = session.trajectory(path, chain, number)
        yield session_part(path, session.line_of[chain], run, ignored)
        ignored = Counter()
    if not session.chains:
        yield ImportPart(str(path), fault="no message of a session is in it", ignored=ignored)


class _Session:
    """Collects the messages of a session and its subagents, line by line."""

    def __init__(self) -> None:
        self.chains: dict[str, list[Message]] = {}
        """Messages by the subagent's id; those of the session itself by an empty one."""
        self.line_of: dict[str, int] = {}
        self.ignored: Counter[str] = Counter()
        self._session: str | None = None
        self._release: str | None = None

    def add(self, number: int, line: JsonObject) -> None:
        """Take a line: a message into its chain, another into the counts."""
        self._session = self._session or as_id(line.get("sessionId"))
        version = line.get("version")
        self._release = version if isinstance(version, str) and version else self._release
        if reason := _left_out(line):
            self.ignored[reason] += 1
            return
        messages = list(self._messages(line))
        if messages:
            chain = as_id(line.get("agentId")) or MAIN
            self.line_of.setdefault(chain, number)
            self.chains.setdefault(chain, []).extend(messages)

    def trajectory(self, path: Path, chain: str, number: int) -> Trajectory:
        """Return a chain as one run."""
        session = self._session or path.stem
        return Trajectory(
            RunOrigin(FORMAT, session, chain, number),
            f"{session}:{self.line_of[chain]}",
            self.chains[chain],
            release=self._release,
            agent=SUBAGENT if chain else AGENT,
            conversation=session,
        )

    def _messages(self, line: JsonObject) -> Iterator[Message]:
        time = nanoseconds(line.get("timestamp"))
        parts = [each for each in as_list(line["message"].get("parts")) if isinstance(each, dict)]
        if line["type"] == "tool_result":
            yield from (_result(part, line, time) for part in parts if "functionResponse" in part)
            return
        kept = [part for part in parts if self._is_of_author(part)]
        by_model = line["type"] == "assistant"
        message = {"role": "model" if by_model else "user", "parts": kept}
        for each in read_messages([message], self.ignored):
            model = line.get("model") if by_model else None
            usage = _usage(line.get("usageMetadata")) if by_model else {}
            role = "assistant" if by_model else "user"
            name = model if isinstance(model, str) and model else None
            yield Message(role, each.pieces, time, name, usage)

    def _is_of_author(self, part: JsonObject) -> bool:
        """Return whether a part is a text or a call of its author; files are counted."""
        for key in ("inlineData", "fileData"):
            if key in part:
                self.ignored[f"parts of type '{key}'"] += 1
                return False
        text = part.get("text")
        return not (isinstance(text, str) and text.startswith(_HOOK_CONTEXT))


def _left_out(line: JsonObject) -> str | None:
    """Return why a line is no message of the user, the model or a tool; None if it is one."""
    kind, subtype = line.get("type"), line.get("subtype")
    if kind == "system" and isinstance(subtype, str):
        return f"lines of type {quoted_word(subtype)}"
    if kind not in _MESSAGES:
        return f"lines of type {quoted_word(kind)}"
    if isinstance(line.get("forkedFrom"), dict):
        return "lines copied from the session that was forked"
    if not isinstance(line.get("message"), dict):
        return "lines without a message"
    if kind == "user" and subtype not in _BY_USER:
        return "messages that the user did not write"
    return None


def _result(part: JsonObject, line: JsonObject, time: int | None) -> Message:
    """Return what a call gave the model."""
    response, shown = as_object(part["functionResponse"]), as_object(line.get("toolCallResult"))
    given = as_object(response.get("response"))
    found = first(given, "output", "error")
    failed = shown.get("status") in _FAILED or given.get("error") is not None
    reason = shown.get("error") or given.get("error")
    result = ToolResult(
        as_id(response.get("id")),
        as_text(response.get("name") or ""),
        as_text(given if found is None else found),
        failed=failed,
        error=error_text(reason) if failed and reason else None,
    )
    return Message("tool", [result], time)


def _usage(tokens: Any) -> dict[str, int]:
    """Return the tokens of a response.

    Providers of OpenAI's form count thoughts as part of the output, as their total shows.
    """
    counts: Mapping[str, Any] = as_object(tokens)
    given, output = counts.get("promptTokenCount"), counts.get("candidatesTokenCount")
    thoughts, total = counts.get("thoughtsTokenCount"), counts.get("totalTokenCount")
    if type(given) is int and type(output) is int and thoughts and given + output == total:
        rest = {key: value for key, value in counts.items() if key != "thoughtsTokenCount"}
        return read_usage({**rest, "reasoning_tokens": thoughts})
    return read_usage(counts)
