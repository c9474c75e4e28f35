"""The process that searches texts: `python -m tracegrade_explorer.sql_process.search_child`.

It reads a job as a line of JSON from stdin, and writes a byte to stdout once the lake is open. It
writes a line of JSON for each date that it has searched, so that the results survive when it is
stopped.
"""

import sys
from collections.abc import Iterator
from typing import Any

import duckdb
import orjson

from tracegrade.errors import TracegradeError
from tracegrade_explorer.sql import query
from tracegrade_explorer.sql_process.bounds import begin
from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_queries.engine.no_writes import forbid_writes


def main() -> None:
    """Run the job of stdin."""
    job = orjson.loads(sys.stdin.buffer.readline())
    try:
        for answer in _dates(job):
            _say(answer)
    except (duckdb.OutOfMemoryException, MemoryError):
        _say({"stopped": f"it needs more than {job['memory_bytes'] >> 20:,} MiB of memory"})
    except (duckdb.Error, TracegradeError) as error:
        _say({"error": str(error)})


def _dates(job: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the hits of one date after another, until there are as many as wanted."""
    left = job["rows"]
    after = job["after_run"]
    memory = f"{job['memory_bytes'] >> 20}MiB"
    lake = Lake.open(job["lake"])
    forbid_writes()  # before the engine has threads
    with connect(lake, memory_limit=memory) as con:
        begin(job["memory_bytes"], job["secs"])
        for received in job["dates"]:
            # One more row than requested shows whether the date has more.
            given = {**job["given"], "after_run": after, "date": received, "rows": left + 1}
            rows = con.sql(query("text_hits"), params=given).to_arrow_table().to_pylist()
            yield {"date": received, "hits": rows[:left], "more": len(rows) > left}
            left -= len(rows)
            after = ""
            if left <= 0:
                return


def _say(answer: dict[str, Any]) -> None:
    sys.stdout.buffer.write(orjson.dumps(answer) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
