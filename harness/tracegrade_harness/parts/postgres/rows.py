"""Reads everything in a PostgreSQL database as objects: its rows, and its catalogs.

A row is named by its primary key, `postgres:shop/public.orders/7`. Without a key, it is named by
its content, `postgres:shop/public.log/row:DIGEST`. The server makes one digest of each table
first; rows are read only if that digest has changed since the last reading. Positions of sequences
are hidden, because they advance even if a transaction is rolled back.

The output functions of types write the values, and only the superuser can make such functions. So
casts, operators and functions that an agent left are never called.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any, Final, NamedTuple

import psycopg
from psycopg import sql
from xxhash import xxh3_128_hexdigest

from tracegrade_harness.parts.globs import Globs
from tracegrade_harness.parts.names import key_text, part_text
from tracegrade_harness.parts.postgres.catalog import (
    SchemaObject,
    StoredTable,
    schema_objects,
    stored_tables,
)
from tracegrade_harness.parts.row_text import row_text, text_bytes
from tracegrade_harness.parts.state_reading import StateReading

SEQUENCES: Final = "sequence:*/value"
"""The rule that hides the positions of sequences."""
_NUMBERS: Final = frozenset({"int2", "int4", "int8", "numeric"})


class _KnownTable(NamedTuple):
    """A table at its last reading."""

    digest: tuple[object, ...]
    rows: StateReading


class DatabaseReader:
    """Reads one database repeatedly; rows of unchanged tables are reused."""

    def __init__(self, title: str, ignore: Sequence[str], seed: int) -> None:
        """Prepare.

        Args:
            title: Prefix of the names of objects, such as `postgres:shop`.
            ignore: Globs over names of objects without the prefix, and over `TABLE.COLUMN`.
            seed: Makes digests of tables that agents cannot predict.
        """
        self._title = title
        self._rules = Globs(ignore)
        self._row_rules = Globs([rule for rule in ignore if "/" in rule])
        self._seed = seed
        self._tables: dict[str, _KnownTable] = {}
        self._schema: list[SchemaObject] = []

    def copy(self) -> "DatabaseReader":
        """Return a reader with the same content, for a copy of the database."""
        made = DatabaseReader(self._title, (), self._seed)
        made._rules, made._row_rules = self._rules, self._row_rules
        made._tables, made._schema = {**self._tables}, self._schema
        return made

    def read(self, connection: "psycopg.Connection[Any]") -> StateReading:
        """Return all objects, as they are at one moment.

        If a table is locked, or cannot be read for another reason, its rows keep their last state.
        The table then gives the reason; for the schema, the database does.

        Raises:
            psycopg.Error: The server has ended.
        """
        reading = StateReading()
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            reading.state[self._title] = self._read_schema(connection)
            for each in self._schema:
                self._add_object(reading, each)
            unreadable = dict(self._read_tables(connection))
            for known in self._tables.values():
                reading.update(known.rows)
            for name, reason in unreadable.items():
                reading.add(f"{self._title}/{name}", reason, self._rules.rule(name))
        finally:
            connection.rollback()
        return reading

    def read_contents(
        self, connection: "psycopg.Connection[Any]", names: Collection[str]
    ) -> Iterator[tuple[str, bytes]]:
        """Yield the contents of objects: visible columns of a row, the definition of another.

        Rows of a table that cannot be read, because it is locked for example, have none.

        Raises:
            psycopg.Error: The server has ended.
        """
        for each in self._schema:
            if (name := f"{self._title}/{each.name}") in names:
                yield name, text_bytes(each.definition)
        for table in stored_tables(connection):
            if any(name.startswith(f"{self._title}/{table.title}/") for name in names):
                with suppress(psycopg.Error), connection.transaction():
                    for name, columns in self._row_columns(connection, table):
                        if name in names:
                            yield name, row_text(columns)

    def _row_columns(
        self, connection: "psycopg.Connection[Any]", table: StoredTable
    ) -> Iterator[tuple[str, list[tuple[str, object]]]]:
        """Yield the name of each row of a table, and its visible columns."""
        rules = self._column_rules(table)
        shown = [each for each in table.columns if each.name not in rules]
        types = {each.name: each.type for each in table.columns}
        seen, width = StateReading(), len(table.key)
        with connection.cursor().copy(_rows_query(table, rules, shown)) as found:
            for row in found.rows():
                key = tuple(map(_value, row[:width], (types[name] for name in table.key)))
                name = self._row_name(seen, table, key, str(row[width]))
                seen.add(name, "")
                values = row[len(row) - len(shown) :]
                yield (
                    name,
                    [
                        (each.name, None if value is None else _value(value, each.type))
                        for each, value in zip(shown, values, strict=True)
                    ],
                )

    def _column_rules(self, table: StoredTable) -> dict[str, str]:
        """Return the rules that hide columns; none if a rule hides the whole table."""
        if self._rules.rule(table.title) is not None:
            return {}
        rules = (
            (each.name, self._rules.rule(f"{table.title}.{each.name}")) for each in table.columns
        )
        return {name: rule for name, rule in rules if rule}

    def _read_schema(self, connection: "psycopg.Connection[Any]") -> str:
        """Read everything except rows, and return the state of the database's own object."""
        try:
            with connection.transaction():
                self._schema = [*schema_objects(connection)]
        except psycopg.Error as error:
            if connection.broken:
                raise
            return _reason(error)
        return "database"

    def _read_tables(self, connection: "psycopg.Connection[Any]") -> Iterator[tuple[str, str]]:
        """Read changed tables, and yield the unreadable ones, each with the reason."""
        tables = {table.title: table for table in stored_tables(connection)}
        self._tables = {name: self._tables[name] for name in self._tables if name in tables}
        for name, table in tables.items():
            try:
                with connection.transaction():
                    self._tables[name] = self._read_table(connection, table)
            except psycopg.Error as error:
                if connection.broken:
                    raise
                yield name, _reason(error)

    def _read_table(
        self, connection: "psycopg.Connection[Any]", table: StoredTable
    ) -> _KnownTable:
        query = _DIGEST.format(row=_row(table.columns), table=_from(table), seed=self._seed)
        digest = (table, *(connection.execute(query).fetchone() or ()))
        known = self._tables.get(table.title)
        if known is not None and known.digest == digest:
            return known
        return _KnownTable(digest, self._read_rows(connection, table))

    def _read_rows(
        self, connection: "psycopg.Connection[Any]", table: StoredTable
    ) -> StateReading:
        whole, rules = self._rules.rule(table.title), self._column_rules(table)
        types = {each.name: each.type for each in table.columns}
        reading, width = StateReading(), len(table.key)
        with connection.cursor().copy(_rows_query(table, rules)) as found:
            for row in found.rows():
                key = tuple(map(_value, row[:width], (types[name] for name in table.key)))
                digest = str(row[width])
                name = self._row_name(reading, table, key, digest)
                reading.add(name, digest, whole or self._row_rule(name))
                for hidden, (column, rule) in zip(row[width + 1 :], rules.items(), strict=True):
                    reading.add(f"{name}/{part_text(column)}", str(hidden), rule)
        return reading

    def _row_name(
        self, reading: StateReading, table: StoredTable, key: tuple[object, ...], digest: str
    ) -> str:
        """Return the name of a row; equal rows without a key are counted."""
        name = f"{self._title}/{table.title}/{key_text(key) if key else f'row:{digest}'}"
        times = 1
        whole = name
        while whole in reading.state or whole in reading.hidden:
            times += 1
            whole = f"{name}/{times}"
        return whole

    def _row_rule(self, name: str) -> str | None:
        return self._row_rules.rule(name.removeprefix(f"{self._title}/"))

    def _add_object(self, reading: StateReading, found: SchemaObject) -> None:
        rule = self._rules.rule(found.name) or (found.table and self._rules.rule(found.table))
        if found.is_value:
            rule = rule or SEQUENCES
        digest = xxh3_128_hexdigest(found.definition.encode("utf-8", "surrogateescape"))
        reading.add(f"{self._title}/{found.name}", digest, rule)


