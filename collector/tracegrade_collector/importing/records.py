"""Reads records from files of JSON one at a time: lines, a list, or one object."""

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from io import BufferedIOBase
from typing import Any, Final, NamedTuple, TypeAlias

from tracegrade_collector.importing.layout import BLANK, read_head

MAX_RECORD_BYTES: Final = 64 * 2**20
"""Largest record, which is also OTLP's limit for a request."""

TOO_DEEP: Final = "no record: it is nested too deeply"

_CHUNK_BYTES: Final = 2**20
_REST: Final = rb'[^"\\]*+(?:\\.[^"\\]*+)*+"'
_STRING_END: Final = re.compile(_REST, re.DOTALL)
_BRACKET: Final = re.compile(rb'(?:[^"{}\[\]]++|"' + _REST + rb')*+(["{}\[\]])', re.DOTALL)
"""The next bracket outside strings, or the quote of a string that does not end."""

_BETWEEN: Final = BLANK + b",]"
_LONE_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")

JsonObject: TypeAlias = Mapping[str, Any]
"""An object of JSON, or a part of one."""


class FileRecord(NamedTuple):
    """One value of a file, or its fault."""

    line: int
    """Where it begins, from 1."""

    value: Any
    """Parsed JSON; NULL if there is a fault."""

    fault: str | None


def read_records(file: BufferedIOBase) -> Iterator[FileRecord]:
    """Yield the records of a file in order; blank lines are skipped."""
    head = read_head(file, MAX_RECORD_BYTES)
    pieces = itertools.chain(head.lines, iter(lambda: file.read(_CHUNK_BYTES), b""))
    yield from (_line_records if head.are_records else _document_records)(pieces)


def _line_records(pieces: Iterable[bytes]) -> Iterator[FileRecord]:
    for number, line in enumerate(_lines(pieces), start=1):
        if line.strip(BLANK):
            yield _parsed(number, line)


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines; a line above the limit is cut, but stays above it."""
    line = b""
    for piece in pieces:
        *ended, rest = piece.split(b"\n")
        for end in ended:
            yield line + end
            line = b""
        if len(line) <= MAX_RECORD_BYTES:
            line += rest
    yield line


def _document_records(pieces: Iterable[bytes]) -> Iterator[FileRecord]:
    """Yield the objects of a list, or those that stand one after the other."""
    cutter = _Cutter()
    for piece in pieces:
        yield from cutter.feed(piece)
    yield from cutter.end()


class _Cutter:
    """Cuts a document into records as its bytes come."""

    def __init__(self) -> None:
        self._base: int | None = None  # depth of the records: 1 in a list
        self._depth = 0
        self._in_string = False
        self._record = b""
        self._line = self._start = 1
        self._cut_escape = b""  # a backslash whose next byte has not come

    def feed(self, piece: bytes) -> Iterator[FileRecord]:
        piece = self._cut_escape + piece
        is_cut = (len(piece) - len(piece.rstrip(b"\\"))) % 2 == 1
        self._cut_escape = piece[-1:] if is_cut else b""
        piece = piece[: len(piece) - len(self._cut_escape)]
        start = counted = 0
        for at in self._brackets(piece):
            before = self._depth
            self._take(piece[at : at + 1])
            if self._begins(before):
                self._line += piece.count(b"\n", counted, at)
                counted = at
                yield from self._strange(piece[start:at])
                start, self._start = at, self._line
            elif self._depth == self._base and before > self._depth:
                yield _parsed(self._start, self._record + piece[start : at + 1])
                start, self._record = at + 1, b""
        self._line += piece.count(b"\n", counted)
        if len(self._record) <= MAX_RECORD_BYTES:
            self._record += piece[start:]

    def _brackets(self, piece: bytes) -> Iterator[int]:
        """Yield where the brackets outside strings are."""
        begin = 0
        if self._in_string:
            ending = _STRING_END.match(piece)
            if ending is None:
                return
            begin, self._in_string = ending.end(), False
        while found := _BRACKET.match(piece, begin):
            begin = found.end()
            if found[1] == b'"':
                self._in_string = True
                return
            yield begin - 1

    def end(self) -> Iterator[FileRecord]:
        if self._base is None or self._depth > self._base:
            yield FileRecord(self._start, None, "the JSON that begins here does not end")
        else:
            yield from self._strange(b"")

    def _take(self, bracket: bytes) -> None:
        self._depth += 1 if bracket in b"{[" else -1
        if self._base is None:
            self._base = 1 if bracket == b"[" else 0

    def _begins(self, before: int) -> bool:
        """Return whether the bracket just taken opened a record, or the list of all."""
        return self._depth > before and before in (self._base, 0)

    def _strange(self, rest: bytes) -> Iterator[FileRecord]:
        """Yield a fault if there is text that is not a record between two records."""
        between, self._record = self._record + rest, b""
        if between.strip(_BETWEEN + b"["):
            yield FileRecord(
                self._line, None, "something that is not a JSON object or list stands here"
            )


def _parsed(line: int, text: bytes) -> FileRecord:
    if len(text) > MAX_RECORD_BYTES:
        return FileRecord(line, None, f"a record of more than {MAX_RECORD_BYTES} bytes")
    try:
        return FileRecord(line, parse(text), None)
    except json.JSONDecodeError as error:
        return FileRecord(
            line, None, f"no JSON: {error.msg} at character {error.pos} of the record"
        )
    except RecursionError:
        return FileRecord(line, None, TOO_DEEP)
    except ValueError as error:  # an integer of more than 4,300 digits
        return FileRecord(line, None, f"no JSON that can be read: {str(error).partition(';')[0]}")


def parse(text: bytes) -> Any:
    """Return the value of JSON; numbers that JSON does not have become text.

    U+FFFD replaces half characters, and bytes that are not UTF-8.

    Raises:
        ValueError: It is not JSON, or holds a number of too many digits.
        RecursionError: It is nested too deeply.
    """
    plain = text.lstrip(BLANK).decode(errors="replace")
    value = json.loads(plain, parse_constant=str)
    if not _LONE_SURROGATE.search(text):
        return value
    whole = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass")
    return json.loads(whole.decode("utf-16", "replace"))
