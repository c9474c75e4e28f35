"""The format `messages`: records that hold a chat, or a list of ReAct steps, → spans.

A record is an object with a list of messages, or such a list itself. If it holds a list of runs,
its fields apply to all runs that lack them. A file whose records are messages is one trajectory.

A run becomes an `invoke_agent` span, a `chat` span for each message of the model, and an
`execute_tool` span for each result. Messages of the user before the model answers are one turn.
An `error` next to an empty result is that result, and the call failed. A run that changed
replaces its earlier state. Runs that name neither agent nor release are counted, because nothing
separates their releases.

Messages have the forms of the clients of OpenAI (3.54.0) and Anthropic (2.12.0), of Google,
Bedrock and LangChain, as of November 2026.
"""

import json
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Final

from tracegrade_collector.encoding.otlp import Signal
from tracegrade_collector.importing.chat import (
    ROLES,
    Chat,
    has_role,
    is_message,
    read_chat,
    role_names,
)
from tracegrade_collector.importing.fenced_code import code_calls
from tracegrade_collector.importing.import_part import ImportPart, ReadOptions
from tracegrade_collector.importing.mapping import GUESSES, FieldMap, as_name
from tracegrade_collector.importing.plan_marker import marked_plans
from tracegrade_collector.importing.react import is_step, read_steps
from tracegrade_collector.importing.records import TOO_DEEP, FileRecord, parse, read_records
from tracegrade_collector.importing.roles import known_roles, swapped_roles_sign
from tracegrade_collector.importing.scores import FAILURES, SUCCESSES
from tracegrade_collector.importing.source import open_plain, source_of
from tracegrade_collector.importing.times import nanoseconds
from tracegrade_collector.importing.trajectory import (
    Message,
    MessageText,
    RunOrigin,
    Trajectory,
    counts,
    left_out,
    spans_of,
)
from tracegrade_collector.importing.whose_calls import with_own_replies

FORMAT: Final = "messages"
FIELDS: Final = (
    *(
        "messages",
        "steps",
        "runs",
        "task",
        "category",
        "trial",
        "retries",
        "success",
        "release",
        "agent",
    ),
    "model",
    *("conversation", "user_input", "time", "system", "tools", "answer"),
)
"""Fields that are read from a record."""

MAX_WHOLE: Final = 2**31 - 1

_INVALID: Final = {"invalid", "error"}


def fits(record: Any, paths: Mapping[str, str], roles: Mapping[str, str] = ROLES) -> bool:
    """Return whether a file that begins with this record is of this format."""
    fields = FieldMap(paths)
    return (
        is_message(record, roles)
        or has_role(record)
        or bool(_listed(record, fields, "messages", lambda each: is_message(each, roles)))
        or bool(_listed(record, fields, "messages", has_role))
        or bool(_listed(record, fields, "steps", is_step))
        or any(fits(run, _inner(paths), roles) for run in _runs_in(record, fields)[:1])
    )


def read(path: Path, reading: ReadOptions) -> Iterator[ImportPart]:
    """Yield a part for each trajectory of a file, and one for each invalid record."""
    reader = _Reader(path, reading)
    with open_plain(path) as file:
        records = read_records(file)
        first = next(records, None)
        if first is None:
            yield ImportPart(str(path), fault="the file is empty")
            return
        records = chain((first,), records)
        if reader.is_message(first.value):
            yield from reader.whole_file(records)
        else:
            for number, record in enumerate(records):
                yield from reader.parts(number, record)
    for line in reader.fields.unseen():
        yield ImportPart(str(path), fault=line)
    if notes := reader.notes():
        yield ImportPart(str(path), notes=notes)


