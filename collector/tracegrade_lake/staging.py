"""Rows → synced Parquet files in a table's `_stage/`, one per partition, ready to be committed.

Readers and a vacuum skip names that start with `_`, so a file that was staged and never committed
does no harm.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tracegrade_lake.columns import Table
from tracegrade_lake.errors import SchemaDiffers
from tracegrade_lake.files import make_folder, sync_folder, write_synced
from tracegrade_lake.storage import StagedFile

ROW_GROUP_ROWS = 50_000
FEW_ROWS: Final = 10_000
"""Rows below which a file has no dictionaries: a page for each column costs more than it saves."""

SELDOM_EQUAL = ("span_id", "content_hash", "start_ns", "end_ns", "time_ns")
"""Columns whose values hardly repeat: looking each up in a dictionary would be for nothing."""

LARGE_TEXTS: Final = (
    "attributes.key_value.value",
    "events.list.element.attributes.key_value.value",
)
"""Columns of span content that are written without a dictionary.

Each call repeats its history, and a dictionary would store each text once. Compressed they are as
small without one, and without one the footer shows their size when read.
"""

PRUNED_BY = ("received_ns", "start_ns", "time_ns", "wal_seq")
"""Columns whose range the table's log holds per file, so that engines skip files."""


def stage(stage_folder: Path, table: Table, rows: pa.Table, name: str) -> list[StagedFile]:
    """Write the rows as one synced file per partition, and return the files; none for no rows.

    Args:
        stage_folder: Where to write them.
        table: What the rows must look like.
        rows: All declared columns, in any order.
        name: The same name with the same rows makes the same file, so a repeat replaces it.

    Raises:
        SchemaDiffers: A column is missing, unknown, or of another type; a row has no date.
    """
    rows = as_declared(table, rows)
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
    values, ends = _runs(rows[column])
    if values != sorted(set(values)):  # nearly always one: no copy
        rows = rows.take(pc.sort_indices(rows[column]))
        values, ends = _runs(rows[column])
    for value, start, end in zip(values, [0, *ends], ends, strict=False):
        part = rows.slice(start, end - start)
        yield {column: _partition_text(value)}, part.drop_columns([column])


def _runs(column: pa.ChunkedArray) -> tuple[list[Any], list[int]]:
    """Return each run of equal values, and where it ends."""
    runs = pc.run_end_encode(column.combine_chunks())
    return runs.values.to_pylist(), runs.run_ends.to_pylist()


def _partition_text(value: date | str) -> str:
    return value.isoformat() if isinstance(value, date) else value


def _write(folder: Path, partition: dict[str, str], rows: pa.Table, name: str) -> StagedFile:
    path, final = _paths(folder, partition, name)
    size = write_synced(path, lambda file: _write_parquet(file, rows))
    return StagedFile(path, final, partition, size, rows.num_rows, file_stats(rows))


def _write_parquet(file: BinaryIO, rows: pa.Table) -> None:
    pq.write_table(
        rows, file, row_group_size=ROW_GROUP_ROWS, **parquet_options(rows.schema, rows.num_rows)
    )


def parquet_options(schema: pa.Schema, rows: int) -> dict[str, Any]:
    """Return how all files are written: small, soon, checkable, with ranges that readers prune by.

    Ranges of texts in maps and lists would cost as much as compressing them, and prune nothing.
    The schema in Arrow's form would be a third of a wide file with few rows; the types of Parquet
    say the same of all our columns.

    Args:
        schema: The columns.
        rows: Number of rows of the file; if it is not known, any larger number.
    """
    flat = [field.name for field in schema if not pa.types.is_nested(field.type)]
    leaves = [path for field in schema for path in _leaves(field.name, field.type)]
    with_dictionary = [
        path for path in leaves if path not in SELDOM_EQUAL and path not in LARGE_TEXTS
    ]
    return {
        "compression": "zstd",
        "use_dictionary": with_dictionary if rows >= FEW_ROWS else False,
        "store_schema": False,
        "write_page_checksum": True,
        "write_statistics": flat,
    }


