"""Declarations of tables and their columns: name, type and meaning."""

from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc


def list_of(item: pa.DataType) -> pa.DataType:
    """Return the list type whose child is named as Delta names it."""
    return pa.list_(pa.field("element", item))


BIGINT: Final = pa.int64()
BOOLEAN: Final = pa.bool_()
DATE: Final = pa.date32()
DOUBLE: Final = pa.float64()
INTEGER: Final = pa.int32()
TEXT: Final = pa.string()
TEXTS: Final = list_of(TEXT)
TIMESTAMP: Final = pa.timestamp("us")
"""UTC, in microseconds."""
MAP: Final = pa.map_(TEXT, TEXT)


@dataclass(frozen=True)
class Column:
    """One column of a table, or one field of a struct."""

    name: str
    type: pa.DataType
    meaning: str
    """Meaning, unit and range, and the meaning of NULL."""

    struct: "Struct | None" = None
    """Declares the fields, where the type is a struct or a list of structs."""

    former: str | None = None
    """Its name in tables of an earlier version, readable for one release; None: the same."""


@dataclass(frozen=True)
class Struct:
    """A struct type that columns have."""

    name: str
    """What documents call the type."""

    grain: str
    """What one value is."""

    fields: tuple[Column, ...]

    @property
    def type(self) -> pa.StructType:
        """The Arrow type."""
        return pa.struct([(field.name, field.type) for field in self.fields])


@dataclass(frozen=True)
class Table:
    """One table of the lake."""

    name: str
    """Also the name of its folder."""

    grain: str
    """What one row is."""

    columns: tuple[Column, ...]
    partition_by: tuple[str, ...] = ("date",)

    def arrow(self) -> pa.Schema:
        """Return the schema with all columns, those of the partition included."""
        return pa.schema([pa.field(column.name, column.type) for column in self.columns])

    def former_names(self) -> dict[str, str]:
        """Return the names of today of columns that had others, by their former names."""
        return {column.former: column.name for column in self.columns if column.former}

    def named_today(self, rows: pa.Table) -> pa.Table:
        """Return rows of any version of the table under the current column names.

        If files of several versions were read together, a row has its value under one of two names
        and NULL under the other.
        """
        for former, name in self.former_names().items():
            if former in rows.column_names:
                both = [each for each in (name, former) if each in rows.column_names]
                values = pc.coalesce(*(rows[each] for each in both))
                rows = rows.drop_columns(both).append_column(name, values)
        return rows

    def declared(self, rows: pa.Table) -> pa.Table:
        """Return rows of any version of the table with its columns; NULL in those they lack."""
        return with_columns(self.named_today(rows), self.arrow())


def with_columns(rows: pa.Table, columns: pa.Schema) -> pa.Table:
    """Return these columns, NULL in each that is younger than the file."""
    arrays = [
        rows[column.name] if column.name in rows.column_names else pa.nulls(len(rows), column.type)
        for column in columns
    ]
    return pa.table(arrays, names=columns.names)