class _Reader:
    """Reads the records of one file."""

    def __init__(self, path: Path, reading: ReadOptions) -> None:
        read = {field: path for field, path in reading.paths.items() if field in FIELDS}
        self.fields = FieldMap(read)
        self._unread = sorted(reading.paths.keys() - read.keys())
        self.roles = known_roles(reading.roles)
        self._path = path
        self._reading = reading
        self._unused_roles = set(reading.roles)  # names of roles that no message had so far
        self._swapped: Counter[str] = Counter()
        self._found: Counter[str] = Counter()

    def is_message(self, value: Any) -> bool:
        """Return whether a record is a message, and so are the others of its file."""
        return is_message(value, self.roles) or (
            has_role(value) and self._chat(value, Counter()) is None
        )

    def whole_file(self, records: Iterator[FileRecord]) -> Iterator[ImportPart]:
        """Yield the one trajectory of a file of messages, after its faults."""
        values = []
        for record in records:
            if record.fault:
                yield ImportPart(f"{self._path}:{record.line}", fault=record.fault)
            else:
                values.append(record.value)
        yield self.part(0, FileRecord(1, values, None), "0")

    def parts(self, number: int, record: FileRecord, path: str = "") -> Iterator[ImportPart]:
        """Yield a part for each run in a record, or for a record that is a run."""
        position = f"{number}{path}"
        runs = [] if record.fault else self._runs_in(record.value, is_inner=bool(path))
        if not runs:
            yield self.part(number, record, position)
        for inner, run in enumerate(runs):
            yield from self.parts(number, FileRecord(record.line, run, None), f"{path}.{inner}")

    def _runs_in(self, value: Any, *, is_inner: bool) -> list[Any]:
        """Return the runs in a record, each with the record's shared fields."""
        is_named = self.fields.mapped("runs") is not None
        if (is_named and is_inner) or (not is_named and self._chat(value, Counter()) is not None):
            return []
        runs = _runs_in(value, self.fields)
        return [_as_record(value, run, trial) for trial, run in enumerate(runs)]

    def part(self, number: int, record: FileRecord, position: str) -> ImportPart:
        """Return the trajectory of a record, or the reason why it has none."""
        location = f"{self._path}:{record.line}"
        if record.fault:
            return ImportPart(location, fault=record.fault)
        try:
            return self._part(location, number, record, position)
        except RecursionError:
            return ImportPart(location, fault=TOO_DEEP)

    def _part(self, location: str, number: int, record: FileRecord, position: str) -> ImportPart:
        ignored: Counter[str] = Counter()
        read = self._chat(record.value, ignored)
        if read is None:
            return ImportPart(location, fault=_nothing_found(record.value, self.fields))
        chat, total = read
        ignored += chat.unread
        unread = chat.unread.total()
        if total and (unread == total or (2 * unread > total and not self._reading.allow_partial)):
            return ImportPart(location, fault=_mostly_unread(chat.unread, total), ignored=ignored)
        run = RunOrigin(FORMAT, source_of(self._path), position, number)
        short_location = f"{self._path.name}:{record.line}"
        messages = with_own_replies(self._acted(chat.messages), ignored)
        trajectory = _trajectory(run, short_location, record.value, self.fields, messages, ignored)
        self._found += counts(trajectory)
        return ImportPart(
            location,
            Signal.TRACES,
            spans_of(trajectory),
            understood=counts(trajectory),
            ignored=ignored + left_out(trajectory),
            unnamed_runs=int(trajectory.agent is None and trajectory.release is None),
        )

    def _chat(self, value: Any, ignored: Counter[str]) -> tuple[Chat, int] | None:
        """Return the messages or steps read from a record, and their number."""
        for is_one in (lambda each: is_message(each, self.roles), has_role):
            found = _listed(value, self.fields, "messages", is_one)
            if found is not None:
                if self._unused_roles:
                    self._unused_roles.difference_update(*map(role_names, found))
                return read_chat(found, ignored, self.roles), len(found)
            steps = _listed(value, self.fields, "steps", is_step)
            if steps is not None:
                return read_steps(steps, ignored), len(steps)
        return None

    def _acted(self, messages: list[Message]) -> list[Message]:
        """Return the messages with the calls and plans that texts of the model are."""
        if (sign := swapped_roles_sign(messages)) is not None:
            self._swapped[sign] += 1
        if self._reading.code_calls:
            messages = code_calls(messages, self._reading.code_languages)
        if self._reading.plan_marker is not None:
            messages = marked_plans(messages, self._reading.plan_marker)
        return messages

    def notes(self) -> list[str]:
        """Return what seems wrong with the file as a whole."""
        runs = self._found["trajectories"]
        lines = [
            f"roles look swapped in {count} of {runs} runs: {sign}; "
            "--role user=assistant,assistant=user turns them round"
            for sign, count in self._swapped.most_common()
        ]
        lines += [
            f"field '{field}', which --map names, is none of chats" for field in self._unread
        ]
        lines += [
            f"no message has role '{name}', which --role maps"
            for name in sorted(self._unused_roles)
        ]
        if self._reading.plan_marker is not None and not self._found["plans"]:
            lines.append("no text of the model has what --plan-marker looks for")
        if self._reading.code_calls and not self._found["tool calls"]:
            lines.append(_no_code(self._reading.code_languages))
        return lines if runs else []


def _no_code(languages: Collection[str]) -> str:
    if languages:
        named = ", ".join(sorted(languages))
        return f"no fenced code of {named} has a reply after it, as --code-language looks for"
    return "no fenced code has a reply after it, as --code-calls looks for"


def _listed(value: Any, fields: FieldMap, field: str, is_one: Any) -> list[Any] | None:
    """Return the list of a field, or a record that is a list, if it begins validly."""
    found = value if isinstance(value, list) else fields.find(value, field)
    if isinstance(found, str) and found.lstrip().startswith("["):
        found = _parsed(found)
    if isinstance(found, dict):
        found = found.get(field)
    if not isinstance(found, list) or (found and not any(map(is_one, found))):
        return None
    return found