def _leaves(path: str, type_: pa.DataType) -> Iterator[str]:
    """Yield the names that Parquet gives to the columns of a field."""
    if pa.types.is_struct(type_):
        for field in type_:
            yield from _leaves(f"{path}.{field.name}", field.type)
    elif pa.types.is_map(type_):
        yield from _leaves(f"{path}.key_value.key", type_.key_type)
        yield from _leaves(f"{path}.key_value.value", type_.item_type)
    elif pa.types.is_list(type_):
        yield from _leaves(f"{path}.list.element", type_.value_type)
    else:
        yield path


def _paths(folder: Path, partition: Mapping[str, str], name: str) -> tuple[Path, str]:
    """Return where a file is staged, and its path inside the table."""
    parts = [f"{column}={value}" for column, value in partition.items()]
    return folder / ("-".join([*parts, name]) + ".parquet"), "/".join([*parts, f"{name}.parquet"])


def stage_parts(
    stage_folder: Path,
    table: Table,
    partition: Mapping[str, str],
    parts: Iterable[pa.Table],
    name: str,
    metadata: Mapping[bytes, bytes],
) -> StagedFile | None:
    """Write rows of one partition as they come; return the synced file.

    Returns None if there are no rows and no metadata.
    """
    make_folder(stage_folder)
    path, final = _paths(stage_folder, partition, name)
    columns = [field for field in table.arrow() if field.name not in partition]
    schema = pa.schema(columns)
    stats = FileStats()

    def write(file: BinaryIO) -> None:
        groups = _row_groups(parts)
        first = next(groups, schema.empty_table())  # the only one if it has few rows
        options = parquet_options(schema, first.num_rows)
        with pq.ParquetWriter(file, schema, **options) as writer:
            for rows in chain([first] if first.num_rows else [], groups):
                stats.add(rows)
                writer.write_table(rows.select(schema.names).cast(schema), ROW_GROUP_ROWS)
            if metadata:
                writer.add_key_value_metadata(dict(metadata))

    size = write_synced(path, write)
    if not stats.rows and not metadata:
        path.unlink()
        return None
    sync_folder(stage_folder)
    return StagedFile(path, final, dict(partition), size, stats.rows, stats.text())


def _row_groups(parts: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Gather parts until there are enough rows for a row group."""
    group: list[pa.Table] = []
    for part in parts:
        group.append(part)
        if sum(each.num_rows for each in group) >= ROW_GROUP_ROWS:
            yield pa.concat_tables(group)
            group = []
    if any(each.num_rows for each in group):
        yield pa.concat_tables(group)


class FileStats:
    """Delta's statistics of a file, from its rows part by part."""

    def __init__(self) -> None:
        self.rows = 0
        self._lows: dict[str, Any] = {}
        self._highs: dict[str, Any] = {}
        self._nulls: Counter[str] = Counter()

    def add(self, rows: pa.Table) -> None:
        """Count some rows in."""
        self.rows += rows.num_rows
        for name in PRUNED_BY:
            if name not in rows.column_names:
                continue
            found = pc.min_max(rows[name]).as_py()
            self._nulls[name] += rows[name].null_count
            if found["min"] is not None:
                self._lows[name] = min(found["min"], self._lows.get(name, found["min"]))
                self._highs[name] = max(found["max"], self._highs.get(name, found["max"]))

    def text(self) -> str:
        """Return them as JSON."""
        return json.dumps(
            {
                "numRecords": self.rows,
                "minValues": self._lows,
                "maxValues": self._highs,
                "nullCount": dict(self._nulls),
            }
        )


def file_stats(rows: pa.Table) -> str:
    """Return Delta's statistics of a file with these rows."""
    stats = FileStats()
    stats.add(rows)
    return stats.text()
