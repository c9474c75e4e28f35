"""Hands over files that one process stages and another commits, perhaps on another machine.

The process that commits trusts no description of a file. It opens each file and checks the size,
rows and columns that its table's log will promise to readers.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from tracegrade_lake.columns import Table
from tracegrade_lake.errors import LakeDamaged, StagedFileUnfit
from tracegrade_lake.lake import Lake
from tracegrade_lake.staging import PRUNED_BY, file_stats
from tracegrade_lake.storage import STAGE_FOLDER, StagedFile

_NAME: Final = re.compile(
    r"((?P<column>\w+)=(?P<value>\d{4}-\d{2}-\d{2})/)?(?P<unique>[0-9a-f]{32})\.parquet"
)


class StagedFileRef(NamedTuple):
    """Description of a staged file for the process that commits it."""

    name: str
    """Its path inside the table once it is committed."""

    size: int
    """Bytes."""

    rows: int


def publish_staged(lake: Lake, table: str, files: Sequence[StagedFile]) -> list[StagedFileRef]:
    """Move staged files to a place that every machine sharing the lake can reach.

    The files of a folder are already there. The files of an object store are put under their final
    names; readers do not see them before the commit.
    """
    if not lake.is_local:
        lake.storage.table(table).publish(files)
        for file in files:
            file.path.unlink(missing_ok=True)
    return [StagedFileRef(file.name, file.size, file.rows) for file in files]


def adopt_staged(lake: Lake, table: Table, refs: Iterable[StagedFileRef]) -> list[StagedFile]:
    """Return the staged files of another process, for `Lake.put_files`.

    Raises:
        StagedFileUnfit: A file is missing or differs from its description.
    """
    return [_adopt(lake, table, each) for each in refs]


def _adopt(lake: Lake, table: Table, ref: StagedFileRef) -> StagedFile:
    partition = _partition(table, ref.name)
    path = lake.storage.table(table.name).stage_folder / ref.name.replace("/", "-")
    inside = f"{STAGE_FOLDER}/{path.name}" if lake.is_local else ref.name
    try:
        size = lake.storage.table(table.name).filesystem.get_file_info(inside).size
        with lake.open_parquet(table.name, inside) as parquet:
            found = StagedFileRef(ref.name, size or 0, parquet.metadata.num_rows)
            _check_columns(table, ref.name, partition, parquet.schema_arrow)
            stats = file_stats(_pruned_by(parquet))
    except LakeDamaged as error:
        msg = f"what a worker handed over is gone: {error}; score again"
        raise StagedFileUnfit(msg) from error
    if found != ref:
        file = f"{table.name}/{ref.name}"
        msg = f"{file} should have {_extent(ref)}, has {_extent(found)}; score again"
        raise StagedFileUnfit(msg)
    return StagedFile(path, ref.name, partition, found.size, found.rows, stats)


def _partition(table: Table, name: str) -> dict[str, str]:
    named = _NAME.fullmatch(name)
    column = named["column"] if named else None
    if not named or [column] * bool(column) != list(table.partition_by):
        msg = f"no staged file of {table.name} is named '{name}'; score again"
        raise StagedFileUnfit(msg)
    return {column: named["value"]} if column else {}


def _check_columns(table: Table, name: str, partition: dict[str, str], found: pa.Schema) -> None:
    declared = [field for field in table.arrow() if field.name not in partition]
    if not found.equals(pa.schema(declared)):
        differ = sorted({field.name for field in set(found) ^ set(declared)})
        msg = f"{table.name}/{name} has other columns than declared: {differ}; score again"
        raise StagedFileUnfit(msg)


def _pruned_by(parquet: pq.ParquetFile) -> pa.Table:
    return parquet.read([name for name in PRUNED_BY if name in parquet.schema_arrow.names])


def _extent(file: StagedFileRef) -> str:
    return f"{file.size:,} bytes and {file.rows:,} rows"