def _inner(paths: Mapping[str, str]) -> Mapping[str, str]:
    return {field: path for field, path in paths.items() if field != "runs"}


def _runs_in(value: Any, fields: FieldMap) -> list[Any]:
    """Return the runs that a record holds: objects, or lists of messages."""
    found = fields.find(value, "runs") if isinstance(value, dict) else None
    runs = found if isinstance(found, list) else []
    return [run for run in runs if isinstance(run, dict | list)]


def _as_record(record: Mapping[str, Any], run: Any, trial: int) -> dict[str, Any]:
    """Return a run with the fields its record shares; outcomes are the run's own.

    Runs without a trial number are the trials of their task, in order from 0.
    """
    own = run if isinstance(run, dict) else {"messages": run}
    shared = {key: value for key, value in record.items() if key not in _OF_ONE_RUN}
    numbered = {} if any(key in own for key in GUESSES["trial"]) else {"trial": trial}
    return {**shared, **own, **numbered}


_OF_ONE_RUN: Final = frozenset(
    key
    for field in ("runs", "messages", "steps", "trial", "success", "answer", "time")
    for key in GUESSES[field]
)


def _parsed(text: str) -> Any:
    try:
        return parse(text.encode())
    except (ValueError, RecursionError):
        return None


def _nothing_found(value: Any, fields: FieldMap) -> str:
    if not isinstance(value, dict):
        return f"no messages in it; it is a {type(value).__name__}, not an object or a list"
    keys = ", ".join(map(_quoted_key, list(value)[:8])) or "nothing"
    if (path := fields.mapped("messages") or fields.mapped("steps")) is not None:
        hint = fields.suggestion(path)
        return f"no messages at '{path}'; found: {keys}" + (f"; {hint}" if hint else "")
    return f"no messages in it; found: {keys}; --map messages=PATH says where they stand"


def _quoted_key(key: str) -> str:
    return key[:40] if key[:40].isprintable() else f"a key of {len(key)} characters"


def _mostly_unread(unread: Counter[str], total: int) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in unread.most_common(5))
    others = ", --allow-partial takes the others" if unread.total() < total else ""
    return (
        f"{unread.total()} of {total} messages are not understood ({kinds}); "
        f"--role NAME=ROLE says whose they are{others}"
    )


def _trajectory(
    origin: RunOrigin,
    location: str,
    value: Any,
    fields: FieldMap,
    messages: list[Message],
    ignored: Counter[str],
) -> Trajectory:
    def text(field: str) -> str | None:
        return as_name(fields.find(value, field))

    pieces = (
        piece for message in messages if message.role == "system" for piece in message.pieces
    )
    system = [piece.text for piece in pieces if isinstance(piece, MessageText)]
    tools = fields.find(value, "tools")
    model = text("model")
    return Trajectory(
        origin,
        location,
        [message if message.model else replace(message, model=model) for message in messages],
        task=text("task"),
        category=text("category"),
        trial=_whole(fields.find(value, "trial"), "trials", ignored),
        retries=_retries(fields.find(value, "retries"), ignored),
        outcome=_outcome(fields.find(value, "success"), ignored),
        release=text("release"),
        agent=text("agent"),
        conversation=text("conversation"),
        user_input=text("user_input"),
        time_ns=nanoseconds(fields.find(value, "time")),
        system="\n".join(system) or text("system"),
        tools=json.dumps(tools) if isinstance(tools, list) else None,
        answer=text("answer"),
    )


def _retries(value: Any, ignored: Counter[str]) -> int | None:
    """Return the number of retries, given as a number or as a list of them."""
    return len(value) if isinstance(value, list) else _whole(value, "retries", ignored)


def _whole(value: Any, what: str, ignored: Counter[str]) -> int | None:
    if value is None:
        return None
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        number = -1
    if 0 <= number <= MAX_WHOLE and number == float(value):
        return number
    ignored[f"{what} that are not a whole number"] += 1
    return None


def _outcome(value: Any, ignored: Counter[str]) -> str | None:
    """Return a verifier's result as true or false: true, a word of success, or at least 1.

    Source: docs/metrics.md, section 8.3, where a verifier's value is read alike.
    """
    word = value.strip().lower() if isinstance(value, str) else None
    number = _number(value)
    if value is True or word in SUCCESSES:
        return "success"
    if value is False or word in FAILURES:
        return "failure"
    if word in _INVALID:
        return "invalid"
    if number is not None:
        return "success" if round(number, 9) >= 1 else "failure"
    if value is not None:
        ignored["outcomes that say neither success nor failure"] += 1
    return None


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
