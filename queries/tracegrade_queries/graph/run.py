"""Makes relations in a connection one after another, and notes what each of them took.

Planning a query takes as long as reading thousands of rows. So where rows that a relation needs
(`Needs`) are missing it is not planned: it has no rows, and its table is created only if something
that is made reads it.
"""

import json
import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import duckdb
import pyarrow as pa

from tracegrade_queries.engine.relations import has_rows, make_empty
from tracegrade_queries.engine.statements import run as run_statements
from tracegrade_queries.graph.relation import AnyRelation, MacroFile

PROFILE: Final = "TRACEGRADE_PROFILE"
"""The environment variable that names the file which profiles are added to."""

ColumnTypes: TypeAlias = Callable[[duckdb.DuckDBPyConnection], Mapping[str, str]]
"""Returns, for a connection, types of columns that are not as declared."""

_OF_THE_LAKE: Final = (
    "SELECT table_name FROM duckdb_tables() WHERE NOT temporary "
    "UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT temporary AND NOT internal"
)


class Cost(NamedTuple):
    """What making one relation took."""

    relation: str
    rows: int | None
    """NULL of a view, and where a function made them in the engine."""
    cpu_ms: float
    """Of the whole process, so other jobs in it count too."""
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
        options: Mapping[str, object],
        context: Any,
        types: ColumnTypes,
    ) -> None:
        """Take a connection; arguments as of `RelationPlan.run`."""
        self.con: Final = con
        self.options: Final = options
        self.context: Final = context
        self.kept: Final[dict[str, Any]] = {}
        """What functions keep for those of relations that read theirs."""
        self.costs: Final[list[Cost]] = []
        self._types = types
        self._counts: dict[str, int] = {}
        self._absent: dict[str, AnyRelation] = {}
        """Relations without rows whose tables were not created yet."""
        self._views: set[str] = set()

    def table(self, name: str) -> pa.Table:
        """Return the rows of a relation that was made."""
        return self.con.table(name).to_arrow_table()

    def make_all(
        self,
        relations: Sequence[AnyRelation],
        dropped: Sequence[Sequence[str]],
        targets: Collection[str],
    ) -> None:
        """Make relations, and drop some after each; targets are there at the end."""
        of_lake = self._of_lake() if any(dropped) else set()
        try:
            for relation, names in zip(relations, dropped, strict=True):
                self._make(relation)
                for name in names:
                    if name not in of_lake:
                        self._drop(name)
        finally:
            self._write_profile()
        for name in targets:
            self._create(name)

    def _make(self, relation: AnyRelation) -> None:
        started = time.process_time()
        skipped = not all(any(map(self._has_rows, either)) for either in relation.needs)
        if skipped:
            self._skip(relation)
        else:
            for name in relation.reads:
                self._create(name)
            self._take(relation)
            self._counts |= relation.make(self)
            self._views |= set(relation.makes) if relation.is_view else set()
        if not isinstance(relation, MacroFile):
            rows = self._counts.get(relation.name)
            took = (time.process_time() - started) * 1000
            self.costs.append(Cost(relation.name, rows, round(took, 3), skipped))

    def _skip(self, relation: AnyRelation) -> None:
        """Leave a relation without rows; one that takes another leaves that as it is."""
        if relation.takes is not None:
            self._take(relation)
            return
        for name in relation.makes:
            self._absent[name] = relation
            self._counts[name] = 0

    def _take(self, relation: AnyRelation) -> None:
        """Give the rows that a relation takes its own name."""
        if relation.takes is None:
            return
        self._create(relation.takes)
        rename = f"ALTER TABLE temp.{relation.takes} RENAME TO {relation.name}"
        run_statements(self.con, rename)

    def _has_rows(self, rows: str) -> bool:
        """Return whether there are rows; of what was counted or is absent, nobody is asked."""
        name = rows.split(maxsplit=1)[0]
        count = self._counts.get(name)
        if count == 0:
            return False
        if count is not None and name == rows:
            return True
        return has_rows(self.con, rows)

    def _create(self, name: str) -> None:
        """Create the empty table of a relation that was skipped, for who reads it."""
        if relation := self._absent.pop(name, None):
            other = self._types(self.con)
            columns = relation.columns(name)
            make_empty(self.con, name, [(each, other.get(each, kind)) for each, kind in columns])

    def _drop(self, name: str) -> None:
        if self._absent.pop(name, None) is None:
            kind = "VIEW" if name in self._views else "TABLE"
            run_statements(self.con, f"DROP {kind} IF EXISTS temp.{name}")

    def _of_lake(self) -> set[str]:
        """Return the names that would mean the lake's tables if they were dropped."""
        return {name for (name,) in self.con.execute(_OF_THE_LAKE).fetchall()}

    def _write_profile(self) -> None:
        """Add a line for each relation to the file that the environment names, if it does."""
        if path := os.environ.get(PROFILE):
            lines = "".join(f"{json.dumps(cost._asdict())}\n" for cost in self.costs)
            with open(path, "a", encoding="utf-8") as file:
                file.write(lines)
