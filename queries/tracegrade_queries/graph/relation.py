"""The nodes of the graph of relations: SQL queries and scripts, Python functions, and macros.

A relation makes rows under one name, rarely under several, and declares its sources. The runner
makes the sources first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

import pyarrow as pa

from tracegrade_queries.engine.relations import make_view, put
from tracegrade_queries.engine.sql import declared_columns, needs
from tracegrade_queries.engine.statements import found
from tracegrade_queries.engine.statements import run as run_statements
from tracegrade_queries.graph import headers
from tracegrade_queries.graph.chains import follow

if TYPE_CHECKING:
    from tracegrade_queries.graph.run import Run

Needs: TypeAlias = tuple[tuple[str, ...], ...]
"""Rows without which there are none: of each tuple, any."""
Made: TypeAlias = pa.Table | Mapping[str, pa.Table] | None
"""The rows that a function returns; None where it made them in the engine."""


class AnyRelation(Protocol):
    """Rows under a name, and how they are made."""

    @property
    def name(self) -> str:
        """Its name in messages and profiles."""

    @property
    def makes(self) -> tuple[str, ...]:
        """The names that readers of its rows use."""

    @property
    def reads(self) -> frozenset[str]:
        """The relations that must be there before it is made."""

    @property
    def calls(self) -> frozenset[str]:
        """Functions that it calls, macros among them."""

    @property
    def takes(self) -> str | None:
        """The relation that it changes in place, after all others have read it."""

    @property
    def needs(self) -> Needs:
        """The relations without which it has no rows."""

    @property
    def views(self) -> frozenset[str]:
        """Its names that are views: read from its sources each time."""

    def make(self, run: Run) -> Mapping[str, int]:
        """Make it; return how many rows each name has, as far as this is known."""

    def columns(self, name: str) -> Sequence[tuple[str, str]]:
        """Return name and type of each column, for a relation that is not made."""


@dataclass(frozen=True, eq=False)
class SqlRelation:
    """The rows of one SQL file's query."""

    name: str
    text: str
    path: Path

    @property
    def makes(self) -> tuple[str, ...]:
        """Its name."""
        return (self.name,)

    @cached_property
    def reads(self) -> frozenset[str]:
        """Declared in its header."""
        return headers.reads(self.text)

    @cached_property
    def calls(self) -> frozenset[str]:
        """The macros that its query calls."""
        return headers.functions_called(self.text)

    @cached_property
    def takes(self) -> str | None:
        """The tables that its statement changes."""
        return headers.taken(self.text)

    @property
    def needs(self) -> Needs:
        """Declared in its header."""
        return needs(self.text)

    @cached_property
    def views(self) -> frozenset[str]:
        """Its name, if its header declares a view."""
        return frozenset(self.makes if headers.is_view(self.text) else ())

    @cached_property
    def _parameters(self) -> tuple[str, ...]:
        return headers.parameters(self.text)

    def make(self, run: Run) -> Mapping[str, int]:
        """Make a view, change its target, or store the rows as a temporary table."""
        if self.views:
            make_view(run.con, self.name, self.text)
            return {}
        if self.takes is not None:
            run_statements(run.con, self.text)
            return {}
        statement = f"CREATE OR REPLACE TEMP TABLE {self.name} AS {self.text}"
        given = {name: run.options[name] for name in self._parameters}
        return {self.name: found(run.con, statement, given or None)[0][0]}

    def columns(self, name: str) -> Sequence[tuple[str, str]]:
        """Return the columns that its header declares."""
        return declared_columns(self.text)


@dataclass(frozen=True, eq=False)
class Script:
    """The tables and views that one SQL file of several statements makes."""

    name: str
    text: str
    path: Path
    takes: Final[str | None] = None
    needs: Final[Needs] = ()

    @cached_property
    def makes(self) -> tuple[str, ...]:
        """The names that its statements create."""
        return tuple(headers.created(self.text))

    @cached_property
    def reads(self) -> frozenset[str]:
        """Declared in its header."""
        return headers.reads(self.text)

    @cached_property
    def calls(self) -> frozenset[str]:
        """The macros that its queries call, without its own."""
        return headers.functions_called(self.text) - set(headers.macros_made(self.text))

    @cached_property
    def views(self) -> frozenset[str]:
        """The names that it creates as views."""
        made = headers.created(self.text)
        return frozenset(name for name, kind in made.items() if kind == "VIEW")

    def make(self, run: Run) -> Mapping[str, int]:
        """Run its statements."""
        run_statements(run.con, self.text)
        return {}

    def columns(self, name: str) -> Sequence[tuple[str, str]]:
        """Return none: a script is always run."""
        return ()


