"""A table as its own log declares it, for code that maintains tables of higher layers."""

import pyarrow as pa
from deltalake import DeltaTable

from tracegrade_lake.columns import Column, Table
from tracegrade_lake.commit import open_table
from tracegrade_lake.errors import LakeDamaged
from tracegrade_lake.lake import Lake


def table_in(lake: Lake, name: str) -> Table:
    """Return a table as its log declares it; tables of higher layers are declared there.

    Raises:
        LakeDamaged: There is no such table, or its log cannot be read.
    """
    delta = open_table(lake.storage.table(name))
    if delta is None:
        msg = f"the lake {lake.place} has no table '{name}'; found: {', '.join(lake.tables())}"
        raise LakeDamaged(msg)
    return table_of(name, delta)


def table_of(name: str, delta: DeltaTable) -> Table:
    """Return a table as the log of a handle declares it."""
    schema = pa.schema(delta.schema().to_arrow())
    columns = tuple(Column(field.name, field.type, "") for field in schema)
    return Table(name, "", columns, tuple(delta.metadata().partition_columns))
