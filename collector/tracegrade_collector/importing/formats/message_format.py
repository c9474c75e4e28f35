"""The format `messages`: records that hold a chat, or a list of ReAct steps, → spans.

A record is an object with a list of messages, or such a list itself. A file whose records are
messages is one trajectory.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, Final

from tracegrade_collector.encoding.otlp import Signal
from tracegrade_collector.importing.chat import as_text, is_message, read_messages
from tracegrade_collector.importing.mapping import FieldMap, as_name
from tracegrade_collector.importing.part import ImportPart, ReadOptions
from tracegrade_collector.importing.react import is_step, read_steps
from tracegrade_collector.importing.records import TOO_DEEP, FileRecord, read_records
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

FORMAT: Final = "messages"
MAX_TRIAL: Final = 2**31 - 1

_INVALID: Final = {"invalid", "error"}


def fits(record: Any, paths: Mapping[str, str]) -> bool:
    """Return whether a file that begins with this record is of this format."""
    fields = FieldMap(paths)
    return (
        is_message(record)
        or bool(_listed(record, fields, "messages", is_message))
        or bool(_listed(record, fields, "steps", is_step))
    )


def read(path: Path, reading: ReadOptions) -> Iterator[ImportPart]:
    """Yield a part for each trajectory of a file, and one for each record that is none."""
    fields = FieldMap(reading.paths)
    with open_plain(path) as file:
        records = read_records(file)
        first = next(records, None)
        if first is None:
            yield ImportPart(str(path), fault="the file is empty")
            return
        records = chain((first,), records)
        if is_message(first.value):
            yield from _whole_file(path, records)
        else:
            for number, record in enumerate(records):
                yield _part(path, number, record, fields)
    for line in fields.unseen():
        yield ImportPart(str(path), fault=line)


def _whole_file(path: Path, records: Iterator[FileRecord]) -> Iterator[ImportPart]:
    """Yield the one trajectory of a file of messages, after its faults."""
    values = []
    for record in records:
        if record.fault:
            yield ImportPart(f"{path}:{record.line}", fault=record.fault)
        else:
            values.append(record.value)
    yield _part(path, 0, FileRecord(1, {"messages": values}, None), FieldMap({}))


def _part(path: Path, number: int, record: FileRecord, fields: FieldMap) -> ImportPart:
    place = f"{path}:{record.line}"
    if record.fault:
        return ImportPart(place, fault=record.fault)
    try:
        return _run_part(path, place, number, record, fields)
    except RecursionError:
        return ImportPart(place, fault=TOO_DEEP)


def _run_part(
    path: Path, place: str, number: int, record: FileRecord, fields: FieldMap
) -> ImportPart:
    ignored: Counter[str] = Counter()
    messages = _messages(record.value, fields, ignored)
    if messages is None:
        return ImportPart(place, fault=_nothing_found(record.value, fields))
    shown = f"{path.name}:{record.line}"
    run = RunOrigin(FORMAT, source_of(path), str(number), number)
    trajectory = _trajectory(run, shown, record.value, fields, messages, ignored)
    return ImportPart(
        place,
        Signal.TRACES,
        spans_of(trajectory),
        understood=counts(trajectory),
        ignored=ignored + left_out(trajectory),
    )


def _messages(value: Any, fields: FieldMap, ignored: Counter[str]) -> list[Message] | None:
    found = _listed(value, fields, "messages", is_message)
    if found is not None:
        return read_messages(found, ignored)
    steps = _listed(value, fields, "steps", is_step)
    return None if steps is None else read_steps(steps, ignored)


def _listed(value: Any, fields: FieldMap, field: str, is_one: Any) -> list[Any] | None:
    """Return the list of a field, in a record or the record itself, if it begins as it should."""
    found = value if isinstance(value, list) else fields.find(value, field)
    if isinstance(found, str) and found.lstrip().startswith("["):
        found = _parsed(found)
    if isinstance(found, dict):
        found = found.get(field)
    if not isinstance(found, list) or (found and not any(map(is_one, found))):
        return None
    return found


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        return None


def _nothing_found(value: Any, fields: FieldMap) -> str:
    if not isinstance(value, dict):
        return f"no messages in it; it is a {type(value).__name__}, not an object or a list"
    keys = ", ".join(as_text(key)[:40] for key in list(value)[:8]) or "nothing"
    if (path := fields.mapped("messages") or fields.mapped("steps")) is not None:
        return f"no messages at '{path}'; found: {keys}"
    return f"no messages in it; found: {keys}; --map messages=PATH says where they stand"


def _trajectory(
    place: RunOrigin,
    shown: str,
    value: Any,
    fields: FieldMap,
    messages: list[Message],
    ignored: Counter[str],
) -> Trajectory:
    def text(field: str) -> str | None:
        return as_name(fields.find(value, field))

    said = (piece for message in messages if message.role == "system" for piece in message.pieces)
    system = [piece.text for piece in said if isinstance(piece, MessageText)]
    tools = fields.find(value, "tools")
    return Trajectory(
        place,
        shown,
        messages,
        task=text("task"),
        category=text("category"),
        trial=_trial(fields.find(value, "trial"), ignored),
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


def _trial(value: Any, ignored: Counter[str]) -> int | None:
    if value is None:
        return None
    try:
        trial = int(value)
    except (TypeError, ValueError, OverflowError):
        trial = -1
    if 0 <= trial <= MAX_TRIAL and trial == float(value):
        return trial
    ignored["trials that are not a whole number"] += 1
    return None


def _outcome(value: Any, ignored: Counter[str]) -> str | None:
    """Return what a verifier's result says: true, a word of success, or at least 1.

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
