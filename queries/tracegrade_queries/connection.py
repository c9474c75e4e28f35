"""Opens DuckDB over a lake: one view per table, pinned to one version, with no way out.

Analysts' SQL runs with the rights of the lake's owner, so a connection reads the Parquet files of
the tables and nothing else (not the write-ahead log, whose content is not yet redacted), installs
nothing and cannot be reconfigured.
"""

import itertools
from collections.abc import Iterable, Sequence, Set
from typing import Final

import duckdb
import pyarrow as pa

from tracegrade_collector.lake import RAW_LOGS, RAW_SPANS, Lake, Table
from tracegrade_queries.schema import STEPS, TRAJECTORIES, VERDICTS
from tracegrade_queries.sql import query

TABLES: Final = (RAW_SPANS, RAW_LOGS, STEPS, TRAJECTORIES, VERDICTS)

# A view without the rows that a client sent twice: a flag, never a window over everything.
DEDUPLICATED: Final = {"spans": "raw_spans", "logs": "raw_logs"}

_SETTINGS: Final = {
    "preserve_insertion_order": True,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "python_enable_replacements": False,  # a Python variable is not a table
}


def connect(lake: Lake, *, tables: Sequence[Table] = ()) -> duckdb.DuckDBPyConnection:
    """Return a connection that reads the lake as it is now, and keeps reading that.

    Args:
        lake: The lake; its tables are seen at the versions they have at this moment.
        tables: Tables of higher layers, beside those of this one.

    Returns:
        An in-memory DuckDB with a view for each table (empty if the lake has no such table yet),
        for each other table of the lake, `spans` and `logs` without rows sent twice, and, once
        something was scored, `scores`. It reads the files of these tables and no other.
    """
    declared = {table.name: table for table in (*TABLES, *tables)}
    others = _other_tables(lake, declared.keys())
    files = {name: lake.files(name) for name in (*declared, *others)}
    con = _open_engine(lake, itertools.chain.from_iterable(files.values()))
    for name, table in declared.items():
        con.execute(view_sql(table, files[name]))
    for name, raw in DEDUPLICATED.items():
        con.execute(f"CREATE VIEW {name} AS SELECT * FROM {raw} WHERE NOT resent")
    for name in others:
        con.execute(f"CREATE VIEW {name} AS SELECT * FROM {_parquet(files[name])}")
    if "trajectory_scores" in files:
        con.execute(f"CREATE VIEW scores AS {query('scores')}")
    return con


def _other_tables(lake: Lake, declared: Set[str]) -> list[str]:
    """Return the tables of the lake that nobody declared, sorted: those of higher layers."""
    names = (name for name in lake.tables() if name not in declared)
    return [name for name in names if lake.files(name)]


def _open_engine(lake: Lake, readable: Iterable[str]) -> duckdb.DuckDBPyConnection:
    """Return an in-memory DuckDB that reads only the given files; its settings are locked.

    What does not fit into memory is spilled into the lake, which is its owner's alone.
    """
    spill = str(lake.state / "_spill")
    con = duckdb.connect(config={**_SETTINGS, "temp_directory": spill})
    con.execute("LOAD icu")  # part of the wheel; without it there are no time zones
    con.execute("SET TimeZone = 'UTC'")
    con.execute(f"SET allowed_paths = {_list(readable)}")
    con.execute("SET enable_external_access = false")
    con.execute("SET lock_configuration = true")
    return con


def view_sql(table: Table, files: Sequence[str]) -> str:
    """Return the statement that makes a table's view over its Parquet files, typed as declared."""
    if not files:
        columns = ", ".join(f"NULL::{duckdb_type(c.type)} AS {c.name}" for c in table.columns)
        return f"CREATE VIEW {table.name} AS SELECT {columns} WHERE false"
    columns = ", ".join(f"{c.name}::{duckdb_type(c.type)} AS {c.name}" for c in table.columns)
    return f"CREATE VIEW {table.name} AS SELECT {columns} FROM {_parquet(files)}"


def _parquet(files: Sequence[str]) -> str:
    return f"read_parquet({_list(files)}, union_by_name = true, hive_partitioning = true)"


def duckdb_type(kind: pa.DataType) -> str:
    """Return the DuckDB type that holds values of an Arrow type."""
    if pa.types.is_map(kind):
        return f"MAP({duckdb_type(kind.key_type)}, {duckdb_type(kind.item_type)})"
    if pa.types.is_list(kind):
        return f"{duckdb_type(kind.value_type)}[]"
    if pa.types.is_struct(kind):
        fields = ", ".join(f'"{field.name}" {duckdb_type(field.type)}' for field in kind)
        return f"STRUCT({fields})"
    return _SCALARS[kind]


_SCALARS: Final[dict[pa.DataType, str]] = {
    pa.bool_(): "BOOLEAN",
    pa.date32(): "DATE",
    pa.float64(): "DOUBLE",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.string(): "VARCHAR",
    pa.timestamp("us"): "TIMESTAMP",
}


def _list(texts: Iterable[str]) -> str:
    return "[" + ", ".join(_quoted(text) for text in texts) + "]"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
