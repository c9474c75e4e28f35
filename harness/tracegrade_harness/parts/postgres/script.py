r"""Splits SQL scripts, written by people or by `pg_dump`, into statements for a server.

Rows between `COPY … FROM stdin;` and `\.` are not SQL, and are sent separately.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_COPY: Final = re.compile(r"COPY\s.+\sFROM\s+stdin\b.*;\s*", re.IGNORECASE)
_ONLY_PSQL: Final = re.compile(r"\\(un)?restrict\b.*\s*")
"""Commands that newer versions of `pg_dump` write for `psql` alone."""


class ScriptPiece(NamedTuple):
    """Statements, or one COPY with its rows."""

    line: int
    """Line at which it begins, from 1."""
    sql: str
    rows: str | None = None
    """Rows of a COPY, as text."""


def pieces(script: str) -> Iterator[ScriptPiece]:
    """Yield the pieces of a script in order; statements without a COPY are one piece."""
    lines = script.splitlines(keepends=True)
    begin = at = 0
    while at < len(lines):
        if _COPY.fullmatch(lines[at]) is None:
            at += 1
            continue
        yield from _statements(lines, begin, at)
        end = next(
            (i for i in range(at + 1, len(lines)) if lines[i].rstrip() == r"\."), len(lines)
        )
        yield ScriptPiece(at + 1, lines[at].strip(), "".join(lines[at + 1 : end]))
        begin = at = end + 1
    yield from _statements(lines, begin, len(lines))


def _statements(lines: list[str], begin: int, end: int) -> Iterator[ScriptPiece]:
    text = "".join("\n" if _ONLY_PSQL.fullmatch(line) else line for line in lines[begin:end])
    if text.strip():
        yield ScriptPiece(begin + 1, text)
