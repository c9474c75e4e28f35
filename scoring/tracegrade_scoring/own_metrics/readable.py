"""Relations that users' own metrics may read, under the names of the metrics API.

Each is a query `metric_NAME` of the folder `readable`, whose header documents its columns. Runs go
by the ids that the lake has, so that no value depends on which runs share a bucket.
"""

from collections.abc import Collection, Mapping
from typing import Final

import duckdb
import pyarrow as pa

from tracegrade_queries.engine.sql import declared_columns, header_lines
from tracegrade_scoring.sql import QUERIES

_PREFIX: Final = "metric_"

RELATIONS: Final[Mapping[str, str]] = {
    name.removeprefix(_PREFIX): name for name in QUERIES.in_folder("readable")
}
"""The relation of a bucket, by the name that metrics use for it."""


def columns(name: str) -> tuple[tuple[str, str], ...]:
    """Return name and type of each column of what a metric may read, in their order."""
    return declared_columns(QUERIES.text(RELATIONS[name]))


def rows_of(con: duckdb.DuckDBPyConnection, names: Collection[str]) -> dict[str, pa.Table]:
    """Return the sorted rows of a bucket's relations, by the names that metrics use for them.

    Args:
        con: Holds them.
        names: Names in RELATIONS.
    """
    return {name: _sorted(con, RELATIONS[name]) for name in sorted(names)}


def _sorted(con: duckdb.DuckDBPyConnection, relation: str) -> pa.Table:
    (order,) = header_lines(QUERIES.text(relation), "Order")
    return con.sql(f"FROM {relation} ORDER BY {order}").to_arrow_table()
