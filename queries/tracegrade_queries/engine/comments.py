"""Puts what is declared of tables and columns into the engine, as comments.

`duckdb_views()` and `duckdb_columns()` show them. `DESCRIBE` of DuckDB 2.0 does not show comments
of views (https://github.com/duckdb/duckdb/pull/25811 is about it).
"""

import itertools
import re
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from typing import Final, NamedTuple

import duckdb

from tracegrade_collector.lake import Table
from tracegrade_queries.connection import DEDUPLICATED, TABLES
from tracegrade_queries.sql import header_lines, query

GROUP: Final = "tracegrade.tables"
"""Entry points by which packages above this one name the tuple of tables that they write."""

SCORES: Final = "scores"


class Relation(NamedTuple):
    """What is declared of a table or view."""

    name: str
    grain: str
    """What one row is."""

    meanings: Mapping[str, str]
    """Of each column, by its name and in order."""


def declared_tables() -> tuple[Table, ...]:
    """Return every table that the installed packages write, those taken in first."""
    higher = (entry.load() for entry in entry_points(group=GROUP))
    return (*TABLES, *itertools.chain.from_iterable(higher))


def declared_relations() -> Iterator[Relation]:
    """Yield every declared table, and the views `spans`, `logs` and `scores`."""
    tables = {table.name: table for table in declared_tables()}
    for table in tables.values():
        yield _relation(table.name, table)
    for name, raw in DEDUPLICATED.items():
        yield _relation(name, tables[raw])._replace(grain=f"{raw} without rows that are resent")
    text = query(SCORES)
    meanings = dict(_header_columns(text))
    yield Relation(SCORES, "one metric of one trajectory", meanings)


def comment(con: duckdb.DuckDBPyConnection) -> None:
    """Put the declared texts on the views of a connection and on their columns.

    Each text is a statement of its own: some four hundred take a tenth of a second. What is not
    there (tables nothing was written to, columns of a later version) is left out.
    """
    found = con.sql("SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal")
    present = set(found.fetchall())
    views = {view for view, _ in present}
    statements = [
        statement
        for relation in declared_relations()
        if relation.name in views
        for statement in _statements(relation, present)
    ]
    con.execute(";".join(statements))


def _relation(name: str, table: Table) -> Relation:
    return Relation(name, table.grain, {column.name: column.meaning for column in table.columns})


def _header_columns(text: str) -> Iterator[tuple[str, str]]:
    """Yield name and meaning of each column that a query's header lists."""
    for line in header_lines(text, "Columns"):
        name, _, meaning = re.split(r" {2,}", line, maxsplit=2)
        yield name, meaning


def _statements(relation: Relation, present: set[tuple[str, str]]) -> Iterator[str]:
    yield f"COMMENT ON VIEW {relation.name} IS {_quoted(f'One row is {relation.grain}.')}"
    for column, meaning in relation.meanings.items():
        if (relation.name, column) in present:
            yield f'COMMENT ON COLUMN {relation.name}."{column}" IS {_quoted(meaning)}'


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
