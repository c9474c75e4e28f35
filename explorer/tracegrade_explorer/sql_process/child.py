"""The process that runs one query and ends: `python -m tracegrade_explorer.sql_process.child`.

It reads a job as a line of JSON from stdin. It writes a byte to stdout once the lake is open, and
an answer as JSON at its end.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import duckdb
import orjson
import pyarrow as pa

from tracegrade.errors import TracegradeError
from tracegrade_explorer.sql_process.bounds import begin
from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_queries.engine.csv_cells import as_json
from tracegrade_queries.engine.no_writes import forbid_writes
from tracegrade_queries.engine.selects import only_reads
from tracegrade_queries.sql_command import way_out
from tracegrade_scoring.layer import SCORES

BATCH_ROWS: Final = 2_048
MOST_BYTES: Final = 32 << 20
"""Size of an answer; further rows are left out, and the answer notes that."""
UNSHOWABLE: Final = (OverflowError, TypeError, ValueError)
"""Raised for values that Python has no form for, such as a time of the year 20000."""
FAILURES: Final = (
    duckdb.Error, pa.ArrowException, MemoryError, OSError, RuntimeError, TracegradeError,
    *UNSHOWABLE,
)  # fmt: skip
"""Arrow's reader raises an OSError with the engine's message."""
OUT_OF_MEMORY: Final = "Out of Memory Error"
"""The first words of such a message."""


def main() -> None:
    """Run the job of stdin."""
    job = orjson.loads(sys.stdin.buffer.readline())
    try:
        answer = orjson.dumps(_answer(job), default=as_json)
    except FAILURES as error:
        answer = orjson.dumps(failure(error, job))
    sys.stdout.buffer.write(answer)


def failure(error: Exception, job: dict[str, Any]) -> dict[str, str]:
    """Return why a query has no rows: it was `stopped`, or there is an `error` in it."""
    of_memory = isinstance(error, MemoryError) or str(error).startswith(OUT_OF_MEMORY)
    if of_memory or isinstance(error, duckdb.OutOfMemoryException):
        return {"stopped": f"it needs more than {job['memory_bytes'] >> 20:,} MiB of memory"}
    if isinstance(error, TracegradeError):
        return {"error": str(error)}
    if isinstance(error, UNSHOWABLE) and not isinstance(error, pa.ArrowException):
        return {"error": f"a value cannot be shown ({error}); cast its column to VARCHAR"}
    return {"error": way_out(str(error), _fields)}


def _answer(job: dict[str, Any]) -> dict[str, Any]:
    with rows_of(job) as found:
        begun = time.perf_counter()
        # One row more than requested shows that there are more; further rows are not made.
        answer = _rows(found.limit(job["rows"] + 1).to_arrow_reader(BATCH_ROWS), job["rows"])
        return {**answer, "ms": (time.perf_counter() - begun) * 1e3}


@contextmanager
def rows_of(job: dict[str, Any]) -> Iterator[duckdb.DuckDBPyRelation]:
    """Yield the rows of a job's query, in this process, which is bounded from now on.

    Raises:
        QueryFailed: It is not a single SELECT.
        duckdb.Error: The engine refuses it.
    """
    memory = f"{job['memory_bytes'] >> 20}MiB"
    lake = Lake.open(job["lake"])
    forbid_writes()  # before the engine has threads
    with connect(lake, layers=(SCORES,), memory_limit=memory) as con:
        begin(job["memory_bytes"], job["secs"])
        text = only_reads(con, job["sql"])
        yield con.sql(text, params=job["values"] or None)


def _rows(batches: pa.RecordBatchReader, most: int) -> dict[str, Any]:
    """Return the first rows, the kind of each column, and whether there are more rows."""
    rows: list[dict[str, Any]] = []
    size, more = 0, False
    for batch in batches:
        size += batch.nbytes
        if size > MOST_BYTES:
            more = True
            break
        rows += batch.to_pylist(maps_as_pydicts="lossy")
        if len(rows) > most:
            more = True
            break
    kinds = [*map(_kind, batches.schema.types)]
    return {"columns": batches.schema.names, "rows": rows[:most], "more": more, "kinds": kinds}


def _kind(type_: pa.DataType) -> str:
    """Return number | time | text | other."""
    if pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_):
        return "number"
    if pa.types.is_timestamp(type_) or pa.types.is_date(type_):
        return "time"
    is_text = pa.types.is_string(type_) or pa.types.is_dictionary(type_)
    return "text" if is_text else "other"


def _fields(names: object) -> str:
    del names
    return "fill in the fields below the query"


if __name__ == "__main__":
    main()
