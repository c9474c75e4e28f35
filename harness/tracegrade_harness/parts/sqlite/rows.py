"""Reads everything in an SQLite database as objects: tables, rows, indexes and views.

Objects are named `sqlite:PART/TABLE`, `sqlite:PART/TABLE/KEY` and `sqlite:PART/index:NAME`. A
row's key is its primary key, or its rowid. SQLite's own table `sqlite_sequence` is hidden, because
it changes even if every row is restored.
"""

import contextlib
import re
import sqlite3
from collections.abc import Collection, Iterator
from typing import NamedTuple

from xxhash import xxh3_128_hexdigest

from tracegrade_harness.parts.globs import Globs
from tracegrade_harness.parts.names import key_text, part_text
from tracegrade_harness.parts.row_text import row_text, text_bytes
from tracegrade_harness.parts.sqlite.copy import Unusable
from tracegrade_harness.parts.state_reading import StateReading

INTERNAL = "sqlite_*"
"""The rule that hides SQLite's own tables."""
MAX_VALUE_BYTES = 64 << 20
_MIN_ROW_BYTES = 6  # a cell of the smallest row and the pointer to it
_MAX_REUSE = 100  # added columns' defaults are stored once for all rows
_VIRTUAL = re.compile(r"\s*CREATE\s+VIRTUAL\b", re.IGNORECASE)


class _Table(NamedTuple):
    name: str
    columns: list[str]
    key: list[int]
    """Indexes of the columns of the primary key, in its order."""
    rules: list[str | None]
    """The rule that hides each column, if one does."""
    rule: str | None
    """The rule that hides the whole table."""