def _reason(error: psycopg.Error) -> str:
    if isinstance(error, psycopg.errors.LockNotAvailable):
        return "unreadable: it is locked"
    return f"unreadable: {error.sqlstate}"


def _value(text: Any, type_: str) -> object:
    """Return a value of a key in the form for names: 7, not '7'."""
    return Decimal(text) if type_ in _NUMBERS else str(text)


def _column(name: str) -> sql.Composed:
    return sql.SQL("t.{}").format(sql.Identifier(name))


def _row(columns: Sequence[Any]) -> sql.Composed:
    """Return SQL for the text of a row, by the output functions of its types alone."""
    values = sql.SQL(", ").join(_column(each.name) for each in columns)
    return sql.SQL("textin(record_out(ROW({})))").format(values)


def _rows_query(
    table: StoredTable, hidden: Mapping[str, str], whole: Sequence[Any] = ()
) -> sql.Composed:
    """Return SQL for each row: key, digest of visible columns, and of each hidden one, values.

    Args:
        table: The table.
        hidden: Names of hidden columns.
        whole: Columns whose values are read.
    """
    shown = [each for each in table.columns if each.name not in hidden]
    rows = [shown, *([each] for each in table.columns if each.name in hidden)]
    digests = [sql.SQL("md5({})").format(_row(each)) for each in rows]
    values = [_column(each.name) for each in whole]
    fields = sql.SQL(", ").join([*map(_column, table.key), *digests, *values])
    return sql.SQL("COPY (SELECT {} FROM {}) TO STDOUT").format(fields, _from(table))


def _from(table: StoredTable) -> sql.Composed:
    return sql.SQL("ONLY {} AS t").format(sql.Identifier(table.schema, table.name))


_DIGEST: Final = sql.SQL(
    "SELECT count(*), sum(hashtextextended({row}, {seed}))::text FROM {table}"
)
