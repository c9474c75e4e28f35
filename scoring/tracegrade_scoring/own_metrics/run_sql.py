"""Runs metrics in SQL in a process of their own, which sees what they may read and nothing else.

A process, because the engine alone does not promise to stop: it is ended after a time and above an
amount of memory, and scoring goes on.
"""

import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Final

import pyarrow as pa

from tracegrade_scoring.own_metrics.python_metric import MetricAnswer

SECS: Final = 60.0
"""For one metric in one bucket."""
MEMORY_BYTES: Final = 1 << 30
"""For the rows that it makes on its way."""

_CHILD: Final = "tracegrade_scoring.own_metrics.child"


def run_queries(
    queries: Mapping[str, str], rows: Mapping[str, pa.Table], secs: float = SECS
) -> dict[str, MetricAnswer]:
    """Return by metric the rows that its query answers, or why there are none.

    Args:
        queries: By name of a metric.
        rows: By name, all that they read.
        secs: For each of them.
    """
    answers: dict[str, MetricAnswer] = {}
    while left := [name for name in queries if name not in answers]:
        answers |= zip(left, _answers([queries[name] for name in left], rows, secs), strict=False)
    return answers


def _answers(
    queries: Sequence[str], rows: Mapping[str, pa.Table], secs: float
) -> Iterator[MetricAnswer]:
    """Yield the answers of the first queries; the last of them is why the process ended."""
    job = {
        "relations": list(rows), "queries": queries, "secs": secs, "memory_bytes": MEMORY_BYTES,
    }  # fmt: skip
    command = [sys.executable, "-m", _CHILD]
    with subprocess.Popen(  # noqa: S603 - our own module
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C of scoring is not the query's
    ) as process:
        assert process.stdin is not None  # noqa: S101 - both are pipes
        assert process.stdout is not None  # noqa: S101
        try:
            with contextlib.suppress(BrokenPipeError):
                _hand_over(process.stdin, job, rows)
            for _ in queries:
                answer = _read(process.stdout)
                if answer is None:
                    yield _why_ended(process.wait(), secs)
                    return
                yield answer
        finally:
            process.kill()


def _hand_over(pipe: IO[bytes], job: Mapping[str, object], rows: Mapping[str, pa.Table]) -> None:
    pipe.write(json.dumps(job).encode() + b"\n")
    for table in rows.values():
        with pa.ipc.new_stream(pipe, table.schema) as stream:
            stream.write_table(table)
    pipe.close()


def _read(pipe: IO[bytes]) -> MetricAnswer | None:
    """Return the next answer; None if the process ended before it."""
    line = pipe.readline()
    if not line.endswith(b"\n"):
        return None
    error = json.loads(line)["error"]
    if error is not None:
        return str(error)
    try:
        return pa.ipc.open_stream(pipe).read_all()
    except (pa.ArrowInvalid, OSError):
        return None


def _why_ended(code: int, secs: float) -> str:
    if code == -signal.SIGALRM:
        return f"it took longer than {secs:g} s in one bucket"
    return f"its process ended with {code}, as for want of memory"
