"""The process that writes all rows of one query as a file, and ends.

It reads a job as a line of JSON from stdin, and writes a byte to stdout once the lake is open, and
the rows after it. If it fails, the last line is JSON that says why.
"""

import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import IO, Final

import orjson
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from tracegrade_explorer.sql_process.child import FAILURES, failure, rows_of
from tracegrade_queries.engine.csv_cells import as_json, flat, guarded

BATCH_ROWS: Final = 16_384
FAILED, TOO_MANY = 3, 4
"""Exit codes: the last line says why; there are more rows than may be written."""


def main() -> None:
    """Write the rows of the job of stdin."""
    job = orjson.loads(sys.stdin.buffer.readline())
    out = sys.stdout.buffer
    try:
        with rows_of(job) as found:
            batches = found.limit(job["rows"] + 1).to_arrow_reader(BATCH_ROWS)
            written = WRITERS[job["form"]](batches, out)
    except FAILURES as error:
        out.write(b"\n" + orjson.dumps(failure(error, job)) + b"\n")
        raise SystemExit(FAILED) from error
    out.flush()
    raise SystemExit(TOO_MANY if written > job["rows"] else 0)


def _write_csv(batches: pa.RecordBatchReader, out: IO[bytes]) -> int:
    """Write rows that no spreadsheet computes, and return how many."""
    written = 0
    head = _cells(batches.schema.empty_table())
    with pa_csv.CSVWriter(out, head.schema) as writer:
        for batch in batches:
            writer.write_table(_cells(pa.Table.from_batches([batch])))
            written += batch.num_rows
    return written


def _cells(rows: pa.Table) -> pa.Table:
    return guarded(flat(rows))


def _write_json(batches: pa.RecordBatchReader, out: IO[bytes]) -> int:
    """Write an object with the names of the columns and the rows, a row a line."""
    written = 0
    out.write(b'{"columns":' + orjson.dumps(batches.schema.names) + b',\n"rows":[')
    for batch in batches:
        for row in batch.to_pylist(maps_as_pydicts="lossy"):
            out.write(b",\n" if written else b"\n")
            out.write(orjson.dumps(row, default=as_json))
            written += 1
    out.write(b"\n]}\n")
    return written


def _write_parquet(batches: pa.RecordBatchReader, out: IO[bytes]) -> int:
    written = 0
    with pq.ParquetWriter(out, batches.schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
            written += batch.num_rows
    return written


WRITERS: Final[Mapping[str, Callable[[pa.RecordBatchReader, IO[bytes]], int]]] = MappingProxyType(
    {"csv": _write_csv, "json": _write_json, "parquet": _write_parquet}
)

if __name__ == "__main__":
    main()
