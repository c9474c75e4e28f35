"""Records of a table that another tool exports: rows of Parquet, or objects of JSON."""

import csv
import io
from collections.abc import Iterator
from datetime import datetime
from io import BufferedReader
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from tracegrade_collector.importing.records import MAX_RECORD_BYTES, FileRecord, read_records
from tracegrade_collector.importing.source import open_plain
from tracegrade_collector.importing.times import nanoseconds

PARQUET_MAGIC: Final = b"PAR1"
BATCH_ROWS: Final = 256
"""Rows of long texts are wide: so many are in memory at once."""


def read_table(path: Path) -> Iterator[FileRecord]:
    """Yield the records of a file; of Parquet, the line is the row, from 1.

    Raises:
        OSError: It cannot be read, or is damaged.
    """
    with open_plain(path) as file:
        if not file.peek(4).startswith(PARQUET_MAGIC):
            yield from read_records(file)
            return
    number = 0
    try:
        with pq.ParquetFile(path) as parquet:
            for batch in parquet.iter_batches(BATCH_ROWS):
                for row in _plain_times(batch).to_pylist():
                    number += 1
                    yield FileRecord(number, row, None)
    except pa.ArrowException as error:
        msg = f"after {number} rows: {str(error).partition(chr(10))[0]}"
        raise OSError(msg) from error


def csv_rows(file: BufferedReader) -> Iterator[FileRecord]:
    """Yield the rows of CSV as objects; empty cells are left out."""
    csv.field_size_limit(MAX_RECORD_BYTES)
    text = io.TextIOWrapper(file, "utf-8-sig", errors="replace", newline="")
    rows = csv.DictReader(text)
    try:
        for row in rows:
            given = {key: text for key, text in row.items() if key and isinstance(text, str)}
            yield FileRecord(
                rows.line_num, {key: text for key, text in given.items() if text}, None
            )
    except csv.Error as error:
        yield FileRecord(rows.line_num, None, f"no CSV from here on: {error}")
    finally:
        text.detach()  # it would close the file, which is another's


def _plain_times(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the rows with times as nanoseconds, which Python's own times cannot hold."""
    for index, column in enumerate(batch.schema):
        if pa.types.is_timestamp(column.type):
            times = batch.column(index).cast(pa.timestamp("ns", column.type.tz), safe=False)
            batch = batch.set_column(index, column.name, times.cast(pa.int64()))
    return batch


def time_ns(value: Any) -> int:
    """Return a time of a record; 0 for other values."""
    return nanoseconds(value.isoformat() if isinstance(value, datetime) else value) or 0


def first_row(path: Path) -> Any:
    """Return the first row of a Parquet file; None if it has none or is damaged."""
    try:
        return next(read_table(path), FileRecord(1, None, None)).value
    except OSError:
        return None
