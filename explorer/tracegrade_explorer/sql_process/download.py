"""All rows of a reader's query as a file, written by a process of its own and sent from disk.

The file is whole before the first byte is sent, so that a query that fails late is an error and no
file that ends early, and a slow reader keeps no other query waiting.
"""

import os
import select
import tempfile
import time
from collections.abc import Mapping
from typing import IO, Final

import orjson

from tracegrade_explorer.errors import SqlStopped
from tracegrade_explorer.sql_process.bounds import READY
from tracegrade_explorer.sql_process.download_child import FAILED, TOO_MANY
from tracegrade_explorer.sql_process.process import (
    GRACE_SECS,
    MEMORY_BYTES,
    ReadingProcess,
    reading_process,
    stopped,
)
from tracegrade_explorer.sql_process.run import check_answer
from tracegrade_queries.errors import QueryFailed

SECS: Final = 40.0
"""For all rows."""
MOST_ROWS: Final = 1_000_000
MOST_BYTES: Final = 1 << 30
PIECE_BYTES: Final = 1 << 16
CHILD: Final = "tracegrade_explorer.sql_process.download_child"


def download_rows(lake: str, text: str, values: Mapping[str, str], form: str) -> IO[bytes]:
    """Return a file with all rows of one SELECT over a lake, at its beginning; it has no name.

    Args:
        lake: Path or URL of the lake.
        text: The statement.
        values: For its parameters, by name.
        form: csv, json or parquet.

    Raises:
        QueryFailed: It is not a single SELECT, the engine refuses it, or it has too many rows.
        SqlStopped: It took more time or memory than it may, and was killed.
        TooSlow: Several others wait already.
    """
    job = {
        "lake": lake, "sql": text, "values": dict(values), "rows": MOST_ROWS, "form": form,
        "memory_bytes": MEMORY_BYTES, "secs": SECS + GRACE_SECS,
    }  # fmt: skip
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    try:
        with reading_process(CHILD, job) as reading:
            why = _copy(reading, file, time.monotonic() + SECS)
            code = reading.process.wait(GRACE_SECS) if not why else 0
        return _checked(lake, file, why, code)
    except BaseException:
        file.close()
        raise


def _copy(reading: ReadingProcess, file: IO[bytes], until: float) -> str:
    """Copy what a process writes, and return why that had to end early; '' if it did not."""
    file.write(reading.first)
    size = len(reading.first)
    while (left := until - time.monotonic()) > 0:
        if not select.select([reading.output], [], [], left)[0]:
            break
        piece = os.read(reading.output.fileno(), PIECE_BYTES)
        if not piece:
            return ""
        size += file.write(piece)
        if size > MOST_BYTES:
            return f"its rows take more than {MOST_BYTES >> 20:,} MiB"
    return f"it took longer than {SECS:g} s"


def _checked(lake: str, file: IO[bytes], why: str, code: int) -> IO[bytes]:
    """Return the file behind the byte that says that the lake is open.

    Raises:
        QueryFailed, SqlStopped: As of `download_rows`.
    """
    if why:
        raise SqlStopped(stopped(lake, why))
    if code == TOO_MANY:
        msg = f"it has more than {MOST_ROWS:,} rows; add LIMIT, or use `tracegrade sql`"
        raise QueryFailed(msg)
    if code == FAILED:
        check_answer(lake, orjson.loads(_last_line(file)))
    if code:
        raise SqlStopped(stopped(lake, f"its process ended with {code}, as for want of memory"))
    file.seek(len(READY))
    return file


def _last_line(file: IO[bytes]) -> bytes:
    file.seek(max(0, file.tell() - PIECE_BYTES))
    return file.read().rstrip(b"\n").rpartition(b"\n")[2]
