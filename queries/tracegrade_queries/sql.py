"""Finds and reads the SQL files of this package: one file is one query, named for its result."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tracegrade_queries.errors import UnknownQuery

ROOT = Path(__file__).parent


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
    summary, *lines = text.splitlines()
    names = (re.match(r"--   \$(\w+)", line) for line in lines)
    return Saved(summary.removeprefix("-- "), tuple(name[1] for name in names if name))
