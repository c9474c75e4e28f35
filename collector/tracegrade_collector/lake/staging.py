"""Rows → synced Parquet files in a table's `_stage/`, one per partition, ready to be committed.

Names that start with `_` are touched neither by readers nor by a vacuum, so a file that was
staged and never committed hurts nobody.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tracegrade_collector.errors import SchemaDiffers
from tracegrade_collector.files import make_folder, sync_folder, write_synced
from tracegrade_collector.lake.schema import Table

STAGE_FOLDER = "_stage"
ROW_GROUP_ROWS = 50_000
PRUNED_BY = ("received_ns", "start_ns", "time_ns", "wal_seq")
"""Columns whose range the table's log holds per file, so that engines skip files."""


@dataclass(frozen=True)
class StagedFile:
    """A Parquet file that is written and synced but belongs to no table yet."""

    path: Path
    """Where it lies, below `_stage/`."""

    name: str
    """Its path inside the table once it is committed: `date=2026-11-21/NAME.parquet`."""

    partition: dict[str, str]
    size: int
    """Bytes."""

    rows: int
    stats: str
    """Delta's per-file statistics, JSON."""


def stage(folder: Path, table: Table, rows: pa.Table, name: str) -> list[StagedFile]:
    """Write the rows as one synced file per partition, and return the files; none for no rows.

    Args:
        folder: The table's.
        table: What the rows must look like.
        rows: All declared columns, in any order.
        name: The same name with the same rows makes the same file, so a repeat replaces it.

    Raises:
        SchemaDiffers: A column is missing, unknown, or of another type; a row has no date.
    """
    rows = as_declared(table, rows)
    stage_folder = folder / STAGE_FOLDER
    make_folder(stage_folder)
    staged = [
        _write(stage_folder, partition, part, name) for partition, part in _partitions(table, rows)
    ]
    sync_folder(stage_folder)
    return staged


def as_declared(table: Table, rows: pa.Table) -> pa.Table:
    """Return the rows with the table's columns in their order.

    Raises:
        SchemaDiffers: A column is missing, unknown, or of another type.
    """
    declared = table.arrow()
    names = set(rows.column_names)
    if names != set(declared.names):
        missing, unknown = set(declared.names) - names, names - set(declared.names)
        msg = (
            f"rows of {table.name} lack columns {sorted(missing)}, have unknown {sorted(unknown)}"
        )
        raise SchemaDiffers(msg)
    rows = rows.select(declared.names)
    for field in declared:
        if rows.schema.field(field.name).type != field.type:
            found = rows.schema.field(field.name).type
            msg = f"column '{field.name}' of {table.name} is {found}, declared as {field.type}"
            raise SchemaDiffers(msg)
    return rows.cast(declared)


def _partitions(table: Table, rows: pa.Table) -> Iterator[tuple[dict[str, str], pa.Table]]:
    if not table.partition_by:
        if rows.num_rows:
            yield {}, rows
        return
    (column,) = table.partition_by
    if rows[column].null_count:
        msg = f"{rows[column].null_count} rows of {table.name} have no {column}; give each its own"
        raise SchemaDiffers(msg)
    for value in sorted(pc.unique(rows[column]).to_pylist()):
        part = rows.filter(pc.equal(rows[column], pa.scalar(value, rows[column].type)))
        yield {column: _partition_text(value)}, part.drop_columns([column])


def _partition_text(value: date | str) -> str:
    return value.isoformat() if isinstance(value, date) else value


def _write(folder: Path, partition: dict[str, str], rows: pa.Table, name: str) -> StagedFile:
    parts = [f"{column}={value}" for column, value in partition.items()]
    path = folder / ("-".join([*parts, name]) + ".parquet")

    def write(file: BinaryIO) -> None:
        pq.write_table(rows, file, compression="zstd", row_group_size=ROW_GROUP_ROWS)

    size = write_synced(path, write)
    final = "/".join([*parts, f"{name}.parquet"])
    return StagedFile(path, final, partition, size, rows.num_rows, _stats(rows))


def _stats(rows: pa.Table) -> str:
    ranges: dict[str, dict[str, Any]] = {
        name: pc.min_max(rows[name]).as_py() for name in PRUNED_BY if name in rows.column_names
    }
    known = {name: found for name, found in ranges.items() if found["min"] is not None}
    return json.dumps(
        {
            "numRecords": rows.num_rows,
            "minValues": {name: found["min"] for name, found in known.items()},
            "maxValues": {name: found["max"] for name, found in known.items()},
            "nullCount": {name: rows[name].null_count for name in ranges},
        }
    )
