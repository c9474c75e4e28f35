"""Runs one query at a time in a process of its own, and kills that after its time."""

import select
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from tracegrade_explorer.errors import SqlStopped, TooSlow
from tracegrade_queries.errors import QueryFailed

SECS: Final = 10.0
"""For a query."""
START_SECS: Final = 45.0
"""For a process to start and open the lake, which is no fault of the query."""
GRACE_SECS: Final = 1.0
"""After which the kernel ends a query whose explorer is gone."""
MEMORY_BYTES: Final = 1 << 30
MOST_WAITING: Final = 4
SHOWN_ROWS: Final = 1_000
CSV_ROWS: Final = 100_000

_running: Final = threading.Lock()
_waiting: Final = threading.Semaphore(MOST_WAITING + 1)


class Rows(NamedTuple):
    """What a query returned."""

    columns: Sequence[str]
    rows: list[dict[str, Any]]
    more: bool
    """There are more, which were not read."""


def run_sql(lake: str, text: str, values: Mapping[str, str], rows: int = SHOWN_ROWS) -> Rows:
    """Return the first rows of one SELECT over a lake.

    Args:
        lake: Path or URL of the lake.
        text: The statement.
        values: Of its parameters, by name.
        rows: Rows at most.

    Raises:
        QueryFailed: It is no single SELECT, or the engine refuses it.
        SqlStopped: It took more time or memory than it may, and was killed.
        TooSlow: Several others wait already.
    """
    if not _waiting.acquire(blocking=False):
        msg = f"{MOST_WAITING} queries wait already; try again in some seconds"
        raise TooSlow(msg)
    try:
        with _running:
            answer = _run({
                "lake": lake, "sql": text, "values": dict(values), "rows": rows,
                "memory_bytes": MEMORY_BYTES, "secs": SECS + GRACE_SECS,
            })  # fmt: skip
    finally:
        _waiting.release()
    if "error" in answer:
        raise QueryFailed(answer["error"])
    if "stopped" in answer:
        raise SqlStopped(_stopped(lake, answer["stopped"]))
    return Rows(**answer)


def _run(job: dict[str, Any]) -> dict[str, Any]:
    child = subprocess.Popen(
        [sys.executable, "-m", "tracegrade_explorer.sql_process.child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        start_new_session=True,  # Ctrl-C of the explorer is not the query's
    )
    with child:
        first = _await_start(child, job)
        try:
            output, _ = child.communicate(timeout=SECS)
        except subprocess.TimeoutExpired as error:
            child.kill()
            msg = _stopped(job["lake"], f"it took longer than {SECS:g} s")
            raise SqlStopped(msg) from error
    if child.returncode:
        return {"stopped": f"its process ended with {child.returncode}, as for want of memory"}
    answer: dict[str, Any] = orjson.loads(first + output)
    return answer


def _await_start(child: subprocess.Popen[bytes], job: dict[str, Any]) -> bytes:
    """Return the first byte of output: the lake is open, or could not be opened."""
    assert child.stdin is not None  # noqa: S101 - both are pipes
    assert child.stdout is not None  # noqa: S101
    child.stdin.write(orjson.dumps(job) + b"\n")
    if not select.select([child.stdout], [], [], START_SECS)[0]:
        child.kill()
        msg = f"the query's process did not start within {START_SECS:g} s; try again"
        raise TooSlow(msg)
    return child.stdout.read(1)


def _stopped(lake: str, why: str) -> str:
    return f"the query was stopped: {why}; `tracegrade sql --lake {lake}` has no such limits"
