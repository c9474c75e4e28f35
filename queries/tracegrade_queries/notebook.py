"""A lake in a notebook: its tables in DuckDB and Polars, and results of saved queries.

import tracegrade_queries as tg

con = tg.connect("lake")
con.sql("SELECT kind, count(*) FROM steps GROUP BY kind").pl()
tg.ask(con, "repeated_calls", times=3).pl()
tg.scan("lake", "steps").filter(pl.col("status") == "error").collect()
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from tracegrade_lake import Lake
from tracegrade_queries.engine import connection
from tracegrade_queries.engine.comments import comment
from tracegrade_queries.engine.layers import BUILT, find_query, table_named
from tracegrade_queries.engine.selects import only_reads
from tracegrade_queries.errors import QueryFailed, TableMissing
from tracegrade_queries.sql_command import way_out

__all__ = ["ask", "connect", "scan"]


def connect(
    lake: str | Path | Lake, *, memory_limit: str | None = None
) -> duckdb.DuckDBPyConnection:
    """Return DuckDB over the current lake: one view per table, and no other files.

    The connection is yours: unlike `tracegrade sql`, it runs any statement, and a `COPY` to a file
    of the lake replaces it. Give it no SQL of others.

    Args:
        lake: Its folder or URL.
        memory_limit: What the engine may use before it spills (`"4GB"`); None for most of it.

    Returns:
        An in-memory database with the views `spans`, `logs`, `steps`, `trajectories`, `verdicts`
        and those of the packages above this one (scores, once something was scored). It keeps
        reading the versions that it found. `duckdb_columns()` describes each column in `comment`.

    Raises:
        LakeMissing: There is no lake.
        LakeUnreachable: Its object store does not answer.
    """
    con = connection.connect(_opened(lake), memory_limit=memory_limit)
    comment(con)
    return con


def ask(con: duckdb.DuckDBPyConnection, name: str, **parameters: Any) -> duckdb.DuckDBPyRelation:
    """Return the answer of a saved query; `tracegrade sql --list` names them.

    Args:
        con: What `connect` returned.
        name: The query's.
        parameters: A value for each $name in it.

    Raises:
        UnknownQuery: There is no such query.
        QueryFailed: A parameter is missing or wrong, or a table that it reads.
    """
    try:
        text = only_reads(con, find_query(name))
        return con.sql(text, params=parameters) if parameters else con.sql(text)
    except (duckdb.Error, RuntimeError) as error:
        raise QueryFailed(way_out(str(error), partial(_arguments, name))) from error


def _arguments(name: str, names: Sequence[str]) -> str:
    """Return how to give values in Python."""
    return f"write ask(con, '{name}', {', '.join(f'{each}=...' for each in names)})"


def scan(lake: str | Path | Lake, table: str) -> pl.LazyFrame:
    """Return a table of a lake as it is now, for Polars; nothing is read yet.

    Args:
        lake: Its folder or URL.
        table: A table of the lake, or `spans` and `logs`, which leave out rows that were sent
            twice.

    Returns:
        Rows by the table's declaration; none if it is declared but does not exist yet.

    Raises:
        TableMissing: Neither the lake nor this package knows it.
        LakeMissing: There is no lake.
        LakeUnreachable: Its object store does not answer.
    """
    opened = _opened(lake)
    raw = connection.DEDUPLICATED.get(table)
    frame = _scanned(opened, raw or table)
    return frame.filter(~pl.col("resent")) if raw else frame


def _scanned(lake: Lake, table: str) -> pl.LazyFrame:
    names = _former_names(table)
    former = names.keys() & {*(lake.columns(table) or ())}
    files = lake.files(table) if lake.is_local and not former else []
    if files:
        return pl.scan_parquet(files, hive_partitioning=True, missing_columns="insert")
    dataset = lake.dataset(table)
    if dataset is not None:
        return _named_today(pl.scan_pyarrow_dataset(dataset), names)
    declared = {each.name: each for each in BUILT.tables}
    if table not in declared:
        known = ", ".join(sorted({*declared, *connection.DEDUPLICATED, *lake.tables()}))
        msg = f"the lake has no table '{table}'; known: {known}; scoring writes others"
        raise TableMissing(msg)
    return pl.DataFrame(declared[table].arrow().empty_table()).lazy()


def _former_names(table: str) -> Mapping[str, str]:
    try:
        return table_named(table).former_names()
    except ValueError:  # a table of another program
        return {}


def _named_today(frame: pl.LazyFrame, names: Mapping[str, str]) -> pl.LazyFrame:
    """Return a table of any version with the names that columns have today."""
    columns = frame.collect_schema().names()
    for former, name in names.items():
        if former in columns:
            both = [each for each in (name, former) if each in columns]
            frame = frame.with_columns(pl.coalesce(both).alias(name)).drop(former)
    return frame


def _opened(lake: str | Path | Lake) -> Lake:
    return lake if isinstance(lake, Lake) else Lake.open(lake)
