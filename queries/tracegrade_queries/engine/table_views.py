"""Makes the views through which a connection reads the files of a lake's tables."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from types import MappingProxyType
from typing import Final, NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
from duckdb.sqltypes import DuckDBPyType

from tracegrade_lake import Lake, Table
from tracegrade_queries.engine.pinned import PinnedTable


class Found(NamedTuple):
    """A table of the lake at one version."""

    relation: str
    """The text after FROM."""

    files: Sequence[str]
    """Local files to be read; none for an object store."""

    dataset: ds.Dataset | None
    """Dataset that reads an object store's files, registered under the relation's name."""


def found_table(lake: Lake, name: str, pinned: PinnedTable) -> Found | None:
    """Return how a pinned table is read; None where it has neither files nor columns."""
    if pinned.files and lake.is_local:
        files = lake.paths(name, pinned.files)
        return Found(_parquet(files), files, None)
    dataset = lake.dataset(name, pinned.version, pinned.files)
    if dataset is None:
        return None
    if not pinned.files:
        return Found(f"({_no_rows(dataset.schema)})", [], None)
    return Found(f"_{name}_objects", [], dataset)


def create_view(
    con: duckdb.DuckDBPyConnection, table: Table, found: Found | None, kind: str = "VIEW"
) -> None:
    """Create the view of a table, with its declared columns, whichever version wrote its files.

    Args:
        con: May read the files.
        table: The table.
        found: How it is read; None: it has no rows.
        kind: As for `view_sql`.
    """
    if found is None:
        con.execute(view_sql(table, None, kind=kind))
        return
    types = column_types(con, found)
    renamed = named_today(table, found, types)
    if renamed is not found:
        found, types = renamed, column_types(con, renamed)
    try:
        con.execute(view_sql(table, found, types, kind))
    except duckdb.BinderException:  # files of an earlier version lack columns
        whole = f"({_no_rows(table.arrow())} UNION ALL BY NAME SELECT * FROM {found.relation})"
        con.execute(view_sql(table, found._replace(relation=whole), kind=kind))


def column_types(con: duckdb.DuckDBPyConnection, found: Found) -> dict[str, DuckDBPyType]:
    """Return the types that the columns have as they are written."""
    written = con.sql(f"FROM {found.relation}")
    return dict(zip(written.columns, written.types, strict=True))


def named_today(table: Table, found: Found, columns: Collection[str]) -> Found:
    """Return a table, written by any version, with the names that its columns have today."""
    former = {old: new for old, new in table.former_names().items() if old in columns}
    if not former:
        return found
    only = {old: new for old, new in former.items() if new not in columns}
    both = {old: new for old, new in former.items() if new in columns}
    values = [f"coalesce({new}, {old}) AS {new}" for old, new in both.items()]
    renamed = [f"{old} AS {new}" for old, new in only.items()]
    clauses = {"EXCLUDE": both, "REPLACE": values, "RENAME": renamed}
    changes = " ".join(f"{word} ({', '.join(each)})" for word, each in clauses.items() if each)
    return found._replace(relation=f"(SELECT * {changes} FROM {found.relation})")


def view_sql(
    table: Table,
    found: Found | None,
    types: Mapping[str, DuckDBPyType] = MappingProxyType({}),
    kind: str = "VIEW",
) -> str:
    """Return the statement that makes a table's view, typed as declared; None: it is empty.

    Args:
        table: The table.
        found: Its files or objects.
        types: Known types of their columns. Casts that change nothing are left out, since DuckDB
            plans all of them in each query of a wide table.
        kind: What to create: VIEW, or TEMP VIEW.
    """
    if found is None:
        return f"CREATE {kind} {table.name} AS {_no_rows(table.arrow())}"
    columns = ", ".join(_typed(c.name, duckdb_type(c.type), types) for c in table.columns)
    return f"CREATE {kind} {table.name} AS SELECT {columns} FROM {found.relation}"


def _typed(name: str, declared: str, types: Mapping[str, DuckDBPyType]) -> str:
    if name in types and types[name] == _sqltype(declared):
        return name
    return f"{name}::{declared} AS {name}"


_sqltype: Final = cache(duckdb.sqltype)


def _no_rows(schema: pa.Schema) -> str:
    columns = ", ".join(f"NULL::{duckdb_type(c.type)} AS {c.name}" for c in schema)
    return f"SELECT {columns} WHERE false"


def _parquet(files: Sequence[str], *, are_alike: bool = False) -> str:
    by_name = "" if are_alike else "union_by_name = true, "
    return f"read_parquet({text_list(files)}, {by_name}hive_partitioning = true)"


_FILE_COLUMNS: Final = """
SELECT
  file_name,
  md5(string_agg(
    concat_ws(' ', name, num_children, duckdb_type, type, converted_type, logical_type),
    chr(10) ORDER BY column_id
  )) AS columns
FROM parquet_schema($files)
GROUP BY file_name
"""


def with_alike_files(
    con: duckdb.DuckDBPyConnection, tables: Mapping[str, Found]
) -> dict[str, Found]:
    """Return tables that are read sooner if all of their files have the same columns.

    For files that may differ, as those of several versions do, the engine compares the columns of
    all of them in each query: 14 ms for 30 files of the widest table, which one file takes 2 for.

    Args:
        con: May read the files.
        tables: By name.
    """
    several = (table.files for table in tables.values() if len(table.files) > 1)
    files = sorted({*chain.from_iterable(several)})
    columns = con.execute(_FILE_COLUMNS, {"files": files}).fetchall() if files else []
    by_file: dict[str, str] = dict(columns)

    def are_alike(files: Sequence[str]) -> bool:
        return len(files) == 1 or len({by_file.get(file, file) for file in files}) == 1

    return {
        name: table._replace(relation=_parquet(table.files, are_alike=True))
        if are_alike(table.files)
        else table
        for name, table in tables.items()
    }


@cache
def duckdb_type(kind: pa.DataType) -> str:
    """Return the DuckDB type that holds values of an Arrow type."""
    if pa.types.is_map(kind):
        return f"MAP({duckdb_type(kind.key_type)}, {duckdb_type(kind.item_type)})"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return f"{duckdb_type(kind.value_type)}[]"
    if pa.types.is_struct(kind):
        fields = ", ".join(f'"{field.name}" {duckdb_type(field.type)}' for field in kind)
        return f"STRUCT({fields})"
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision}, {kind.scale})"
    return _SCALARS[kind]


_SCALARS: Final[dict[pa.DataType, str]] = {
    pa.bool_(): "BOOLEAN",
    pa.date32(): "DATE",
    pa.float64(): "DOUBLE",
    pa.null(): '"NULL"',
    pa.int8(): "TINYINT",
    pa.int16(): "SMALLINT",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.uint32(): "UINTEGER",
    pa.uint64(): "UBIGINT",
    pa.string(): "VARCHAR",
    pa.large_string(): "VARCHAR",
    pa.string_view(): "VARCHAR",
    pa.timestamp("us"): "TIMESTAMP",
}


def text_list(texts: Iterable[str]) -> str:
    """Return texts as an SQL literal of a list."""
    return "[" + ", ".join(quoted(text) for text in texts) + "]"


def quoted(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"
