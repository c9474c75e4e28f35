"""Tables as their own logs declare them, and the rows of tables that other versions wrote."""

from collections.abc import Sequence

import pyarrow as pa
from deltalake import DeltaTable

from tracegrade_lake.columns import Column, Table
from tracegrade_lake.commit import LiveFile, open_for_reading
from tracegrade_lake.errors import LakeDamaged
from tracegrade_lake.lake import Lake


def table_in(lake: Lake, name: str) -> Table:
    """Return a table as its log declares it; tables of higher layers are declared there.

    Raises:
        LakeDamaged: There is no such table, or its log cannot be read.
    """
    delta = open_for_reading(lake.storage.table(name))
    if delta is None:
        msg = f"the lake {lake.location} has no table '{name}'; found: {', '.join(lake.tables())}"
        raise LakeDamaged(msg)
    return table_of(name, delta)


def table_of(name: str, delta: DeltaTable) -> Table:
    """Return a table as the log of a handle declares it."""
    schema = pa.schema(delta.schema().to_arrow())
    columns = tuple(Column(field.name, field.type, "") for field in schema)
    return Table(name, "", columns, tuple(delta.metadata().partition_columns))


def rows_of(lake: Lake, table: Table, files: Sequence[LiveFile] | None = None) -> pa.Table:
    """Return the rows of a table with its declared columns, for any version that wrote them.

    Args:
        lake: The lake.
        table: A table that fits into memory; an empty one if the lake does not have it.
        files: The files to read; None for all.
    """
    dataset = lake.dataset(table.name, files=files)
    return table.declared(dataset.to_table()) if dataset else table.arrow().empty_table()


def is_known(lake: Lake, table: Table) -> bool:
    """Return whether the lake has this table with the declared columns, by any of their names."""
    names = table.former_names()
    found = [names.get(name, name) for name in lake.columns(table.name) or ()]
    return found == [column.name for column in table.columns]
