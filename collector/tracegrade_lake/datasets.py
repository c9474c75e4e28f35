"""Opens a table as a pyarrow dataset, for engines that cannot read an object store themselves.

deltalake's own dataset promises that a column without statistics holds no NULL, so a filter `IS
NULL` that an engine pushes down finds nothing. Here a file promises its partition alone; the
ranges of other columns are in its footer.

pyarrow (26.0) holds Python's lock while `Scanner.to_reader` starts a scan, and a thread of the
scan needs that lock to report an error of a file system in Python, as those of object stores are.
So readers of files that an erasure had removed could wait forever. `to_batches` frees the lock.
"""

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import DeltaTable
from pyarrow.fs import FileSystem

from tracegrade_lake.commit import LiveFile, live_files


class TableDataset(ds.FileSystemDataset):  # type: ignore[misc]
    """Files of a table. To read one that is missing is an error, and never a deadlock."""

    def scanner(self, **options: Any) -> Any:
        """Return a scanner as pyarrow does, with another `to_reader`."""
        return _TableScanner(super().scanner(**options))


class _TableScanner:
    """A scanner whose `to_reader` does not hold Python's lock; all else is pyarrow's."""

    def __init__(self, scanner: ds.Scanner) -> None:
        self._scanner = scanner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._scanner, name)

    def to_reader(self) -> pa.RecordBatchReader:
        """Return the batches in the order of the files."""
        schema = self._scanner.projected_schema
        return pa.RecordBatchReader.from_batches(schema, self._scanner.to_batches())


def dataset(
    delta: DeltaTable, filesystem: FileSystem, files: Iterable[LiveFile] | None = None
) -> TableDataset:
    """Return files of the handle's version; a column that a file lacks is NULL.

    Args:
        delta: The table.
        filesystem: Has the table's files by their paths inside the table.
        files: Those that are read; None for all.
    """
    schema = pa.schema(delta.schema().to_arrow())
    file_format = ds.ParquetFileFormat()
    read = live_files(delta) if files is None else files
    fragments = [
        file_format.make_fragment(file.path, filesystem, _partition(file, schema))
        for file in sorted(read, key=lambda file: file.path)
    ]
    return TableDataset(fragments, schema, file_format, filesystem)


def _partition(file: LiveFile, schema: pa.Schema) -> pc.Expression:
    if file.date is None:
        return pc.scalar(True)
    return pc.field("date") == pa.scalar(file.date).cast(schema.field("date").type)
