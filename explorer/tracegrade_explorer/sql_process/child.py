"""The process that runs one query and ends: `python -m tracegrade_explorer.sql_process.child`.

It reads a job as a line of JSON from stdin. It writes a byte to stdout once the lake is open, and
an answer as JSON at its end.
"""

import sys
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


def main() -> None:
    """Run the job of stdin."""
    job = orjson.loads(sys.stdin.buffer.readline())
    try:
        answer = _answer(job)
    except (duckdb.OutOfMemoryException, MemoryError):
        answer = {"stopped": f"it needs more than {job['memory_bytes'] >> 20:,} MiB of memory"}
    except (duckdb.Error, RuntimeError) as error:
        answer = {"error": way_out(str(error), _fields)}
    except TracegradeError as error:
        answer = {"error": str(error)}
    sys.stdout.buffer.write(orjson.dumps(answer, default=as_json))


def _answer(job: dict[str, Any]) -> dict[str, Any]:
    memory = f"{job['memory_bytes'] >> 20}MiB"
    lake = Lake.open(job["lake"])
    forbid_writes()  # before the engine has threads
    with connect(lake, layers=(SCORES,), memory_limit=memory) as con:
        begin(job["memory_bytes"], job["secs"])
        text = only_reads(con, job["sql"])
        # One more row than requested shows that there are more; further rows are not made.
        found = con.sql(text, params=job["values"] or None).limit(job["rows"] + 1)
        return _rows(found.to_arrow_reader(BATCH_ROWS), job["rows"])


def _rows(batches: pa.RecordBatchReader, most: int) -> dict[str, Any]:
    """Return the first rows, and whether there are more."""
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
    return {"columns": batches.schema.names, "rows": rows[:most], "more": more}


def _fields(names: object) -> str:
    del names
    return "fill in the fields below the query"


if __name__ == "__main__":
    main()
