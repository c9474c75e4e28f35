"""Finds and reads the SQL files of this package: one file is one query, named for its result."""

import re
from functools import cache
from itertools import dropwhile, islice, takewhile
from pathlib import Path
from typing import NamedTuple

from tracegrade_queries.errors import UnknownQuery

ROOT = Path(__file__).parents[1]


@cache
def paths() -> dict[str, Path]:
    """Return the file of every query by its name, sorted by name."""
    return {path.stem: path for path in sorted(ROOT.rglob("*.sql"), key=lambda path: path.stem)}


def query(name: str) -> str:
    """Return the text of one query.

    Raises:
        UnknownQuery: No file `<name>.sql` exists in any folder of the package.
    """
    path = paths().get(name)
    if path is None:
        msg = f"no query is named '{name}'; known: {', '.join(paths())}"
        raise UnknownQuery(msg)
    return path.read_text(encoding="utf-8")


def unordered(name: str) -> str:
    """Return a query of ours without the order of its rows.

    That is for who reads its result; sorting what is only joined or added up costs more than most
    queries do.
    """
    return query(name).split("\nORDER BY ")[0]


def header_lines(text: str, heading: str) -> list[str]:
    """Return what stands under one heading of a query's header, line by line; maybe nothing."""
    header = takewhile(lambda line: line.startswith("--"), text.splitlines())
    below = islice(dropwhile(lambda line: line != f"-- {heading}:", header), 1, None)
    lines = takewhile(lambda line: line.startswith("--   "), below)
    return [line.removeprefix("--   ") for line in lines]


class Saved(NamedTuple):
    """What the header of a saved query says to who chooses one."""

    summary: str
    """Its first line."""

    parameters: tuple[str, ...]
    """The names of the values that it needs, in the order of the header."""


def saved() -> dict[str, Saved]:
    """Return what every saved query is about, by its name."""
    found = (name for name, path in paths().items() if path.parent.name == "saved")
    return {name: _described(query(name)) for name in found}


def _described(text: str) -> Saved:
    summary = text.partition("\n")[0]
    names = (re.match(r"\$(\w+)", line) for line in header_lines(text, "Parameters"))
    return Saved(summary.removeprefix("-- "), tuple(name[1] for name in names if name))
