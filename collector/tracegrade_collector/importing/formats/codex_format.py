"""The format `codex`: Codex's session files (`~/.codex/sessions/**/rollout-*.jsonl`) → spans.

A session is one trajectory, and so is each of its subagents, whose file names the session that
started it as conversation. A line is `{timestamp, type, payload}`; the lines of versions before
0.32 without this envelope are read too, and the documents (`{session, items}`) of the first ones.
A forked session begins with a copy of the other's history, which is left out. Calls failed if
their exit code is not 0, or if Codex reports a failure. Ids are made from the session's, so a
file that was moved is known.

The form is that of openai/codex 0.171 (November 2026).
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from tracegrade_collector.importing.formats.codex_calls import (
    CallTokens,
    SessionEntry,
    TurnEnd,
    joined_calls,
)
from tracegrade_collector.importing.formats.codex_items import failure_in, read_item
from tracegrade_collector.importing.formats.session_part import read_session, session_part
from tracegrade_collector.importing.import_part import ImportPart, ReadOptions
from tracegrade_collector.importing.records import TOO_DEEP, FileRecord, JsonObject
from tracegrade_collector.importing.spellings import quoted_word
from tracegrade_collector.importing.times import nanoseconds
from tracegrade_collector.importing.trajectory import Message, RunOrigin, ToolResult, Trajectory
from tracegrade_collector.importing.usage import read_usage

FORMAT: Final = "codex"
AGENT: Final = "codex"
SUBAGENT: Final = "codex-subagent"

_COPY_NS: Final = 1_000_000_000
"""Time within which a fork writes the history that it copies."""

_ENVELOPES: Final = (
    "compacted",
    "event_msg",
    "inter_agent_communication",
    "response_item",
    "session_meta",
    "token_usage_record",
    "turn_context",
    "world_state",
)
_TURN_ENDS: Final = ("task_complete", "turn_complete", "turn_aborted")
_BARE_HEAD: Final = frozenset({"id", "timestamp", "instructions"})
_BARE_MORE: Final = frozenset({"git", "cwd", "originator", "cli_version", "source"})


def fits(record: Any) -> bool:
    """Return whether a file that begins with this record is of this format."""
    if not isinstance(record, dict):
        return False
    if record.get("type") in _ENVELOPES:
        return isinstance(record.get("payload"), dict)
    if isinstance(record.get("session"), dict) and isinstance(record.get("items"), list):
        return "instructions" in record["session"]
    return record.keys() >= _BARE_HEAD and record.keys() <= _BARE_HEAD | _BARE_MORE


def read(path: Path, _: ReadOptions) -> Iterator[ImportPart]:
    """Yield a part for the session of a file, after one for each invalid line."""
    session = _Session()
    for record in read_session(path):
        if fault := record.fault or _fault_of(session, record):
            yield ImportPart(f"{path}:{record.line}", fault=fault)
    run = session.trajectory(path)
    if not run.messages:
        fault = "no message of a session is in it"
        yield ImportPart(str(path), fault=fault, ignored=session.ignored)
        return
    try:
        yield session_part(path, session.line, run, session.ignored)
    except RecursionError:
        yield ImportPart(f"{path}:{session.line}", fault=TOO_DEEP)


def _fault_of(session: "_Session", record: FileRecord) -> str | None:
    """Add a record to a session; return why that is impossible."""
    try:
        session.add(record.line, record.value)
    except RecursionError:
        return TOO_DEEP
    return None


class _Session:
    """Collects a session line by line."""

    def __init__(self) -> None:
        self.ignored: Counter[str] = Counter()
        self.line = 1
        """Line of the first entry."""
        self._meta: JsonObject | None = None
        self._start_ns: int | None = None
        self._is_fork = False
        self._model: str | None = None
        self._totals: Any = None
        self._has_records = False  # of tokens; newer versions repeat them as events
        self._failures: dict[str, str] = {}
        self._entries: list[tuple[int | None, SessionEntry]] = []

    def add(self, line: int, record: JsonObject) -> None:
        """Take a line in any of its forms."""
        payload, time = record.get("payload"), nanoseconds(record.get("timestamp"))
        if isinstance(payload, dict):
            self._add_payload(line, str(record.get("type")), payload, time)
        elif isinstance(record.get("items"), list):
            session = record.get("session")
            self._add_meta(session if isinstance(session, dict) else {}, None)
            for item in record["items"]:
                self._add_item(line, item if isinstance(item, dict) else {}, None)
        elif record.keys() >= _BARE_HEAD:
            self._add_meta(record, None)
        elif "type" in record:
            self._add_item(line, record, time)
        else:
            self.ignored["lines without a type"] += 1

    def trajectory(self, path: Path) -> Trajectory:
        """Return the session as one run."""
        meta = self._meta or {}
        session = _text(meta, "id") or path.stem
        parent = _parent(meta)
        guide = meta.get("base_instructions")
        entries = list(self._own_entries())
        messages = [self._settled(each) for each in joined_calls(entries, self.ignored)]
        timed = any(message.time_ns for message in messages)
        self.ignored += Counter()  # without reasons that count nothing
        return Trajectory(
            RunOrigin(FORMAT, session, "", 0),
            f"{session}:{self.line}",
            messages,
            release=_text(meta, "cli_version"),
            agent=SUBAGENT if _is_subagent(meta) else AGENT,
            conversation=_text(meta, "session_id") or parent or session,
            time_ns=None if timed else nanoseconds(meta.get("timestamp")),
            system=_text(guide, "text") if isinstance(guide, dict) else None,
        )

    def _own_entries(self) -> Iterator[SessionEntry]:
        """Yield the entries after the history that a fork has copied."""
        last_copy = (self._start_ns or 0) + _COPY_NS if self._is_fork else 0
        for time, entry in self._entries:
            if last_copy and (time or 0) <= last_copy:
                self.ignored["items copied from the session that was forked"] += 1
            else:
                yield entry

    def _settled(self, message: Message) -> Message:
        """Return a message whose results have the failures that events name."""
        if message.role != "tool":
            return message
        return replace(message, pieces=[self._with_failure(each) for each in message.pieces])

    def _with_failure(self, piece: Any) -> Any:
        if not isinstance(piece, ToolResult) or piece.call_id not in self._failures:
            return piece
        error = self._failures[piece.call_id]
        return piece._replace(failed=True, error=piece.error or error or None)

    def _add_payload(self, line: int, kind: str, payload: JsonObject, time: int | None) -> None:
        if kind == "session_meta":
            self._add_meta(payload, time)
        elif kind == "response_item":
            self._add_item(line, payload, time)
        elif kind == "turn_context":
            self._model = _text(payload, "model") or self._model
        elif kind == "token_usage_record":
            self._has_records = True
            self._add_usage(payload.get("usage"), time)
        elif kind == "event_msg":
            self._add_event(payload, time)
        else:
            self.ignored[f"lines of type {quoted_word(kind)}"] += 1

    def _add_meta(self, meta: JsonObject, time: int | None) -> None:
        if self._meta is None:
            self._meta, self._start_ns = meta, time
        elif meta.get("id") != self._meta.get("id"):
            self._is_fork = True

    def _add_item(self, line: int, item: JsonObject, time: int | None) -> None:
        is_subagent = _is_subagent(self._meta or {})
        message = read_item(item, self.ignored, of_subagent=is_subagent)
        if message is None:
            return
        self.line = self.line if self._entries else line
        model = self._model if message.role == "assistant" else None
        self._entries.append((time, replace(message, time_ns=time, model=model)))

    def _add_event(self, event: JsonObject, time: int | None) -> None:
        kind = event.get("type")
        if failure := failure_in(event):
            self._failures[failure[0]] = failure[1]
        if kind == "token_count":
            self._add_count(event.get("info"), time)
        elif kind in _TURN_ENDS:
            self._entries.append((time, TurnEnd()))
        else:
            self.ignored[f"events of type {quoted_word(kind)}"] += 1

    def _add_count(self, info: Any, time: int | None) -> None:
        """Take the tokens of a model call; Codex repeats them when only limits have changed."""
        if self._has_records or not isinstance(info, dict):
            return
        if info.get("total_token_usage") == self._totals:
            return
        self._totals = info.get("total_token_usage")
        self._add_usage(info.get("last_token_usage"), time)

    def _add_usage(self, usage: Any, time: int | None) -> None:
        tokens = read_usage(usage)
        if any(tokens.values()):
            self._entries.append((time, CallTokens(tokens)))


def _text(value: JsonObject, key: str) -> str | None:
    found = value.get(key)
    return found if isinstance(found, str) and found else None


def _is_subagent(meta: JsonObject) -> bool:
    source = meta.get("source")
    return isinstance(source, dict) and "subagent" in source


def _parent(meta: JsonObject) -> str | None:
    """Return the session that started this one as a subagent."""
    if not _is_subagent(meta):
        return None
    origin = meta["source"]["subagent"]
    spawn = origin.get("thread_spawn") if isinstance(origin, dict) else None
    parent = _text(spawn, "parent_thread_id") if isinstance(spawn, dict) else None
    return parent or _text(meta, "parent_thread_id") or _text(meta, "forked_from_id")
