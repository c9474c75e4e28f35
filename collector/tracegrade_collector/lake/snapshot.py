"""One version of a table as its log describes it: columns, files and transactions that agree."""

from collections.abc import Callable
from typing import Final, NamedTuple
from urllib.parse import unquote

import pyarrow as pa
from deltalake import DeltaTable

from tracegrade_collector.lake.commit import LiveFile, live_files, open_table
from tracegrade_collector.lake.lake import Lake
from tracegrade_collector.lake.schema import RAW_LOGS, RAW_SPANS, Column, Table

DECLARED: Final = {table.name: table for table in (RAW_SPANS, RAW_LOGS)}


class Snapshot(NamedTuple):
    """A version of a table."""

    table: Table
    """As declared; for a table that higher layers declare, with the columns that the log has."""

    columns: pa.Schema
    """As the log has them."""

    version: int
    files: list[LiveFile]
    """By path."""

    transaction_version: Callable[[str], int | None]
    """The highest version that an application had committed then; None if it never did."""

    removed_paths: Callable[[], set[str]]
    """Returns the files that earlier versions had and that are kept for their slow readers."""


def snapshot(lake: Lake, name: str) -> Snapshot | None:
    """Return a table's newest version; None if there is no such table.

    Raises:
        LakeDamaged: Its log cannot be read.
        LakeUnreachable: The object store does not answer.
    """
    delta = open_table(lake.storage.table(name))
    if delta is None:
        return None
    columns = pa.schema(delta.schema().to_arrow())
    return Snapshot(
        DECLARED.get(name) or _found(name, columns, tuple(delta.metadata().partition_columns)),
        columns,
        delta.version(),
        sorted(live_files(delta), key=lambda file: file.path),
        delta.transaction_version,
        lambda: {unquote(path) for path in _tombstones(delta)},
    )


def _tombstones(delta: DeltaTable) -> list[str]:
    return delta.vacuum(retention_hours=0, dry_run=True, enforce_retention_duration=False)


def _found(name: str, schema: pa.Schema, partition_by: tuple[str, ...]) -> Table:
    return Table(
        name, "", tuple(Column(column.name, column.type, "") for column in schema), partition_by
    )
