"""Knows which relation is made from which: `relation_graphs.py` draws it.

What a relation reads stands in the header of its SQL file (`Reads:`), and for those that Python
makes in the docstring of the module (`Makes:`). Tests hold both to what the code really does.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

from tracegrade_queries.engine.connection import DEDUPLICATED
from tracegrade_queries.engine.layers import BUILT
from tracegrade_queries.engine.sql import QUERIES, Queries, header_lines
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.sql import QUERIES as SCORING


class Relation(NamedTuple):
    """A table, a view or the result of a query."""

    name: str
    reads: frozenset[str]
    path: Path
    """The file that makes it, SQL or Python."""

    @property
    def folder(self) -> Path:
        """The folder of its file."""
        return self.path.parent


@dataclass(frozen=True)
class Package:
    """The relations of one package."""

    queries: Queries
    tables: frozenset[str]
    """Tables of the lake that it writes, and views that a connection has of them."""
    below: frozenset[str] = frozenset()
    """Tables and views of the packages below, which is all that its queries may read of them."""

    @cached_property
    def relations(self) -> tuple[Relation, ...]:
        """Those of SQL files by name, then those of Python."""
        return (*_of_sql(self.queries), *_of_python(self.queries.root))

    @cached_property
    def readable(self) -> frozenset[str]:
        """All names that its queries may read."""
        return self.below | self.tables | {relation.name for relation in self.relations}


_BUILT: Final = frozenset({*BUILT.names(), *DEDUPLICATED})
PACKAGES: Final[Mapping[str, Package]] = {
    "queries": Package(QUERIES, _BUILT),
    "scoring": Package(SCORING, frozenset(SCORES.names()), below=_BUILT),
}

_CREATED = re.compile(r"^CREATE OR REPLACE TEMP (?:TABLE|VIEW) (\w+)", re.MULTILINE)


def _of_sql(queries: Queries) -> Iterator[Relation]:
    for name, path in queries.paths.items():
        text = queries.text(name)
        reads = frozenset(line.split()[0] for line in header_lines(text, "Reads"))
        alone = [] if "TEMP MACRO" in text else [name]
        for made in _CREATED.findall(text) or alone:
            yield Relation(made, reads, path)


_MAKES = re.compile(r"^ {4}(\w+)(?: \(from ([\w, ]+)\))?: ", re.MULTILINE)


def _of_python(root: Path) -> Iterator[Relation]:
    for path in sorted(root.rglob("*.py")):
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        makes = docstring.partition("\nMakes:\n")[2].partition("\n\n")[0]
        for name, reads in _MAKES.findall(makes):
            yield Relation(name, frozenset(reads.split(", ")) - {""}, path)
