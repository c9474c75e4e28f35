"""The process that runs metrics in SQL: `python -m tracegrade_scoring.own_metrics.child`.

It reads from stdin a job as a line of JSON, then the rows of each relation as a stream of Arrow.
It writes for each metric a line of JSON; where that names no error, a stream of Arrow follows.
"""

import json
import sys
from typing import Any

import duckdb
import pyarrow as pa

from tracegrade_queries.engine.bounds import bound, end_after
from tracegrade_queries.engine.no_writes import forbid_writes
from tracegrade_scoring.own_metrics.answers import as_columns, columns_fault
from tracegrade_scoring.tasks.engine import bare_engine


def main() -> None:
    """Run the job of stdin."""
    job = json.loads(sys.stdin.buffer.readline())
    forbid_writes()  # before the engine has threads
    con = bare_engine(f"{job['memory_bytes'] >> 20}MiB")
    for name in job["relations"]:
        con.register(name, pa.ipc.open_stream(sys.stdin.buffer).read_all())
    bound(job["memory_bytes"])
    for sql in job["queries"]:
        end_after(job["secs"])
        _answer(con, sql)
        end_after(0)


def _answer(con: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Write what a query returns, or why it does not."""
    try:
        rows = _rows(con, sql)
    except (duckdb.OutOfMemoryException, MemoryError):
        _say({"error": "it needs more memory than it may have"})
    except (duckdb.Error, RuntimeError, ValueError) as error:
        _say({"error": " ".join(str(error).split())})
    else:
        _say({"error": None})
        with pa.ipc.new_stream(sys.stdout.buffer, rows.schema) as stream:
            stream.write_table(rows)
        sys.stdout.buffer.flush()


def _rows(con: duckdb.DuckDBPyConnection, sql: str) -> pa.Table:
    found = con.sql(sql)
    if fault := columns_fault(found.columns):
        raise ValueError(fault)
    return con.sql(f"SELECT {as_columns(found.columns)} FROM ({sql}\n)").to_arrow_table()


def _say(answer: dict[str, Any]) -> None:
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
