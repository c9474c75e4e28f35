"""Records which relations a piece of work makes and reads, statement by statement and in order."""

import re
from typing import Any, NamedTuple, cast

import duckdb

from .headers import code, relations_read


class Statement(NamedTuple):
    """What one statement did."""

    makes: frozenset[str]
    """Relations that it made, put in the place of others or registered."""
    reads: frozenset[str]
    """Relations that it read, those of its own common table expressions left out."""
    text: str


class Recorder:
    """A connection that notes every statement before it runs it."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        """Note what is asked of this connection."""
        self._con = con
        self.statements: list[Statement] = []

    @property
    def con(self) -> duckdb.DuckDBPyConnection:
        """This object, for functions that want a connection."""
        return cast("duckdb.DuckDBPyConnection", self)

    def __getattr__(self, name: str) -> Any:
        """Return what the connection itself has."""
        return getattr(self._con, name)

    def execute(self, sql: str | duckdb.Statement, *args: Any) -> duckdb.DuckDBPyConnection:
        """Run statements, given as a text or already parsed."""
        self.note(sql if isinstance(sql, str) else sql.query)
        return self._con.execute(sql, *args)

    def sql(self, sql: str, **kwargs: Any) -> duckdb.DuckDBPyRelation:
        """Return the rows of a query."""
        self.note(sql)
        return self._con.sql(sql, **kwargs)

    def table(self, name: str) -> duckdb.DuckDBPyRelation:
        """Return the rows of a relation."""
        self.note(f"FROM {name}")
        return self._con.table(name)

    def register(self, name: str, rows: object) -> None:
        """Let rows that are not the engine's be read under a name."""
        self.statements.append(Statement(frozenset({name}), frozenset(), f"register {name}"))
        self._con.register(name, rows)

    def note(self, sql: str) -> None:
        """Note statements before they run."""
        for text in _statements(sql):
            made = frozenset(_MADE.findall(text))
            self.statements.append(Statement(made, frozenset(relations_read(text)), text))


_MADE = re.compile(r"\bCREATE (?:OR REPLACE )?(?:TEMP )?(?:TABLE|VIEW) (\w+)")


def _statements(sql: str) -> list[str]:
    return [text for text in code(sql).split(";") if text.strip()]
