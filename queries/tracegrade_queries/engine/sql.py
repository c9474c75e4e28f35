"""Finds and reads SQL files: one file is one query, named for its result.

Each package has its own queries, and its code uses only these.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from tracegrade_queries.errors import UnknownQuery


class Queries:
    """The SQL files below one folder."""

    def __init__(self, root: Path) -> None:
        """Take all files of the folder and of those in it; each is read once."""
        self.root = root
        self._texts: dict[str, str] = {}

    @cached_property
    def paths(self) -> dict[str, Path]:
        """The file of every query by its name, sorted by name."""
        files = sorted(self.root.rglob("*.sql"), key=lambda path: path.stem)
        return {path.stem: path for path in files}

    def text(self, name: str) -> str:
        """Return the text of one query.

        Raises:
            UnknownQuery: No file `<name>.sql` exists below the folder.
        """
        if name not in self._texts:
            path = self.paths.get(name)
            if path is None:
                msg = f"no query is named '{name}'; known: {', '.join(self.paths)}"
                raise UnknownQuery(msg)
            self._texts[name] = path.read_text(encoding="utf-8")
        return self._texts[name]

    def unordered(self, name: str) -> str:
        """Return a query without the order of its rows.

        The order is for readers of the result; sorting rows to be joined or summed costs more than
        most queries do.
        """
        return self.text(name).split("\nORDER BY ")[0]

    def in_folder(self, folder: str) -> list[str]:
        """Return the names of the queries whose file is in a folder of this name, sorted."""
        return [name for name, path in self.paths.items() if path.parent.name == folder]


QUERIES = Queries(Path(__file__).parents[1])
"""The queries of this package."""

MACROS = Queries(QUERIES.root / "steps" / "macros")
"""The macros that packages above may call, too."""

query = QUERIES.text
unordered = QUERIES.unordered


def header_lines(text: str, heading: str) -> list[str]:
    """Return the lines under one heading of a query's header; maybe none."""
    return [*_sections(text).get(heading, ())]


@cache
def _sections(text: str) -> Mapping[str, Sequence[str]]:
    """Return the lines under each heading of a query's header, of equal headings the first."""
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in takewhile(lambda line: line.startswith("--"), text.splitlines()):
        if line.startswith("--   "):
            lines.append(line.removeprefix("--   "))
        else:
            lines = []
            if line.startswith("-- ") and line.endswith(":"):
                sections.setdefault(line[3:-1], lines)
    return sections


@cache
def needs(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the relations, or rows of them as FROM takes them, that a query needs to have rows.

    Its header declares them under `Needs`, one per line. If the rows of any of several relations
    suffice, they are on one line, joined by `or`.
    """
    lines: list[str] = []
    for line in header_lines(text, "Needs"):
        if line.startswith(" "):
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line)
    return tuple(tuple(line.split(" or ")) for line in lines)


@cache
def declared_columns(text: str) -> tuple[tuple[str, str], ...]:
    """Return name and type of each column that a query's header declares, in their order."""
    lines = (line for line in header_lines(text, "Columns") if not line.startswith(" "))
    columns = (re.split(r" {2,}", line) for line in lines)
    return tuple((name, type_) for name, type_, *_ in columns)


class Saved(NamedTuple):
    """The description of a saved query from its header."""

    summary: str
    """Its first line."""

    parameters: tuple[str, ...]
    """The names of the values that it needs, in the order of the header."""


def saved_queries(queries: Queries) -> dict[str, Saved]:
    """Return the saved queries of one package, by name."""
    return {name: _described(queries.text(name)) for name in queries.in_folder("saved")}


def _described(text: str) -> Saved:
    summary = text.partition("\n")[0].removeprefix("-- ")
    names = (re.match(r"\$(\w+)", line) for line in header_lines(text, "Parameters"))
    return Saved(summary, tuple(name[1] for name in names if name))