class _Budget:
    """The limit on the content of a file: a forged file may contain long cycles."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
        self._rows = pages * page_bytes // _MIN_ROW_BYTES
        self._bytes = pages * page_bytes * _MAX_REUSE

    def spend(self, row: tuple[object, ...]) -> None:
        self._rows -= 1
        self._bytes -= sum(len(value) for value in row if isinstance(value, str | bytes))
        if self._rows < 0 or self._bytes < 0:
            message = "it has more rows than its file has room for"
            raise Unusable(message)


def read_rows(connection: sqlite3.Connection, part: str, ignore: Globs) -> StateReading:
    """Return the objects of a database.

    Args:
        connection: A connection that reads texts by `decode_text`.
        part: Prefix of the names of objects, such as `sqlite:ledger`.
        ignore: Globs over `TABLE` and `TABLE.COLUMN`.

    Raises:
        sqlite3.Error: It is damaged.
        Unusable: Its content contradicts its size.
    """
    reading = StateReading()
    budget = _Budget(connection)
    schema = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
    for kind, name, table, sql in schema:
        if sql is None and kind == "index":
            continue  # made by SQLite for a constraint that the table's own text shows
        title = _title(kind, name)
        rule = _table_rule(table, ignore)
        reading.add(f"{part}/{title}", _digest((kind, table, sql)), rule)
        if kind == "table" and not _VIRTUAL.match(sql or ""):
            described = _table(connection, name, ignore)
            for row in _rows(connection, described, budget):
                _add_row(reading, f"{part}/{title}", described, row)
    return reading


def read_contents(
    connection: sqlite3.Connection, part: str, names: Collection[str], ignore: Globs
) -> Iterator[tuple[str, bytes]]:
    """Yield the contents of objects: the visible columns of a row, the SQL of another object.

    Raises:
        sqlite3.Error: The database is damaged.
        Unusable: Its content contradicts its size.
    """
    budget = _Budget(connection)
    schema = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
    for kind, name, text in schema:
        title = f"{part}/{_title(kind, name)}"
        if title in names and text:
            yield title, text_bytes(text)
        has_rows = kind == "table" and not _VIRTUAL.match(text or "")
        if has_rows and any(each.startswith(f"{title}/") for each in names):
            table = _table(connection, name, ignore)
            for rowid, *values in _rows(connection, table, budget):
                row = f"{title}/{_key(rowid, values, table.key)}"
                if row in names:
                    yield row, _row_text(table, values)


def _row_text(table: _Table, values: list[object]) -> bytes:
    """Return the columns of a row that no rule hides."""
    columns = zip(table.columns, values, table.rules, strict=True)
    return row_text((name, value) for name, value, rule in columns if rule is None)


def _title(kind: str, name: str) -> str:
    """Return what names a table, view, index or trigger in its part."""
    return part_text(name) if kind == "table" else f"{part_text(kind)}:{part_text(name)}"


def decode_text(text: bytes) -> str:
    """Return a text of a database, which may be invalid UTF-8."""
    return text.decode("utf-8", "surrogateescape")


def _table_rule(table: str, ignore: Globs) -> str | None:
    return INTERNAL if table.startswith("sqlite_") else ignore.rule(part_text(table))


def _table(connection: sqlite3.Connection, name: str, ignore: Globs) -> _Table:
    """Describe a table by its stored columns; the others are computed from these."""
    found = connection.execute(f"PRAGMA table_xinfo({_quoted(name)})").fetchall()
    stored = [(column, key) for _, column, _, _, _, key, hidden in found if not hidden]
    columns = [column for column, _ in stored]
    keys = sorted((key, at) for at, (_, key) in enumerate(stored) if key)
    whole = _table_rule(name, ignore)
    return _Table(
        name,
        columns,
        [at for _, at in keys],
        [whole or ignore.rule(f"{part_text(name)}.{part_text(column)}") for column in columns],
        whole,
    )


def _rows(
    connection: sqlite3.Connection, table: _Table, budget: _Budget
) -> Iterator[tuple[object, ...]]:
    """Yield the rowid, NULL without one, and the stored columns of each row."""
    columns = ", ".join([_rowid(connection, table), *map(_quoted, table.columns)])
    query = f"SELECT {columns} FROM {_quoted(table.name)} NOT INDEXED"  # noqa: S608 - quoted
    for row in connection.execute(query):
        budget.spend(row)
        yield row


def _rowid(connection: sqlite3.Connection, table: _Table) -> str:
    """Return an expression for the rowid of a table's rows."""
    taken = {column.lower() for column in table.columns}
    free = [name for name in ("rowid", "_rowid_", "oid") if name not in taken]
    for name in free[:1]:
        query = f"SELECT {name} FROM {_quoted(table.name)} LIMIT 0"  # noqa: S608 - quoted
        with contextlib.suppress(sqlite3.OperationalError):  # a table WITHOUT ROWID
            connection.execute(query)
            return name
    return "NULL"


def _add_row(reading: StateReading, title: str, table: _Table, row: tuple[object, ...]) -> None:
    rowid, *values = row
    name = f"{title}/{_key(rowid, values, table.key)}"
    shown = tuple(v for v, rule in zip(values, table.rules, strict=True) if rule is None)
    if table.rule is not None or name in reading.state:
        # Only a damaged index allows two rows with one key: the content names the second one.
        again = f"{name}/{_digest(tuple(values))}" if name in reading.state else name
        reading.add(again, _digest(tuple(values)), table.rule)
        return
    reading.add(name, _digest(shown))
    for column, value, rule in zip(table.columns, values, table.rules, strict=True):
        if rule is not None:
            reading.add(f"{name}/{part_text(column)}", _digest((value,)), rule)


def _key(rowid: object, values: list[object], key: list[int]) -> str:
    of_key = tuple(values[at] for at in key)
    if of_key and None not in of_key:
        return key_text(of_key)
    if rowid is None:
        return f"row:{_digest(tuple(values))}"
    return f"rowid:{rowid}" if of_key else key_text((rowid,))  # keys may hold NULL several times


def _digest(values: tuple[object, ...]) -> str:
    """Return a digest of values and types; `ascii` writes each type differently."""
    return xxh3_128_hexdigest(ascii(values).encode())


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
