"""Opens a table as a pyarrow dataset, for engines that cannot read an object store themselves.

deltalake's own dataset promises that a column without statistics holds no NULL, so a filter `IS
NULL` that an engine pushes down finds nothing. Here a file promises its partition alone; the
ranges of other columns are in its footer.
"""

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import DeltaTable
from pyarrow.fs import FileSystem

from tracegrade_lake.commit import LiveFile, live_files


def dataset(
    delta: DeltaTable, filesystem: FileSystem, files: Iterable[LiveFile] | None = None
) -> ds.FileSystemDataset:
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
    return ds.FileSystemDataset(fragments, schema, file_format, filesystem)


def _partition(file: LiveFile, schema: pa.Schema) -> pc.Expression:
    if file.date is None:
        return pc.scalar(True)
    return pc.field("date") == pa.scalar(file.date).cast(schema.field("date").type)
