"""Runs a query that always ends: on Ctrl-C, after a time, or above an amount of memory.

Its own module because the engine alone does not guarantee that. It checks for an interruption
between two pieces of work, and `list(range(2000000000))` is one piece, whose memory it does not
count.
"""

import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Final, NamedTuple, NoReturn

import duckdb

from tracegrade.terminal.visible import visible_text
from tracegrade_queries.errors import QueriesError, QueryStopped

POLL_SECS: Final = 0.05
"""Time between two checks of the clock and of the memory in use."""

GRACE_SECS: Final = 2.0
"""Time for the engine to end a query after an interruption; then the process ends."""

MEMORY_FACTOR: Final = 1.25
"""Times the engine's limit: how much the process may grow, with the rows that are printed."""

INTERRUPTED: Final = 130
"""Exit code after Ctrl-C."""


class Watch(NamedTuple):
    """The conditions that stop a query."""

    timeout_secs: float | None
    """After this time; None: never."""
    memory_bytes: int
    """Growth of the process that stops the query."""
    memory_limit: str
    """The engine's limit, in words."""


def watch(con: duckdb.DuckDBPyConnection, timeout_secs: float | None) -> Watch:
    """Return when a query of this connection is stopped: its limit of memory decides, too."""
    limit = str(con.sql("SELECT current_setting('memory_limit')").fetchall()[0][0])
    return Watch(timeout_secs, int(_bytes(limit) * MEMORY_FACTOR), limit)


def run(con: duckdb.DuckDBPyConnection, work: Callable[[], object], limits: Watch) -> None:
    """Run work on a connection in a thread of its own, and stop it under the conditions.

    Its exceptions are raised here. If the engine does not stop in time, or Ctrl-C comes again, the
    process ends at once with the same exit code.

    Args:
        con: The connection; its other users are stopped as well.
        work: Runs the query, and prints the result.
        limits: When to stop it.

    Raises:
        QueryStopped: It took too long, or too much memory.
        KeyboardInterrupt: Somebody pressed Ctrl-C.
    """
    ended, errors = Event(), list[BaseException]()

    def do() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - raised again in the main thread
            errors.append(error)
        ended.set()

    Thread(target=do, daemon=True, name="query").start()
    try:
        _wait(ended, limits)
    except (KeyboardInterrupt, QueryStopped) as why:
        _stop(con, ended, why)
        raise
    if errors:
        raise errors[0]


def _wait(ended: Event, limits: Watch) -> None:
    """Wait until the work has ended; raise as soon as it went beyond a limit."""
    begun, before = time.monotonic(), _memory_in_use()
    while not ended.wait(POLL_SECS):
        if limits.timeout_secs is not None and time.monotonic() - begun > limits.timeout_secs:
            msg = f"the query took longer than {limits.timeout_secs:g} s; give a longer --timeout"
            raise QueryStopped(msg)
        if _memory_in_use() - before > limits.memory_bytes:
            raise QueryStopped(too_much_memory(limits.memory_limit))


def too_much_memory(limit: str) -> str:
    """Return the message for a query that needs more than the engine's limit."""
    return (
        f"the query needs more memory than its limit of {limit} allows; read fewer rows or "
        "columns, or give more with --memory-limit"
    )


def _stop(con: duckdb.DuckDBPyConnection, ended: Event, why: BaseException) -> None:
    """Return once the work has ended; end the process if it does not."""
    con.interrupt()
    try:
        if ended.wait(GRACE_SECS):
            return
    except KeyboardInterrupt:
        pass
    _end_process(why)


def _end_process(why: BaseException) -> NoReturn:
    """End without waiting for the engine's threads, which nothing else stops."""
    if isinstance(why, QueriesError):
        sys.stderr.write(visible_text(f"tracegrade: {why}") + "\n")
    sys.stderr.flush()
    os._exit(why.exit_code if isinstance(why, QueriesError) else INTERRUPTED)


def _memory_in_use() -> int:
    """Return the current memory of the process in bytes; 0 if unknown."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _bytes(amount: str) -> float:
    """Return an amount of memory as the engine writes it: `11.7 GiB`."""
    found = re.fullmatch(r"([\d.]+) (bytes?|[KMGTP]iB)", amount)
    if found is None:
        return float("inf")
    power = " KMGTP".index(found[2][0]) if found[2].endswith("iB") else 0
    return float(found[1]) * 1024.0**power
