"""The process that writes: `python -m tracegrade_explorer.labels.child LAKE`.

A line of stdin has the rows of a label, which it imports as `tracegrade import` does (redacted,
each once, one import at a time), a query to save, a mark on an issue, or a note on an alert. It
answers each with a line of JSON, and ends with stdin.
"""

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import orjson

from tracegrade.errors import TracegradeError
from tracegrade_collector.errors import ImportBusy
from tracegrade_collector.importing.import_part import ReadOptions
from tracegrade_collector.importing.importer import import_files
from tracegrade_explorer.own_queries import save_query
from tracegrade_lake import Lake
from tracegrade_scoring.issue_marks import put_mark
from tracegrade_watch.alerting import acknowledge

BUSY_SECS: Final = 30.0
"""Time to wait for another import."""
PAUSE_SECS: Final = 0.2


def main() -> None:
    """Do the job of each line."""
    lake = Lake.open(sys.argv[1])
    for line in sys.stdin.buffer:
        job = orjson.loads(line)
        answer = _stored(lake, job) if isinstance(job, dict) else _answer(lake, job)
        sys.stdout.buffer.write(orjson.dumps(answer) + b"\n")
        sys.stdout.buffer.flush()


def _stored(lake: Lake, job: dict[str, Any]) -> dict[str, Any]:
    """Save a query, store a mark or acknowledge an alert."""
    try:
        if "alert" in job:
            acknowledge(lake, job["alert"], job["note"])
        elif "mark" in job:
            put_mark(lake, job["mark"])
        else:
            return save_query(lake, job)
    except (TracegradeError, OSError) as error:
        return {"error": str(error)}
    return {"marked": True}


def _answer(lake: Lake, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return how many rows were added, replaced and known, or why there are none."""
    until = time.monotonic() + BUSY_SECS
    while True:
        try:
            return _imported(lake, rows)
        except ImportBusy as error:
            if time.monotonic() > until:
                return {"error": str(error)}
            time.sleep(PAUSE_SECS)
        except (TracegradeError, OSError) as error:
            return {"error": str(error)}


def _imported(lake: Lake, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "labels.jsonl"
        file.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
        found = import_files(lake, [file], faults.append, reading=ReadOptions("verdicts"))
    return {"error": faults[0]} if found.faults else dict(found.verdicts)


if __name__ == "__main__":
    main()
