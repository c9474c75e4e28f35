"""Runs metrics in processes of their own, which see only the data that they may read.

Neither the engine nor a function promises to stop, or to leave other data alone. So each process
is ended after a time and above an amount of memory, cannot write, and scoring continues. Queries
share one process. Each function has a process to itself, since a thread or other leftovers would
affect the next function.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from threading import Event, Timer
from typing import IO, Final, NamedTuple, TypeAlias

import pyarrow as pa

from tracegrade_scoring.metric_definition import OwnMetric
from tracegrade_scoring.own_metrics.answers import COLUMNS, TYPES

MetricAnswer: TypeAlias = pa.Table | str
"""The rows of a metric, with the columns of an answer; or why there are none."""

SECS: Final = 60.0
"""For one metric in one bucket."""
MEMORY_BYTES: Final = 1 << 30
"""For the rows that it makes on its way."""

_TO_START_SECS: Final = 60.0
"""For a process that ends itself: above this and its time it is ended from here."""
_CHILD: Final = "tracegrade_scoring.own_metrics.child"


class _Bounds(NamedTuple):
    secs: float
    memory_bytes: int


def run_metrics(
    metrics: Sequence[OwnMetric],
    rows: Mapping[str, pa.Table],
    secs: float = SECS,
    memory_bytes: int = MEMORY_BYTES,
) -> dict[str, MetricAnswer]:
    """Return by metric the rows that it answers, or why there are none.

    Args:
        metrics: That may run.
        rows: By name, all that they read.
        secs: For each of them.
        memory_bytes: For each of them.
    """
    bounds = _Bounds(secs, memory_bytes)
    queries = {each.name: each for each in metrics if each.sql is not None}
    answers: dict[str, MetricAnswer] = {}
    while left := [each for name, each in queries.items() if name not in answers]:
        job = {"queries": [each.sql for each in left]}
        found = _answers(job, len(left), _read_by(left, rows), bounds)
        answers |= zip((each.name for each in left), found, strict=False)
    for metric in metrics:
        if metric.python is not None:
            given = _read_by([metric], rows)
            (answers[metric.name],) = _answers({"function": metric.python}, 1, given, bounds)
    return answers


def _read_by(metrics: Sequence[OwnMetric], rows: Mapping[str, pa.Table]) -> Mapping[str, pa.Table]:
    names = {name for each in metrics for name in each.reads}
    return {name: rows[name] for name in sorted(names)}


def _answers(
    request: Mapping[str, object], count: int, rows: Mapping[str, pa.Table], bounds: _Bounds
) -> Iterator[MetricAnswer]:
    """Yield the answers of the first metrics; the last of them is why the process ended."""
    job = {
        **request, **bounds._asdict(),
        "relations": list(rows), "types": dict(TYPES), "path": sys.path,
    }  # fmt: skip
    command = [sys.executable, "-m", _CHILD]
    with subprocess.Popen(  # noqa: S603 - our own module
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C of scoring is not the metric's; ended with all it starts
    ) as process:
        assert process.stdin is not None  # noqa: S101 - both are pipes
        assert process.stdout is not None  # noqa: S101
        try:
            with contextlib.suppress(BrokenPipeError):
                _hand_over(process.stdin, job, rows)
            for _ in range(count):
                with _ended_after(process, bounds.secs + _TO_START_SECS) as late:
                    answer = _read(process.stdout)
                if answer is None:
                    yield _why_ended(process, bounds.secs, late=late.is_set())
                    return
                yield answer
        finally:
            _end(process)


def _hand_over(pipe: IO[bytes], job: Mapping[str, object], rows: Mapping[str, pa.Table]) -> None:
    pipe.write(json.dumps(job).encode() + b"\n")
    for table in (COLUMNS.empty_table(), *rows.values()):
        with pa.ipc.new_stream(pipe, table.schema) as stream:
            stream.write_table(table)
    pipe.close()


@contextlib.contextmanager
def _ended_after(process: subprocess.Popen[bytes], secs: float) -> Iterator[Event]:
    """End a process that takes longer, even if it resists its end; say whether it did."""
    late = Event()

    def end() -> None:
        late.set()
        _end(process)

    timer = Timer(secs, end)
    timer.start()
    try:
        yield late
    finally:
        timer.cancel()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


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


def _why_ended(process: subprocess.Popen[bytes], secs: float, *, late: bool) -> str:
    code = process.wait()
    if late or code == -signal.SIGALRM:
        return f"it took longer than {secs:g} s in one bucket"
    if code < 0:
        return f"its process was ended by signal {-code}, as for want of memory"
    return f"its process ended by itself with {code}, before it answered"
