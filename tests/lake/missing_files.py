"""Reads a table whose files were all removed, many times; prints how often that was an error.

The file system is one in Python, as those of object stores are. Takes the number of reads.
"""

import sys
from typing import Any, NoReturn

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow.fs import FileSystemHandler, PyFileSystem

from tracegrade_lake.datasets import TableDataset


def _missing(*arguments: Any) -> NoReturn:
    raise FileNotFoundError(str(arguments))


class _EmptyStore(FileSystemHandler):  # type: ignore[misc]
    """Has no files."""

    open_input_file = open_input_stream = get_file_info = get_file_info_selector = _missing
    open_output_stream = open_append_stream = create_dir = move = copy_file = _missing
    delete_dir = delete_dir_contents = delete_root_dir_contents = delete_file = _missing

    def get_type_name(self) -> str:
        """Return the kind of this file system."""
        return "empty"

    def normalize_path(self, path: str) -> str:
        """Return the path as it is."""
        return path


def errors(reads: int) -> int:
    """Return how many of so many reads ended with an error."""
    store = PyFileSystem(_EmptyStore())
    parquet = ds.ParquetFileFormat()
    files = [parquet.make_fragment(f"{number}.parquet", store) for number in range(4)]
    found = 0
    with duckdb.connect() as con:
        con.register("spans", TableDataset(files, pa.schema({"a": pa.int64()}), parquet, store))
        for _ in range(reads):
            try:
                con.execute("SELECT sum(a) FROM spans WHERE a > 3").fetchall()
            except duckdb.Error:
                found += 1
    return found


if __name__ == "__main__":
    sys.stdout.write(f"{errors(int(sys.argv[1]))}\n")
