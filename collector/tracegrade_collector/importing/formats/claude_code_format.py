"""The format `claude-code`: Claude Code's session files (`~/.claude/projects/*/*.jsonl`) → spans.

A line is one block of a message, or bookkeeping. A session is one trajectory, and so is each of
its subagents (side chains, which newer versions write to `*/subagents/**/agent-*.jsonl`); they
share the session's id as conversation. Summaries by compaction, output of local commands and
messages that Claude Code wrote in the model's place are left out, and so is the history that a
fork has copied. Ids are made from the session's, so a file that was moved is known.

The form is that of Claude Code 2.1.197 (November 2026).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from tracegrade_collector.importing.chat import read_messages
from tracegrade_collector.importing.formats.session_part import (
    read_session,
    session_part,
    without_images,
)
from tracegrade_collector.importing.import_part import ImportPart, ReadOptions
from tracegrade_collector.importing.records import TOO_DEEP
from tracegrade_collector.importing.spellings import quoted_word
from tracegrade_collector.importing.times import nanoseconds
from tracegrade_collector.importing.trajectory import Message, RunOrigin, Trajectory

FORMAT: Final = "claude-code"
AGENT: Final = "claude-code"
SUBAGENT: Final = "claude-code-subagent"
MAIN: Final = ""

_SYNTHETIC: Final = "<synthetic>"
"""Model of the messages that Claude Code wrote itself, such as errors of the API."""

_COMMAND: Final = "<command-name>"
_COMMAND_OUTPUT: Final = ("<local-command-stdout>", "<local-command-stderr>")
_COPY_NS: Final = 1_000_000_000
"""A line that is so much older than the file's first was copied from another session."""

_NEEDED: Final = ("message", "sessionId", "timestamp", "version")
"""Keys of a line that are held; another repeats the results of tools."""

_NOT_BY_USER: Final = "messages that the user did not write"
_COPIED: Final = "lines copied from the session that was forked"


class SessionLine(NamedTuple):
    """A line that is a message, or a piece of one."""

    number: int
    entry: dict[str, Any]
    chain: str
    """The side chain it belongs to; empty for the session itself."""


def fits(record: Any) -> bool:
    """Return whether a file that begins with this record is of this format."""
    if not isinstance(record, dict) or not isinstance(record.get("type"), str):
        return False
    names = ("sessionId", "leafUuid")
    return record["type"] == "file-history-snapshot" or any(name in record for name in names)


def read(path: Path, _: ReadOptions) -> Iterator[ImportPart]:
    """Yield a part for each trajectory of a session, after one for each invalid line."""
    lines = _Lines()
    for record in read_session(path):
        if record.fault:
            yield ImportPart(f"{path}:{record.line}", fault=record.fault)
        else:
            lines.add(record.line, record.value)
    ignored = lines.ignored
    for number, chain in enumerate(lines.chains.values()):
        try:
            yield _part(path, number, chain, ignored)
        except RecursionError:
            yield ImportPart(f"{path}:{chain[0].number}", fault=TOO_DEEP)
        ignored = Counter()
    if not lines.chains:
        yield ImportPart(str(path), fault="no message of a session is in it", ignored=ignored)


