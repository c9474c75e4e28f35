"""Reads the headers of SQL files, and the macros in them, for the graph of relations.

Most of the data is in the query's header; the macros are found in the query itself.
"""

import re
from typing import Final

from tracegrade_queries.engine.sql import header_lines

_CALLED: Final = re.compile(r"\b([a-z]\w*)\s*\(")
_MACRO: Final = re.compile(r"\bCREATE OR REPLACE TEMP MACRO (\w+)")
_CREATED: Final = re.compile(r"^CREATE OR REPLACE TEMP (TABLE|VIEW) (\w+)", re.MULTILINE)
_COMMENT: Final = re.compile(r"--.*")


def reads(text: str) -> frozenset[str]:
    """Return the relations under `Reads`."""
    return frozenset(line.split()[0] for line in header_lines(text, "Reads"))


def taken(text: str) -> str | None:
    """Return the relation under `Takes`, which the statement changes in place; None without."""
    return _only(text, "Takes")


def ends(text: str) -> str | None:
    """Return the relation under `Ends`: where each chain of these edges leads; None without."""
    return _only(text, "Ends")


def created(text: str) -> dict[str, str]:
    """Return the relations of a script by name: TABLE or VIEW; empty for a plain query."""
    return {name: kind for kind, name in _CREATED.findall(text)}


def replaced(text: str) -> str | None:
    """Return the relation under `Replaces`, which this one can replace; None without one."""
    return _only(text, "Replaces")


def is_view(text: str) -> bool:
    """Return whether the header has `As: view`: the query runs each time it is read."""
    return _only(text, "As") == "view"


def condition(text: str) -> tuple[str, str] | None:
    """Return option and value under `When`, with which the query is used; None without."""
    line = _only(text, "When")
    if line is None:
        return None
    option, _, value = line.partition(" = ")
    return option, value


def parameters(text: str) -> tuple[str, ...]:
    """Return the names under `Parameters`, without their dollar signs."""
    lines = header_lines(text, "Parameters")
    return tuple(line.split()[0][1:] for line in lines if line.startswith("$"))


def macros_made(text: str) -> tuple[str, ...]:
    """Return the macros that a file defines."""
    return tuple(_MACRO.findall(text))


def functions_called(text: str) -> frozenset[str]:
    """Return the functions that a query calls, including macros."""
    return frozenset(_CALLED.findall(_COMMENT.sub("", text)))


def _only(text: str, heading: str) -> str | None:
    lines = header_lines(text, heading)
    return lines[0].strip() if lines else None
