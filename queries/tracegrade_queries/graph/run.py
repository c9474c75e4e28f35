"""Makes relations in a connection one after another, and notes the cost of each.

Planning a query takes as long as reading thousands of rows. So if rows that a relation needs
(`Needs`) are missing, it is not planned. It has no rows, and its table is created only if a
relation of the run reads it.
"""

import json
import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import duckdb
import pyarrow as pa

from tracegrade_queries.engine.relations import has_rows, make_empty, make_view
from tracegrade_queries.engine.statements import run as run_statements
from tracegrade_queries.graph.relation import AnyRelation, MacroFile

if TYPE_CHECKING:
    from tracegrade_queries.graph.plan import Order, RelationPlan

PROFILE: Final = "TRACEGRADE_PROFILE"
"""The environment variable that names the file which profiles are added to."""

ColumnTypes: TypeAlias = Callable[[duckdb.DuckDBPyConnection], Mapping[str, str]]
"""Returns, for a connection, types of columns that are not as declared."""

_WORD: Final = re.compile(r"\w+")

_OF_THE_LAKE: Final = (
    "SELECT table_name FROM duckdb_tables() WHERE NOT temporary "
    "UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT temporary AND NOT internal"
)


class Cost(NamedTuple):
    """The cost of making one relation."""

    relation: str
    rows: int | None
    """NULL of a view, of what takes another, and where a function or a script made them."""
    cpu_ms: float
    """CPU time of the whole process, including other jobs; without that of nested relations."""
    skipped: bool
    """Rows that it needs were missing, so it was not planned."""


def declared_types(_: duckdb.DuckDBPyConnection) -> Mapping[str, str]:
    """Return nothing: all columns are of the types that headers declare."""
    return {}


