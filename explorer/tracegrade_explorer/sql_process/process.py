"""A process that reads a lake for one request, and is killed when the request ends.

It gets a job as a line of JSON on stdin, and writes a byte to stdout once the lake is open.
"""

import select
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any, Final, NamedTuple

import orjson

from tracegrade_explorer.errors import TooSlow

START_SECS: Final = 45.0
"""Time for a process to start and open the lake, which does not count as query time."""
GRACE_SECS: Final = 1.0
"""After which the kernel ends a process whose explorer is gone."""
MEMORY_BYTES: Final = 1 << 30
MOST_WAITING: Final = 4

_running: Final = threading.Lock()
_waiting: Final = threading.Semaphore(MOST_WAITING + 1)


class ReadingProcess(NamedTuple):
    """A process that has opened the lake, or could not."""

    process: subprocess.Popen[bytes]
    output: IO[bytes]
    first: bytes
    """The first byte of its output."""


@contextmanager
def reading_process(module: str, job: Mapping[str, Any]) -> Iterator[ReadingProcess]:
    """Start a module of this package as a process, and kill it at the end.

    Args:
        module: A module with a `main` that reads the job.
        job: The job for it.

    Raises:
        TooSlow: Several others wait already, or it does not start.
    """
    if not _waiting.acquire(blocking=False):
        msg = f"{MOST_WAITING} queries wait already; try again in some seconds"
        raise TooSlow(msg)
    try:
        with _running, _process(module) as process:
            try:
                yield _started(process, job)
            finally:
                process.kill()
    finally:
        _waiting.release()


def _process(module: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - our own module
        [sys.executable, "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        start_new_session=True,  # Ctrl-C of the explorer is not the query's
    )


def _started(process: subprocess.Popen[bytes], job: Mapping[str, Any]) -> ReadingProcess:
    assert process.stdin is not None  # noqa: S101 - both are pipes
    assert process.stdout is not None  # noqa: S101
    process.stdin.write(orjson.dumps(job) + b"\n")
    if not select.select([process.stdout], [], [], START_SECS)[0]:
        msg = f"the query's process did not start within {START_SECS:g} s; try again"
        raise TooSlow(msg)
    return ReadingProcess(process, process.stdout, process.stdout.read(1))


def stopped(lake: str, why: str) -> str:
    """Return the message about a query that was stopped."""
    command = f"tracegrade sql --lake {shlex.quote(lake)}"
    return f"the query was stopped: {why}; `{command}` has no such limits"
