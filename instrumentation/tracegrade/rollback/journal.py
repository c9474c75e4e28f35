"""A rollback journal: JSON Lines with the undo of each write, recorded before the write.

    {"object": "files:data/clean/a.csv", "undo": {"delete": "data/clean/a.csv"}, "done": false}
    {"object": "files:data/clean/a.csv", "done": true}

A later line with the same object updates the earlier one; `done` says that nothing of it is left
to undo. A torn last line was cut off by a kill, before its write could begin.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from tracegrade.rollback.undo import sync_folder, undo_fault

MAX_OBJECT_CHARS: Final = 4200
"""Longest name of an object: a path of 4,096 characters, and its kind."""

MAX_LINE_BYTES: Final = 1_000_000
"""Longest line; a command of the most words and longest words is refused before it gets there."""


class JournalEntry(NamedTuple):
    """The last entry of a journal for an object."""

    object: str
    undo: Mapping[str, Any]
    done: bool
    folder: str | None
    """Base folder of the undo's relative paths, if the journal names one."""


class JournalFault(NamedTuple):
    """A line that cannot be read."""

    line: int
    """From 1."""
    fact: str


class ParsedJournal(NamedTuple):
    """Content of a journal."""

    entries: dict[str, JournalEntry]
    """By object, in the order in which their undos were written."""
    faults: list[JournalFault]
    is_torn: bool
    """Whether the last line was cut off, which is not a fault."""

    def left(self) -> list[JournalEntry]:
        """Return the entries that are not done, the newest first."""
        return [entry for entry in reversed(self.entries.values()) if not entry.done]


def parse(content: bytes) -> ParsedJournal:
    """Return the content of a journal; any bytes can be parsed."""
    lines = content.split(b"\n")
    tail = lines.pop()
    journal = ParsedJournal({}, [], is_torn=bool(tail.strip()) and fault_of(tail) is not None)
    if tail and not journal.is_torn:
        lines.append(tail)
    for number, line in enumerate(lines, 1):
        if line.strip():
            fact = _take(line, journal.entries)
            if fact:
                journal.faults.append(JournalFault(number, fact))
    return journal


def fault_of(line: bytes) -> str | None:
    """Return why a line is not a JSON object; None if it is one."""
    value = _value(line)
    return value if isinstance(value, str) else None


def _take(line: bytes, entries: dict[str, JournalEntry]) -> str | None:
    """Add a line to the entries; return why it cannot be read, or None."""
    value = _value(line)
    if isinstance(value, str):
        return value
    name, undo, done = value.get("object"), value.get("undo"), value.get("done", False)
    fault = name_fault(name)
    if fault or not isinstance(name, str):
        return fault
    if not isinstance(done, bool):
        return "'done' has to be true or false"
    before = entries.get(name)
    if undo:
        fault = undo_fault(undo)
        if fault:
            return fault
        entries.pop(name, None)  # it is now the newest
        entries[name] = JournalEntry(name, undo, done, _folder(value))
    elif before is not None:
        entries[name] = before._replace(done=done)
    elif not done:
        return "there is no 'undo'"
    return None


def _folder(value: Mapping[str, Any]) -> str | None:
    folder = value.get("folder")
    return folder if isinstance(folder, str) else None


def name_fault(name: object) -> str | None:
    """Return why a value does not name an object; None if it does."""
    if type(name) is not str or not 0 < len(name) <= MAX_OBJECT_CHARS:
        return f"'object' has to be a text of 1 to {MAX_OBJECT_CHARS:,} characters"
    try:
        name.encode()
    except UnicodeEncodeError:
        return "'object' has half a character"
    return None


def _value(line: bytes) -> dict[str, Any] | str:
    """Return a line's JSON object, or why it is not one."""
    if len(line) > MAX_LINE_BYTES:
        return f"a line of more than {MAX_LINE_BYTES:,} bytes"
    try:
        value = json.loads(line.decode())
    except (ValueError, RecursionError):  # also: invalid UTF-8, numbers of too many digits
        return "not valid JSON in UTF-8"
    return value if isinstance(value, dict) else "not a JSON object"


def append(path: Path, *entries: Mapping[str, Any]) -> int:
    """Write entries at a journal's end, on the disk when this returns.

    Args:
        path: The journal; it and its folder are made where they are missing.
        entries: One line each.

    Returns:
        The journal's size in bytes.

    Raises:
        OSError: It cannot be written.
    """
    lines = "".join(json.dumps(entry) + "\n" for entry in entries).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    with open(number, "r+b", buffering=0) as file:
        is_new = file.seek(0, os.SEEK_END) == 0
        lines = _mend(number, file.tell()) + lines
        written = 0
        while written < len(lines):
            written += os.write(number, lines[written:])
        os.fsync(number)
        size = file.seek(0, os.SEEK_END)
    if is_new:
        sync_folder(path.parent)
    return size


def _mend(number: int, size: int) -> bytes:
    """Cut off a torn last line; return the line end that a whole one lacks."""
    start = max(0, size - MAX_LINE_BYTES)
    end = os.pread(number, size - start, start) if _lacks_line_end(number, size) else b""
    tail = end[end.rfind(b"\n") + 1 :]
    if not tail or fault_of(tail) is None:
        return b"\n" if tail else b""
    os.ftruncate(number, size - len(tail))
    return b""


def _lacks_line_end(number: int, size: int) -> bool:
    return size > 0 and os.pread(number, 1, size - 1) != b"\n"