class _Lines:
    """Sorts the lines of a file into chains."""

    def __init__(self) -> None:
        self.chains: dict[str, list[SessionLine]] = {}
        self.ignored: Counter[str] = Counter()
        """Lines that are left out, by reason."""
        self._chain_of: dict[str, str] = {}
        self._start_ns: int | None = None

    def add(self, number: int, entry: dict[str, Any]) -> None:
        """Take a line: a message into its chain, another into the counts."""
        time = nanoseconds(entry.get("timestamp"))
        self._start_ns = self._start_ns or time
        message = entry.get("message")
        if not isinstance(message, dict):
            self.ignored[_kind(entry)] += 1
        elif self._is_copied(entry, time):
            self.ignored[_COPIED] += 1
        elif reason := _left_out(entry, message):
            self.ignored[reason] += 1
            self._chain(entry)
        else:
            chain = self.chains.setdefault(self._chain(entry), [])
            if _text_of(message).startswith(_COMMAND_OUTPUT):
                self._drop_command(chain)
            else:
                needed: dict[str, Any] = {key: entry[key] for key in _NEEDED if key in entry}
                chain.append(SessionLine(number, needed, self._chain(entry)))

    def _is_copied(self, entry: dict[str, Any], time: int | None) -> bool:
        is_older = time is not None and time < (self._start_ns or time) - _COPY_NS
        return is_older or isinstance(entry.get("forkedFrom"), dict)

    def _drop_command(self, chain: list[SessionLine]) -> None:
        """Leave out the output of a command that no model sees, and the command before it."""
        self.ignored[_NOT_BY_USER] += 1
        if chain and _text_of(chain[-1].entry["message"]).startswith(_COMMAND):
            chain.pop()
            self.ignored["local commands of the user"] += 1

    def _chain(self, entry: dict[str, Any]) -> str:
        """Return which chain an entry belongs to: its parent's, or one that begins here."""
        uuid, parent = str(entry.get("uuid")), str(entry.get("parentUuid"))
        if entry.get("isSidechain") is not True:
            return MAIN
        named = entry.get("agentId")
        chain = str(named) if named else self._chain_of.get(parent, uuid)
        self._chain_of[uuid] = chain
        return chain


def _kind(entry: dict[str, Any]) -> str:
    kind = entry.get("type")
    if kind in ("user", "assistant"):
        return "lines without a message"
    return f"lines of type {quoted_word(kind)}"


def _left_out(entry: dict[str, Any], message: dict[str, Any]) -> str | None:
    """Return why a message is neither the user's nor the model's; None if it is one's."""
    if entry.get("isMeta") is True:
        return _NOT_BY_USER
    if entry.get("isCompactSummary") is True:
        return "summaries by compaction"
    if message.get("model") == _SYNTHETIC or entry.get("isApiErrorMessage") is True:
        return "messages that the model did not write"
    return None


def _text_of(message: dict[str, Any]) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else ""


def _part(
    path: Path, number: int, lines: Sequence[SessionLine], ignored: Counter[str]
) -> ImportPart:
    first = lines[0]
    session = _text(first.entry, "sessionId") or path.stem
    trajectory = Trajectory(
        RunOrigin(FORMAT, session, first.chain, number),
        f"{session}:{first.number}",
        _messages(lines, ignored),
        release=_text(first.entry, "version"),
        agent=SUBAGENT if first.chain else AGENT,
        conversation=session,
    )
    return session_part(path, first.number, trajectory, ignored)


def _text(entry: dict[str, Any], key: str) -> str | None:
    value = entry.get(key)
    return value if isinstance(value, str) and value else None


def _messages(lines: Sequence[SessionLine], ignored: Counter[str]) -> list[Message]:
    """Return the messages; the lines of one message of the model are joined where it began."""
    joined: list[dict[str, Any]] = []
    position_of: dict[str, int] = {}
    for line in lines:
        message = {"timestamp": line.entry.get("timestamp"), **line.entry["message"]}
        message["content"] = _without_images(message.get("content"), ignored)
        message_id = str(message.get("id") or f"line {line.number}")
        position = position_of.setdefault(message_id, len(joined))
        if position == len(joined):
            joined.append(message)
        else:
            joined[position] = _joined(
                joined[position], message, was_last=position == len(joined) - 1
            )
    return read_messages(joined, ignored)


def _joined(one: dict[str, Any], other: dict[str, Any], *, was_last: bool) -> dict[str, Any]:
    """Return a message with the blocks of both; each repeats the tokens, so they count once."""
    content = [*_blocks(one.get("content")), *_blocks(other.get("content"))]
    time = (other if was_last else one)["timestamp"]  # it ended before the results between them
    return {**other, "content": content, "timestamp": time}


def _without_images(content: Any, ignored: Counter[str]) -> Any:
    """Return the content of a message; the images in results of its tools are only counted."""
    if not isinstance(content, list):
        return content
    return [
        {**block, "content": without_images(block.get("content"), ignored)}
        if isinstance(block, dict) and block.get("type") == "tool_result"
        else block
        for block in content
    ]


def _blocks(content: Any) -> list[Any]:
    if isinstance(content, list):
        return content
    return [] if content is None else [content]
