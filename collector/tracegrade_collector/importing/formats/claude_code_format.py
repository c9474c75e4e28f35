"""The format `claude-code`: Claude Code's session files (`~/.claude/projects/*/*.jsonl`) → spans.

A line is one block of a message, or bookkeeping. A session is one trajectory, and so is each of
its subagents (side chains); they share the session's id as conversation. Ids are made from the
session's, so a file that was moved is known.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from tracegrade_collector.encoding.otlp import Signal
from tracegrade_collector.importing.chat import read_messages
from tracegrade_collector.importing.import_part import ImportPart, ReadOptions
from tracegrade_collector.importing.records import TOO_DEEP, read_records
from tracegrade_collector.importing.source import open_plain
from tracegrade_collector.importing.trajectory import (
    Message,
    RunOrigin,
    Trajectory,
    counts,
    left_out,
    spans_of,
)

FORMAT: Final = "claude-code"
AGENT: Final = "claude-code"
SUBAGENT: Final = "claude-code-subagent"
MAIN: Final = ""

_BOOKKEEPING: Final = frozenset(
    {"summary", "file-history-snapshot", "queue-operation", "progress", "custom-title", "system"}
)


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
    ignored: Counter[str] = Counter()
    chains: dict[str, list[SessionLine]] = {}
    with open_plain(path) as file:
        yield from _read_lines(path, file, chains, ignored)
    for number, lines in enumerate(chains.values()):
        try:
            yield _part(path, number, lines, ignored)
        except RecursionError:
            yield ImportPart(f"{path}:{lines[0].number}", fault=TOO_DEEP)
        ignored = Counter()
    if not chains:
        yield ImportPart(str(path), fault="no message of a session is in it", ignored=ignored)


def _read_lines(
    path: Path, file: Any, chains: dict[str, list[SessionLine]], ignored: Counter[str]
) -> Iterator[ImportPart]:
    """Sort the lines into chains; yield a part for each line that is not a record."""
    chain_of: dict[str, str] = {}
    for record in read_records(file):
        if record.fault:
            yield ImportPart(f"{path}:{record.line}", fault=record.fault)
        elif not isinstance(record.value, dict):
            yield ImportPart(f"{path}:{record.line}", fault="a line of a session is an object")
        elif _is_message(record.value):
            chain = _chain(record.value, chain_of)
            chains.setdefault(chain, []).append(SessionLine(record.line, record.value, chain))
        else:
            ignored[_left_out(record.value)] += 1


def _is_message(entry: dict[str, Any]) -> bool:
    return isinstance(entry.get("message"), dict) and entry.get("isMeta") is not True


def _left_out(entry: dict[str, Any]) -> str:
    kind = str(entry.get("type"))
    if entry.get("isMeta") is True:
        return "messages that the user did not write"
    return f"lines of type '{kind}'" if kind in _BOOKKEEPING else "lines without a message"


def _chain(entry: dict[str, Any], chain_of: dict[str, str]) -> str:
    """Return which chain an entry belongs to: that of its parent, or one that begins here."""
    uuid, parent = str(entry.get("uuid")), str(entry.get("parentUuid"))
    if entry.get("isSidechain") is not True:
        return MAIN
    named = entry.get("agentId")
    chain = str(named) if named else chain_of.get(parent, uuid)
    chain_of[uuid] = chain
    return chain


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
    return ImportPart(
        f"{path}:{first.number}",
        Signal.TRACES,
        spans_of(trajectory),
        understood=counts(trajectory),
        ignored=ignored + left_out(trajectory),
    )


def _text(entry: dict[str, Any], key: str) -> str | None:
    value = entry.get(key)
    return value if isinstance(value, str) and value else None


def _messages(lines: Sequence[SessionLine], ignored: Counter[str]) -> list[Message]:
    """Return the messages; the lines of one message of the model are joined where it began."""
    joined: list[dict[str, Any]] = []
    position_of: dict[str, int] = {}
    for line in lines:
        message = {"timestamp": line.entry.get("timestamp"), **line.entry["message"]}
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


def _blocks(content: Any) -> list[Any]:
    if isinstance(content, list):
        return content
    return [] if content is None else [content]
