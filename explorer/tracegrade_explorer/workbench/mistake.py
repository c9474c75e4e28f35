"""An error of the engine → where in the query it is, and the name that was probably meant."""

import re
from typing import Final, NamedTuple

MOST_BEFORE, MOST_LINE = 60, 100
"""Characters of a long line that are shown before the caret, and in all."""
_QUOTED_LINE: Final = re.compile(r"^LINE (\d+): (.*)\n( *)\^", re.MULTILINE)
_NEAREST: Final = re.compile(r'(?:Candidate bindings:[ :]*|Did you mean )"([^"]+)"')
_UNKNOWN: Final = re.compile(
    r'column "([^"]+)" not found|column named "([^"]+)"|with name (\S+) does not exist'
    r'|column name "([^"]+)"'
)
_KIND: Final = re.compile(r"^\w+(?: \w+)? Error: ")


class Mistake(NamedTuple):
    """A query that the engine refuses."""

    message: str
    nearest: str = ""
    """A name that exists; '' if none is similar."""
    number: int = 0
    """The line, from 1; 0 if the engine names none."""
    line: str = ""
    caret: str = ""
    """Blanks as wide as what precedes the position."""


class TextPosition(NamedTuple):
    """A place in a text."""

    number: int
    """The line, from 1."""
    line: str
    column: int
    """Characters before it."""


def mistake_of(error: str, text: str) -> Mistake:
    """Return what an error says, and its place in the query.

    Args:
        error: Of the engine, in one or several lines.
        text: The query as its author wrote it.
    """
    message = _KIND.sub("", error.partition("\n")[0])
    nearest = _NEAREST.search(error)
    position = _quoted_position(error, text) or _unknown_name(error, text)
    found = Mistake(message, nearest[1] if nearest else "")
    if position is None:
        return found
    start = max(0, position.column - MOST_BEFORE) if len(position.line) > MOST_LINE else 0
    before = re.sub(r"[^\t]", " ", position.line[start : position.column])
    line = position.line[start : start + MOST_LINE]
    return found._replace(number=position.number, line=line, caret=before)


def _quoted_position(error: str, text: str) -> TextPosition | None:
    """Return the place that the engine names; it quotes a line, a long one in part."""
    found = _QUOTED_LINE.search(error)
    if found is None:
        return None
    quoted, column = found[2], len(found[3]) - len(f"LINE {found[1]}: ")
    piece = quoted.removeprefix("...").removesuffix("...").rstrip()
    column -= 3 * quoted.startswith("...")
    for number, line in enumerate(text.splitlines(), start=1):
        at = line.find(piece)
        if piece and at >= 0:
            return TextPosition(number, line, max(0, at + column))
    return None


def _unknown_name(error: str, text: str) -> TextPosition | None:
    """Return where the name stands first that the engine does not know."""
    found = _UNKNOWN.search(error)
    name = next(filter(None, found.groups()), "") if found else ""
    if not name:
        return None
    whole = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
    for number, line in enumerate(text.splitlines(), start=1):
        if at := whole.search(line):
            return TextPosition(number, line, at.start())
    return None
