"""Detects the layout of a JSON file: one record per line, or a document over several lines.

A beginning can look like both. A line that is a whole object or list decides: inside a document, a
comma or a closing bracket follows it.
"""

import json
import re
from collections.abc import Sequence
from io import BufferedIOBase
from typing import Final, NamedTuple

BLANK: Final = b" \t\r\n\xef\xbb\xbf"
"""Bytes that may surround a record, including a byte order mark."""

_TEXT: Final = re.compile(rb'"(?:[^"\\]|\\.)*"')

_HEAD_LINES: Final = 50
_HEAD_BYTES: Final = 2**20
"""Length of the beginning that is examined, if it has at least two lines."""

_MAX_LINES: Final = 10_000
"""Most lines examined; all but one may be blank."""


class Head(NamedTuple):
    """The beginning of a file."""

    lines: list[bytes]
    """As they stand, blank ones too."""

    are_records: bool
    """Whether each line is a record; else the file is one or more documents."""


def read_head(file: BufferedIOBase, max_line_bytes: int) -> Head:
    """Return the lines that show a file's layout, and the layout.

    Args:
        file: At its beginning; afterwards right after those lines.
        max_line_bytes: A longer line is cut one byte after that.
    """
    lines: list[bytes] = []
    filled: list[bytes] = []
    size = 0
    while line := file.readline(max_line_bytes + 1):
        lines.append(line)
        filled += [text] if (text := line.strip(BLANK)) else []
        size += len(line)
        if len(filled) >= _HEAD_LINES or (len(filled) > 1 and size > _HEAD_BYTES):
            break
        if len(lines) == _MAX_LINES or len(line) > max_line_bytes:
            break
    if len(line) > max_line_bytes and len(filled) == 1:
        return Head(lines, not filled[0].startswith(b"["))  # too long for a record
    return Head(lines, _are_records(filled, ended=not line))


def _are_records(lines: Sequence[bytes], *, ended: bool) -> bool:
    """Return whether lines without blanks around them are records each."""
    if not lines or not lines[0].startswith((b"[", b"{")):
        return True
    if _is_whole(lines[0]):
        if len(lines) == 1:
            return lines[0].startswith(b"{")
        if not any(line in (b"{", b"[") for line in lines):
            return True
    return _contradict(lines, ended=ended)


def _contradict(lines: Sequence[bytes], *, ended: bool) -> bool:
    """Return whether lines cannot be of one document, or of several in a row.

    A text in a document has no line break, and a whole object or list inside another is the last
    one or is followed by a comma.
    """
    depth = 0
    for line, after in zip(lines, (*lines[1:], b"" if ended else b","), strict=True):
        if depth > 0 and _is_whole(line) and not after.startswith((b",", b"]", b"}")):
            return True
        brackets = _TEXT.sub(b"", line)
        if b'"' in brackets:
            return True
        depth += sum(map(brackets.count, (b"{", b"["))) - sum(map(brackets.count, (b"}", b"]")))
    return False


def _is_whole(line: bytes) -> bool:
    """Return whether a line is an object or a list, followed by nothing."""
    try:
        return isinstance(json.loads(line), dict | list)
    except (ValueError, RecursionError):
        return False