@dataclass(frozen=True, eq=False)
class ChainEnds:
    """The end of each chain of edges: key, last. The header of the edges names it (`Ends`)."""

    name: str
    edges: str
    path: Path
    calls: Final[frozenset[str]] = frozenset()
    takes: Final[str | None] = None
    views: Final[frozenset[str]] = frozenset()

    @property
    def makes(self) -> tuple[str, ...]:
        """Its name."""
        return (self.name,)

    @property
    def reads(self) -> frozenset[str]:
        """The edges."""
        return frozenset({self.edges})

    @property
    def needs(self) -> Needs:
        """The edges."""
        return ((self.edges,),)

    def make(self, run: Run) -> Mapping[str, int]:
        """Follow the edges."""
        return {self.name: follow(run.con, self.edges, self.name)}

    def columns(self, name: str) -> Sequence[tuple[str, str]]:
        """Return the columns that all of them have."""
        return (("key", "BIGINT"), ("last", "BIGINT"))


@dataclass(frozen=True, eq=False)
class MacroFile:
    """The macros that one SQL file defines; they stay for as long as the connection does."""

    name: str
    text: str
    path: Path
    makes: Final[tuple[str, ...]] = ()  # macros have names of their own kind
    reads: Final[frozenset[str]] = frozenset()
    takes: Final[str | None] = None
    needs: Final[Needs] = ()
    views: Final[frozenset[str]] = frozenset()

    @cached_property
    def calls(self) -> frozenset[str]:
        """Other macros, which have to be there when these are defined."""
        return headers.functions_called(self.text) - set(headers.macros_made(self.text))

    def make(self, run: Run) -> Mapping[str, int]:
        """Define them."""
        run_statements(run.con, self.text)
        return {}

    def columns(self, name: str) -> Sequence[tuple[str, str]]:
        """Return no columns: macros have no rows."""
        return ()


@dataclass(frozen=True, eq=False)
class PythonRelation:
    """The rows that a function returns; see `relation`."""

    makes: tuple[str, ...]
    reads: frozenset[str]
    function: Callable[[Run], Made]
    calls: frozenset[str] = frozenset()
    takes: Final[str | None] = None
    needs: Final[Needs] = field(default=())
    views: Final[frozenset[str]] = frozenset()

    @property
    def name(self) -> str:
        """The first of the names that it makes."""
        return self.makes[0]

    @property
    def module(self) -> str:
        """The module in which it stands."""
        return self.function.__module__

    def make(self, run: Run) -> Mapping[str, int]:
        """Store the function's results as temporary tables."""
        made = self.function(run)
        if made is None:
            return {}
        tables = {self.name: made} if isinstance(made, pa.Table) else made
        for name, rows in tables.items():
            put(run.con, name, rows)
        return {name: rows.num_rows for name, rows in tables.items()}

    def columns(self, name: str) -> Sequence[tuple[str, str]]:
        """Return none: a function is always called."""
        return ()


def relation(
    *makes: str, reads: Sequence[str] = (), macros: Sequence[str] = ()
) -> Callable[[Callable[[Run], Made]], PythonRelation]:
    """Let a function make relations.

    The function gets the `Run`, whose connection holds its sources. It returns an Arrow table, or
    several by name; None if it made them itself, as temporary tables of the connection.

    Args:
        makes: The names of the relations.
        reads: The relations that it reads.
        macros: Macros that its own statements call.
    """

    def decorated(function: Callable[[Run], Made]) -> PythonRelation:
        return PythonRelation(makes, frozenset(reads), function, frozenset(macros))

    return decorated
