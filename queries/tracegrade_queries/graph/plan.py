"""Plans the order in which a connection makes relations, from what each of them reads.

The order is that of a walk from the targets to their sources, names in alphabetical order, so that
it is the same in every process. A relation lives until its last reader is made, and the sources of
a view live as long as the view.
"""

import importlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import duckdb

from tracegrade_queries.engine.sql import Queries
from tracegrade_queries.errors import GraphBroken
from tracegrade_queries.graph import headers
from tracegrade_queries.graph.relation import (
    AnyRelation,
    ChainEnds,
    MacroFile,
    PythonRelation,
    Script,
    SqlRelation,
)
from tracegrade_queries.graph.run import ColumnTypes, Run, declared_types

FileRelation: TypeAlias = SqlRelation | Script | ChainEnds
"""The relations of SQL files."""

_DECORATED: Final = re.compile(r"^@relation\(", re.MULTILINE)


class Order(NamedTuple):
    """The relations that a run makes, in order."""

    relations: tuple[AnyRelation, ...]
    dropped: tuple[tuple[str, ...], ...]
    """For each of them, the relations without a later reader."""
    sources: Mapping[AnyRelation, Sequence[AnyRelation]]
    """What has to be made before each of them."""

    @property
    def remaining(self) -> frozenset[str]:
        """The relations that remain: the targets, and the sources of views among them."""
        made = {name for relation in self.relations for name in relation.makes}
        taken = {relation.takes for relation in self.relations}
        return frozenset(made.difference(*self.dropped) - taken)

    def needed(self, targets: Collection[str]) -> list[AnyRelation]:
        """Return those of the relations that some targets need, in the order of all."""
        found: set[AnyRelation] = set()
        left = [each for each in self.relations if not frozenset(targets).isdisjoint(each.makes)]
        while left:
            relation = left.pop()
            if relation not in found:
                found.add(relation)
                left.extend(self.sources[relation])
        return [relation for relation in self.relations if relation in found]