class Run:
    """One connection in which relations are made; functions of Python get it."""

    def __init__(
        self,
        con: duckdb.DuckDBPyConnection,
        plan: "RelationPlan",
        options: Mapping[str, object],
        context: Any,
        types: ColumnTypes,
    ) -> None:
        """Take a connection; arguments as of `RelationPlan.run`."""
        self.con: Final = con
        self.plan: Final = plan
        self.options: Final = options
        self.context: Final = context
        self.shared: Final[dict[str, Any]] = {}
        """Values that functions store for functions of later relations."""
        self.costs: Final[list[Cost]] = []
        self._types = types
        self._counts: dict[str, int] = {}
        self._absent: dict[str, AnyRelation] = {}
        """Relations without rows whose tables were not created yet."""
        self._views: dict[str, Collection[str]] = {}
        """By name, the relations that are dropped with it."""
        self._macros: set[MacroFile] = set()
        self._parts: set[AnyRelation] = set()
        """What `make_part` has made."""

    def table(self, name: str) -> pa.Table:
        """Return the rows of a relation that was made."""
        return self.con.table(name).to_arrow_table()

    def make_all(self, targets: Collection[str], given: Collection[str]) -> None:
        """Make relations and their sources; arguments as in `RelationPlan.run`."""
        try:
            self.make(targets, given)
        finally:
            self._write_profile()

    def make(self, targets: Collection[str], given: Collection[str]) -> frozenset[str]:
        """Make relations of the plan for a function that reads them itself.

        Returns:
            What is left for it to drop: the targets, and what views of them read.
        """
        order = self.plan.order(targets, given, self.options)
        for relation, names in zip(order.relations, order.dropped, strict=True):
            self._make(relation)
            self.drop(names)
        for name in targets:
            self._create(name)
        return order.remaining

    def make_part(self, order: "Order", targets: Collection[str]) -> None:
        """Make those relations of an order that targets need, and keep all.

        What an earlier part made is not made again, so that all parts cost as much as the whole.
        """
        for relation in order.needed(targets):
            if relation not in self._parts:
                self._make(relation)
                self._parts.add(relation)
        for name in targets:
            self._create(name)

    def show(self, name: str, rows: str, sources: Collection[str]) -> None:
        """Make a view; the relations that it reads are dropped when it is."""
        make_view(self.con, name, rows)
        self._views[name] = sources

    def drop(self, names: Iterable[str]) -> None:
        """Drop relations that were made, except those with the name of a table of the lake."""
        for name in names:
            if self._absent.pop(name, None) is None and self._is_worth_dropping(name):
                kind = "VIEW" if name in self._views else "TABLE"
                run_statements(self.con, f"DROP {kind} IF EXISTS temp.{name}")
                self.drop(self._views.pop(name, ()))

    def _is_worth_dropping(self, name: str) -> bool:
        """Return whether a relation holds memory, and hides no table of the lake."""
        is_empty = self._counts.get(name) == 0 and name not in self._views
        return not is_empty and name not in self._of_lake

    def _make(self, relation: AnyRelation) -> None:
        if isinstance(relation, MacroFile):
            self._define(relation)
            return
        started, before = time.process_time(), len(self.costs)
        skipped = not all(any(map(self._has_rows, either)) for either in relation.needs)
        if skipped:
            self._skip(relation)
        else:
            for name in relation.reads:
                self._create(name)
            self._take(relation)
            self._counts |= relation.make(self)
            self._views |= {name: () for name in relation.views}
        took = (time.process_time() - started) * 1000
        took -= sum(cost.cpu_ms for cost in self.costs[before:])
        rows = self._counts.get(relation.name)
        self.costs.append(Cost(relation.name, rows, round(took, 3), skipped))

    def _define(self, macros: MacroFile) -> None:
        if macros not in self._macros:
            macros.make(self)
            self._macros.add(macros)

    def _skip(self, relation: AnyRelation) -> None:
        """Leave a relation without rows; if it takes another, that stays unchanged."""
        if relation.takes is not None:
            count = self._counts.get(relation.takes)
            self._take(relation)
            self._counts |= {} if count is None else {relation.name: count}
            return
        for name in relation.makes:
            self._absent[name] = relation
            self._counts[name] = 0

    def _take(self, relation: AnyRelation) -> None:
        """Give the rows that a relation takes its own name."""
        if relation.takes is None:
            return
        self._create(relation.takes)
        self._counts.pop(relation.takes, None)
        kind = "TABLE"
        if relation.takes in self._views:
            kind = "VIEW"
            self._views[relation.name] = self._views.pop(relation.takes)
        rename = f"ALTER {kind} temp.{relation.takes} RENAME TO {relation.name}"
        run_statements(self.con, rename)

    def _has_rows(self, rows: str) -> bool:
        """Return whether there are rows; queries none if they were counted or are absent."""
        name = rows.split(maxsplit=1)[0]
        count = self._counts.get(name)
        if count == 0:
            return False
        if count is not None and name == rows:
            return True
        for word in _WORD.findall(rows):  # a condition may read other relations
            self._create(word)
        return has_rows(self.con, rows)

    def _create(self, name: str) -> None:
        """Create the empty table of a relation that was skipped, for who reads it."""
        if relation := self._absent.pop(name, None):
            columns = relation.columns(name)
            typed = [(each, self._other_types.get(each, kind)) for each, kind in columns]
            make_empty(self.con, name, typed)

    @cached_property
    def _other_types(self) -> Mapping[str, str]:
        """The types of columns that are not as declared."""
        return self._types(self.con)

    @cached_property
    def _of_lake(self) -> set[str]:
        """The names that would mean the lake's tables if they were dropped."""
        return {name for (name,) in self.con.execute(_OF_THE_LAKE).fetchall()}

    def _write_profile(self) -> None:
        """Add a line for each relation to the file that the environment names, if it does."""
        if path := os.environ.get(PROFILE):
            lines = "".join(f"{json.dumps(cost._asdict())}\n" for cost in self.costs)
            with open(path, "a", encoding="utf-8") as file:
                file.write(lines)
