"""The relations of the packages, and what each reads: `relation_graphs.py` draws it.

The plans of the packages have it. The docstring of a job's module lists the relations that the job
makes (`Makes:`). Tests compare all of it with the code.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

from tracegrade_queries.engine.connection import COUNTED, DEDUPLICATED
from tracegrade_queries.engine.layers import BUILT
from tracegrade_queries.engine.sql import QUERIES, Queries
from tracegrade_queries.graph import RelationPlan
from tracegrade_queries.graph.plan import path_of
from tracegrade_queries.relations import RELATIONS as BUILDING
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.sql import QUERIES as SCORING
from tracegrade_scoring.sql import RELATIONS as SCORING_RELATIONS


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
    plan: RelationPlan
    tables: frozenset[str]
    """Tables of the lake that it writes, and views that a connection has of them."""
    below: frozenset[str] = frozenset()
    """Tables and views of the packages below, which is all that its queries may read of them."""

    @cached_property
    def relations(self) -> tuple[Relation, ...]:
        """Relations of SQL files by name, then relations of Python."""
        return (*_of_plan(self.plan), *_of_modules(self.queries.root))

    @cached_property
    def readable(self) -> frozenset[str]:
        """All names that its queries may read."""
        return self.below | self.tables | {relation.name for relation in self.relations}


_BUILT: Final = frozenset({*BUILT.names(), *DEDUPLICATED, COUNTED})
PACKAGES: Final[Mapping[str, Package]] = {
    "queries": Package(QUERIES, BUILDING, _BUILT),
    "scoring": Package(SCORING, SCORING_RELATIONS, frozenset(SCORES.names()), below=_BUILT),
}

_MAKES = re.compile(r"^ {4}(\w+)(?: \(from ([\w, ]+)\))?: ", re.MULTILINE)


def _of_plan(plan: RelationPlan) -> Iterator[Relation]:
    for made in plan.relations:
        reads = made.reads.union(filter(None, (made.takes,)))
        for name in made.makes:
            yield Relation(name, reads, path_of(made))


def _of_modules(root: Path) -> Iterator[Relation]:
    for path in sorted(root.rglob("*.py")):
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        makes = docstring.partition("\nMakes:\n")[2].partition("\n\n")[0]
        for name, reads in _MAKES.findall(makes):
            yield Relation(name, frozenset(reads.split(", ")) - {""}, path)
