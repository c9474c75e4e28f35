"""Puts the declared descriptions of tables and columns into the engine, as comments.

`duckdb_views()` and `duckdb_columns()` show them. `DESCRIBE` of DuckDB 2.0 does not show comments
of views; https://github.com/duckdb/duckdb/pull/25811 will change that.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple, Self

import duckdb
import pyarrow as pa

from tracegrade_lake import VERDICTS
from tracegrade_lake.columns import Column, Struct, Table
from tracegrade_queries.engine.connection import COUNTED, DEDUPLICATED
from tracegrade_queries.engine.layers import BUILT, higher_layers
from tracegrade_queries.engine.sql import header_lines
from tracegrade_queries.engine.table_views import duckdb_type, quoted


class Described(NamedTuple):
    """The declaration of a column, or of a field of a struct."""

    name: str
    type: str
    """The type as DuckDB writes it, with names for structs: `EVENT[]`."""

    meaning: str
    struct: Struct | None = None

    @classmethod
    def of(cls, column: Column) -> Self:
        """Return the declaration of a column of a table."""
        if column.struct is None:
            return cls(column.name, duckdb_type(column.type), column.meaning)
        type_ = column.struct.name + ("[]" if pa.types.is_list(column.type) else "")
        return cls(column.name, type_, column.meaning, column.struct)


class Relation(NamedTuple):
    """The declaration of a table or view."""

    name: str
    summary: str
    """The meaning of one row, in a sentence."""

    columns: tuple[Described, ...]
    like: str | None = None
    """The table whose columns it has; None if they are its own."""


def relations() -> Iterator[Relation]:
    """Yield the declarations of tables and views of each layer, the lowest layer first."""
    found = {table.name: _of_table(table) for table in BUILT.tables}
    yield from found.values()
    for name, raw in DEDUPLICATED.items():
        summary = f"One row is a row of {raw} that was not sent before."
        yield found[raw]._replace(name=name, summary=summary, like=raw)
    summary = "One row is a verdict that counts: of one source the newest, unless it took it back."
    yield found[VERDICTS.name]._replace(name=COUNTED, summary=summary, like=VERDICTS.name)
    for layer in higher_layers():
        yield from map(_of_table, layer.tables)
        for name in layer.views:
            yield _of_view(name, layer.queries.text(name))


def comment(con: duckdb.DuckDBPyConnection) -> None:
    """Put the declared texts on the views of a connection and on their columns.

    Each text is a statement of its own: the four hundred of a scored lake take 0.1 s. What the
    connection does not have (tables that nothing was written to, columns that files of an earlier
    version lack) is left out.
    """
    found = con.sql("SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal")
    present = set(found.fetchall())
    views = {view for view, _ in present}
    statements = [
        statement
        for relation in relations()
        if relation.name in views
        for statement in _statements(relation, present)
    ]
    con.execute(";".join(statements))


def _of_table(table: Table) -> Relation:
    columns = tuple(map(Described.of, table.columns))
    return Relation(table.name, f"One row is {table.grain}.", columns)


def _of_view(name: str, text: str) -> Relation:
    """Return the declaration in the header of a view's query."""
    summary = text.partition("\n")[0].removeprefix("-- ")
    return Relation(name, summary, tuple(map(_in_header, header_lines(text, "Columns"))))


def _in_header(line: str) -> Described:
    name, type_, meaning = re.split(r" {2,}", line, maxsplit=2)
    return Described(name, type_, meaning)


def _statements(relation: Relation, present: set[tuple[str, str]]) -> Iterator[str]:
    yield f"COMMENT ON VIEW {relation.name} IS {quoted(relation.summary)}"
    for column in relation.columns:
        if (relation.name, column.name) in present:
            text = quoted(column.meaning)
            yield f'COMMENT ON COLUMN {relation.name}."{column.name}" IS {text}'
