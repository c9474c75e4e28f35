"""Runs one query of a reader in a process of its own, and kills it after its time."""

import subprocess
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from tracegrade_explorer.errors import SqlStopped
from tracegrade_explorer.sql_process.process import (
    GRACE_SECS,
    MEMORY_BYTES,
    reading_process,
    stopped,
)
from tracegrade_queries.errors import QueryFailed

SECS: Final = 10.0
"""For a query."""
MAX_ROWS: Final = 1_000
CHILD: Final = "tracegrade_explorer.sql_process.child"


class Rows(NamedTuple):
    """The result of a query."""

    columns: Sequence[str]
    rows: list[dict[str, Any]]
    more: bool
    """There are more, which were not read."""
    kinds: Sequence[str]
    """The kind of each column: number | time | text | other."""
    ms: float
    """That the engine took."""


def run_sql(lake: str, text: str, values: Mapping[str, str], rows: int = MAX_ROWS) -> Rows:
    """Return the first rows of one SELECT over a lake.

    Args:
        lake: Path or URL of the lake.
        text: The statement.
        values: Of its parameters, by name.
        rows: Rows at most.

    Raises:
        QueryFailed: It is not a single SELECT, or the engine refuses it.
        SqlStopped: It took more time or memory than it may, and was killed.
        TooSlow: Several others wait already.
    """
    answer = _run({
        "lake": lake, "sql": text, "values": dict(values), "rows": rows,
        "memory_bytes": MEMORY_BYTES, "secs": SECS + GRACE_SECS,
    })  # fmt: skip
    check_answer(lake, answer)
    return Rows(**answer)


def check_answer(lake: str, answer: Mapping[str, Any]) -> None:
    """Return unless the answer of a process is that there is none.

    Raises:
        QueryFailed: The engine refuses the query.
        SqlStopped: It took more than it may.
    """
    if "error" in answer:
        raise QueryFailed(answer["error"])
    if "stopped" in answer:
        raise SqlStopped(stopped(lake, answer["stopped"]))


def _run(job: dict[str, Any]) -> dict[str, Any]:
    with reading_process(CHILD, job) as reading:
        try:
            output, _ = reading.process.communicate(timeout=SECS)
        except subprocess.TimeoutExpired:
            return {"stopped": f"it took longer than {SECS:g} s"}
        code = reading.process.returncode
    if code:
        return {"stopped": f"its process ended with {code}, as for want of memory"}
    answer: dict[str, Any] = orjson.loads(reading.first + output)
    return answer
