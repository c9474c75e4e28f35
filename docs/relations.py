"""Knows which relation is made from which: `relation_graphs.py` draws it.

What a relation reads stands in the header of its SQL file (`Reads:`), or beside the name of a
function that makes it (`@relation`). What jobs make besides is in the docstring of their module
(`Makes:`). Tests hold all of it to what the code really does.
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
from tracegrade_queries.engine.sql import QUERIES, Queries
from tracegrade_queries.graph import RelationPlan, headers
from tracegrade_queries.graph.plan import path_of
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.sql import QUERIES as SCORING
from tracegrade_scoring.sql import RELATIONS


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
    plan: RelationPlan | None
    """Who makes its relations; None where a module does so itself."""
    tables: frozenset[str]
    """Tables of the lake that it writes, and views that a connection has of them."""
    below: frozenset[str] = frozenset()
    """Tables and views of the packages below, which is all that its queries may read of them."""

    @cached_property
    def relations(self) -> tuple[Relation, ...]:
        """Those of SQL files by name, then those of Python."""
        of_functions = _of_functions(self.plan) if self.plan else ()
        return (*_of_sql(self.queries), *of_functions, *_of_modules(self.queries.root))

    @cached_property
    def readable(self) -> frozenset[str]:
        """All names that its queries may read."""
        return self.below | self.tables | {relation.name for relation in self.relations}


_BUILT: Final = frozenset({*BUILT.names(), *DEDUPLICATED})
PACKAGES: Final[Mapping[str, Package]] = {
    "queries": Package(QUERIES, None, _BUILT),
    "scoring": Package(SCORING, RELATIONS, frozenset(SCORES.names()), below=_BUILT),
}

_CREATED = re.compile(r"^CREATE OR REPLACE TEMP (?:TABLE|VIEW) (\w+)", re.MULTILINE)


def _of_sql(queries: Queries) -> Iterator[Relation]:
    for name, path in queries.paths.items():
        text = queries.text(name)
        taken = headers.taken(text)
        reads = headers.reads(text) | ({taken} if taken else set())
        alone = [] if headers.macros_made(text) else [name]
        for made in _CREATED.findall(text) or alone:
            yield Relation(made, reads, path)


_MAKES = re.compile(r"^ {4}(\w+)(?: \(from ([\w, ]+)\))?: ", re.MULTILINE)


def _of_functions(plan: RelationPlan) -> Iterator[Relation]:
    for made in dict.fromkeys(plan.of_python.values()):
        for name in made.makes:
            yield Relation(name, made.reads, path_of(made))


def _of_modules(root: Path) -> Iterator[Relation]:
    for path in sorted(root.rglob("*.py")):
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        makes = docstring.partition("\nMakes:\n")[2].partition("\n\n")[0]
        for name, reads in _MAKES.findall(makes):
            yield Relation(name, frozenset(reads.split(", ")) - {""}, path)
