"""Verifies the result of a query in a copy of an SQLite database."""

import math
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from tracegrade_harness.errors import VerifierFailed
from tracegrade_harness.parts.folders.folders import temporary_folder
from tracegrade_harness.parts.sqlite.copy import JOURNAL_MAGIC, UNMERGED
from tracegrade_harness.parts.sqlite.model import SqliteVerifier
from tracegrade_harness.parts.verifying import copies, tree, value
from tracegrade_harness.parts.verifying.part_paths import path_of_part
from tracegrade_harness.parts.verifying.result import Context, Finding
from tracegrade_harness.parts.verifying.rows import compared, rows_read

MAX_SECS: Final = 30.0
"""Time limit of one query."""

MAX_VALUE_BYTES: Final = 16 * 2**20
"""Largest text that a query makes or returns."""

_STEPS: Final = 10_000
"""Instructions of SQLite between two looks at the clock: far less than a millisecond."""

_ALLOWED: Final = (
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
)

Row = tuple[Any, ...]


def verify_sqlite(verifier: SqliteVerifier, context: Context) -> Finding:
    """Return whether a query gives the expected result.

    The verifier fails if the database is missing or broken.

    Raises:
        VerifierFailed: The query cannot be run, does more than read, takes too long, or gives
            values that cannot be compared.
    """
    at = path_of_part("sqlite", verifier.sqlite, context)
    try:
        with _copy(context.root, at) as file, closing(_connected(file)) as con:
            found = _rows(con, verifier.query, rows_read(verifier.equals))
    except tree.NotReadable as error:
        return Finding(False, str(error))
    except UnicodeDecodeError:
        return Finding(False, "the query gives a text that is not UTF-8")
    except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
        if _is_broken(error):
            return Finding(False, f"'{at}' is not a whole database: {error}")
        msg = f"the query cannot be run: {_reason(error)}; correct it"
        raise VerifierFailed(msg) from error
    return compared([[_json(each) for each in row] for row in found], verifier.equals)


def _rows(con: sqlite3.Connection, query: str, limit: int) -> list[Row]:
    cursor = con.execute(query)
    if cursor.description is None:
        msg = "the query gives no rows; write a SELECT"
        raise VerifierFailed(msg)
    return cursor.fetchmany(limit)


def _json(found: Any) -> str | None:
    """Return an SQLite value as canonical JSON."""
    if isinstance(found, bytes):
        msg = "the query gives a BLOB, which equals no value; ask for hex(COLUMN)"
        raise VerifierFailed(msg)
    if isinstance(found, float) and math.isinf(found):
        msg = "the query gives an infinite number, which equals no value; ask for COLUMN > 1e308"
        raise VerifierFailed(msg)
    return value.canonical(found)


@contextmanager
def _copy(root: Path, at: str) -> Iterator[Path]:
    """Copy a database and its companions, without following links."""
    with temporary_folder() as folder:
        file = folder / "database"
        for suffix in ("", *UNMERGED):
            if not suffix or tree.found(f"{root / at}{suffix}").kind == "file":
                copy = file.with_name(file.name + suffix)
                copies.copy_file(root, at + suffix, copy)
                copy.chmod(
                    0o600
                )  # a journal is rolled back in the copy, even if the original is read-only
        _refuse_super_journal(file.with_name(f"{file.name}-journal"))
        yield file


def _refuse_super_journal(journal: Path) -> None:
    """Refuse a journal that names another one, because SQLite may delete that file."""
    if journal.is_file() and journal.read_bytes()[-len(JOURNAL_MAGIC) :] == JOURNAL_MAGIC:
        msg = "the journal of the database names another one; commit to one database at a time"
        raise VerifierFailed(msg)


def _connected(file: Path) -> sqlite3.Connection:
    """Open a copy for a query that only reads, with a time limit."""
    con = sqlite3.connect(f"{file.as_uri()}?mode=rw", uri=True)
    con.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
    con.execute("PRAGMA trusted_schema = OFF")  # views are as the agent left them
    con.text_factory = _text
    con.set_authorizer(_may)
    until = time.monotonic() + MAX_SECS
    con.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
    return con


def _text(content: bytes) -> str:
    return content.decode()


def _may(action: int, *_: str | None) -> int:
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY


def _is_broken(error: Exception) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _reason(error: Exception) -> str:
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
        return f"it takes more than {MAX_SECS:g} s"
    return " ".join(str(error).split())