class RelationPlan:
    """The relations of one package."""

    def __init__(
        self,
        queries: Queries,
        *folders: str,
        macros: Queries | None = None,
        types: ColumnTypes = declared_types,
        is_sorted: bool = False,
    ) -> None:
        """Take the SQL files of a package, and the decorated functions of some of its folders.

        Args:
            queries: Its SQL files.
            folders: Its folders with modules whose functions make relations.
            macros: A package below whose macros may be called.
            types: Returns, for a connection, the types of columns that differ from their
                declaration.
            is_sorted: Rows are made in the order that headers declare; otherwise in any order.
        """
        self._text = queries.text if is_sorted else queries.unordered
        self._queries = queries
        self._folders = folders
        self._macro_files = macros
        self._types = types
        self._order_of: dict[tuple[object, ...], Order] = {}

    @cached_property
    def _of_sql(self) -> dict[str, FileRelation]:
        """The relations of SQL files, by name."""
        made: dict[str, FileRelation] = {}
        for name, path in self._queries.paths.items():
            text = self._queries.text(name)
            if headers.created(text):
                script = Script(name, text, path)
                made |= dict.fromkeys(script.makes, script)
            elif not headers.macros_made(text):
                made[name] = SqlRelation(name, self._text(name), path)
            if ends := headers.ends(text):
                made[ends] = ChainEnds(ends, name, path)
        return made

    @cached_property
    def _alternatives(self) -> dict[str, list[SqlRelation]]:
        """By name, the relations that may replace it."""
        found: dict[str, list[SqlRelation]] = {}
        for relation in self._of_sql.values():
            if isinstance(relation, SqlRelation) and (name := headers.replaced(relation.text)):
                found.setdefault(name, []).append(relation)
        return found

    @cached_property
    def _macros(self) -> dict[str, MacroFile]:
        """By macro, the file that defines it."""
        found = {}
        for queries in filter(None, (self._macro_files, self._queries)):
            for name, path in queries.paths.items():
                text = queries.text(name)
                if headers.created(text):
                    continue  # it makes its own
                for macro in headers.macros_made(text):
                    found[macro] = MacroFile(name, text, path)
        return _shared(found)

    @cached_property
    def of_python(self) -> dict[str, PythonRelation]:
        """The relations that functions make, by name.

        Raises:
            GraphBroken: Two make one name.
        """
        made: dict[str, PythonRelation] = {}
        root = self._queries.root
        paths = chain.from_iterable(sorted((root / name).rglob("*.py")) for name in self._folders)
        for path in paths:
            for relation in _decorated(root, path):
                for name in relation.makes:
                    if name in made or name in self._of_sql:
                        msg = f"'{name}' is made twice: also by {relation.module}"
                        raise GraphBroken(msg)
                    made[name] = relation
        return made

    @property
    def relations(self) -> Iterator[FileRelation | PythonRelation]:
        """All relations, those of SQL files first."""
        yield from dict.fromkeys(self._of_sql.values())
        yield from dict.fromkeys(self.of_python.values())

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of all relations."""
        return frozenset(self._of_sql) | frozenset(self.of_python)

    def named_below(self, *folders: str) -> list[str]:
        """Return the names of the relations whose files are below folders, in their order."""
        roots = [self._queries.root / folder for folder in folders]
        return [
            name
            for relation in self.relations
            if any(path_of(relation).is_relative_to(root) for root in roots)
            for name in relation.makes
            if not (isinstance(relation, SqlRelation) and headers.replaced(relation.text))
        ]

    def make(self, con: duckdb.DuckDBPyConnection, name: str) -> None:
        """Make one relation from existing ones, with the other relations of its file."""
        relation = self._of_sql[name]
        self.run(con, relation.makes, given=relation.reads)

    def run(
        self,
        con: duckdb.DuckDBPyConnection,
        targets: Collection[str],
        given: Collection[str] = (),
        *,
        options: Mapping[str, object] | None = None,
        context: Any = None,
    ) -> Run:
        """Make relations and their sources, as temporary tables and views.

        Args:
            con: Holds the given relations.
            targets: The relations to keep; all others are dropped after their last reader.
            given: Relations that already exist, and are neither made nor dropped.
            options: Values of parameters of queries, and of the options under `When`.
            context: The `context` of the run, for Python functions.

        Raises:
            GraphBroken: Nothing makes what something reads, or relations need each other.
        """
        run = self.start(con, options=options, context=context)
        run.make_all(targets, given)
        return run

    def start(
        self,
        con: duckdb.DuckDBPyConnection,
        *,
        options: Mapping[str, object] | None = None,
        context: Any = None,
    ) -> Run:
        """Return a run that has made nothing yet; arguments as in `run`."""
        return Run(con, self, options or {}, context, self._types)

    def order(
        self,
        targets: Collection[str],
        given: Collection[str] = (),
        options: Mapping[str, object] | None = None,
    ) -> Order:
        """Return the relations for targets, and when to drop each; arguments as in `run`."""
        chosen = self._chosen(options or {})
        key = (frozenset(targets), frozenset(given), tuple(sorted(chosen.items())))
        if key not in self._order_of:
            self._order_of[key] = _Ordering(self, targets, given, chosen).order()
        return self._order_of[key]

    def _chosen(self, options: Mapping[str, object]) -> dict[str, str]:
        """Return by name the relation that replaces it under the given options."""
        chosen = {}
        for name, relations in self._alternatives.items():
            for relation in relations:
                condition = headers.condition(relation.text)
                if condition and options.get(condition[0]) == condition[1]:
                    chosen[name] = relation.name
        return chosen

    def maker(self, name: str, chosen: Mapping[str, str]) -> AnyRelation | None:
        """Return the relation that makes a name; None if nothing does."""
        other = self._of_sql[chosen[name]] if name in chosen else None
        if isinstance(other, SqlRelation):
            return SqlRelation(name, other.text, other.path)
        return self._of_sql.get(name) or self.of_python.get(name)

    def macro_files(self, relation: AnyRelation) -> list[MacroFile]:
        """Return the files of the macros that a relation calls, sorted by name."""
        files = {self._macros[name] for name in relation.calls & self._macros.keys()}
        return sorted(files, key=lambda file: file.name)


def path_of(relation: FileRelation | PythonRelation) -> Path:
    """Return the file of a relation."""
    if isinstance(relation, PythonRelation):
        return Path(str(importlib.import_module(relation.module).__file__))
    return relation.path


def _shared(found: Mapping[str, MacroFile]) -> dict[str, MacroFile]:
    """Return the macros with one object for each file."""
    files = {file.path: file for file in found.values()}
    return {macro: files[file.path] for macro, file in found.items()}


def _decorated(root: Path, path: Path) -> Iterator[PythonRelation]:
    """Yield the relations of one module, which is imported if it has any."""
    if not _DECORATED.search(path.read_text(encoding="utf-8")):
        return
    parts = path.relative_to(root.parent).with_suffix("").parts
    for value in vars(importlib.import_module(".".join(parts))).values():
        if isinstance(value, PythonRelation) and value.module == ".".join(parts):
            yield value


class _Ordering:
    """The relations that some targets need, put in order."""

    def __init__(
        self,
        plan: RelationPlan,
        targets: Collection[str],
        given: Collection[str],
        chosen: Mapping[str, str],
    ) -> None:
        self._plan = plan
        self._targets = frozenset(targets)
        self._given = frozenset(given)
        self._chosen = chosen
        self._makers: dict[str, AnyRelation] = {}
        self._sources: dict[AnyRelation, list[AnyRelation]] = {}
        self._found: list[AnyRelation] = []
        self._on_the_way: list[AnyRelation] = []

    def order(self) -> Order:
        for name in sorted(self._targets):
            self._collect(name, "a target")
        self._put_takers_last()
        for name in sorted(self._targets - self._given):
            self._visit(self._makers[name])
        return Order(tuple(self._found), tuple(map(tuple, self._dropped())), self._sources)

    def _collect(self, name: str, reader: str) -> AnyRelation | None:
        """Find what makes a name, and all that this needs."""
        if name in self._given:
            return None
        if name in self._makers:
            return self._makers[name]
        maker = self._plan.maker(name, self._chosen)
        if maker is None:
            msg = f"{reader} reads '{name}', which nothing makes and which is not given"
            raise GraphBroken(msg)
        self._makers |= dict.fromkeys(maker.makes, maker)
        self._collect_sources(maker)
        return maker

    def _collect_sources(self, relation: AnyRelation) -> None:
        if relation in self._sources:
            return
        self._sources[relation] = sources = []
        taken = filter(None, (relation.takes,))
        for name in sorted({*relation.reads, *taken}):
            if maker := self._collect(name, f"'{relation.name}'"):
                sources.append(maker)
        for file in self._plan.macro_files(relation):
            self._collect_sources(file)
            sources.append(file)

    def _put_takers_last(self) -> None:
        """Let what takes a relation come after all that reads it, also by views."""
        for taker in [relation for relation in self._sources if relation.takes]:
            readers = self._readers(str(taker.takes))
            self._sources[taker] += sorted(readers - {taker}, key=lambda each: each.name)

    def _readers(self, name: str) -> set[AnyRelation]:
        readers = {relation for relation in self._sources if name in relation.reads}
        for view in chain.from_iterable(relation.views for relation in list(readers)):
            readers |= self._readers(view)
        return readers

    def _visit(self, relation: AnyRelation) -> None:
        if relation in self._found:
            return
        if relation in self._on_the_way:
            circle = [*self._on_the_way[self._on_the_way.index(relation) :], relation]
            names = " reads ".join(f"'{each.name}'" for each in circle)
            msg = f"relations are made of each other: {names}"
            raise GraphBroken(msg)
        self._on_the_way.append(relation)
        for source in self._sources[relation]:
            self._visit(source)
        self._on_the_way.pop()
        self._found.append(relation)

    def _dropped(self) -> list[list[str]]:
        """Return the relations to drop after each relation: those that it reads last."""
        lasting = self._lasting()
        last: dict[str, int] = {}
        lives: dict[AnyRelation, int] = {}
        for position, relation in reversed(list(enumerate(self._found))):
            ends = [self._end(name, last, position) for name in relation.makes if name in lasting]
            lives[relation] = until = max(ends, default=position)
            for name in relation.reads.union(filter(None, (relation.takes,))):
                last[name] = max(last.get(name, 0), until)
        dropped: list[list[str]] = [[] for _ in self._found]
        taken = {relation.takes for relation in self._found}
        never_dropped = self._targets | self._given | taken
        for position, relation in enumerate(self._found):
            for name in relation.makes:
                until = max(last.get(name, position), lives[relation])
                if name not in never_dropped and until < len(self._found):
                    dropped[until].append(name)
        return [sorted(names) for names in dropped]

    def _lasting(self) -> set[str]:
        """Return the views, also under the names that those have who take one."""
        found: set[str] = set()
        for relation in self._found:
            found |= set(relation.makes) if relation.takes in found else relation.views
        return found

    def _end(self, name: str, last: Mapping[str, int], position: int) -> int:
        """Return the position of the last reader of a name; beyond all of a target."""
        return len(self._found) if name in self._targets else last.get(name, position)
