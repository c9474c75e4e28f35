"""Carries out undo instructions, for agents, their recovery and kill tests in the same way.

    {"delete": PATH}                    a file, or a folder with all in it; may be missing
    {"restore": PATH, "from": COPY}     as the copy is
    {"restore": PATH}                   as before the run, for a caller that has this state
    {"sql": STATEMENT, "at": DATABASE}  one statement on an SQLite database, or a PostgreSQL URL
    {"http": "DELETE /x", "at": URL}    one request, with a "body" of JSON if given
    {"command": [PROGRAM, ...]}         without a shell
    {"manual": TEXT}                    by a human

A URL may be given by the name of the environment variable that holds it, since it may differ
when the undo is carried out.

An undo that was killed half-way is carried out again, so statements and commands must be
repeatable.
"""

import contextlib
import json
import os
import re
import shutil
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final, TypeGuard

from tracegrade.errors import TracegradeError
from tracegrade.suggestions import did_you_mean

if TYPE_CHECKING:
    import sqlite3

    from psycopg.pq.abc import PGconn

KEYS: Final[Mapping[str, frozenset[str]]] = {
    "delete": frozenset(),
    "restore": frozenset({"from"}),
    "sql": frozenset({"at"}),
    "http": frozenset({"at", "body"}),
    "command": frozenset(),
    "manual": frozenset(),
}
"""Kinds of undo, each with the other keys that it may have."""

MAX_CHARS: Final = 4096
"""Longest path, as Linux allows; also of a command's word, and of a text or statement."""

MAX_WORDS: Final = 256
"""Most words of a command."""

MAX_SQL_SECS: Final = 60.0
"""A statement that takes longer is taken back: a recovery must not hang on one."""

SUFFIX: Final = ".tracegrade-undo"
"""Suffix of a restored file, which is written next to its target, then renamed in one step."""


MAX_HTTP_SECS: Final = 30.0
"""Longest wait for an answer; a later one does not count."""

_REQUEST: Final = re.compile(r"(GET|POST|PUT|PATCH|DELETE) (/\S*)")


class UndoFailed(TracegradeError):
    """Something could not be undone."""


def service_url(at: str) -> str:
    """Return the URL that an undo names, or that the variable holds which it names.

    Raises:
        UndoFailed: There is no such variable.
    """
    if "://" in at:
        return at
    if at not in os.environ:
        msg = f"variable '{at}' is not set; set it to the service's URL"
        raise UndoFailed(msg)
    return os.environ[at]


def is_database_url(text: str) -> bool:
    """Return whether a text is the URL of a PostgreSQL database."""
    return text.startswith(("postgresql://", "postgres://"))


def database_url(at: str) -> str | None:
    """Return the URL of a PostgreSQL database that an undo, or the variable it names, holds."""
    url = os.environ.get(at, at)
    return url if is_database_url(url) else None


@dataclass(frozen=True)
class UndoContext:
    """Operations that undos need."""

    locate: Callable[[str], Path]
    """Returns where the path of an undo stands; raises `UndoFailed` if it may not be touched."""
    copy: Callable[[Mapping[str, Any]], Path]
    """Returns the source of a `restore`; raises `UndoFailed` if it is missing."""
    run: Callable[[Sequence[str]], None]
    """Runs a command; raises `UndoFailed` unless it ends with 0."""
    url: Callable[[str], str] = field(default=service_url)
    """Returns the URL for the `at` of an undo; raises `UndoFailed` if that may not be contacted.
    """
    database: Callable[[str], str | None] = field(default=database_url)
    """Returns the URL for the `at` of a statement, None for a path; raises like `url`."""


def kind_of(undo: Mapping[str, Any]) -> str:
    """Return which kind a valid undo is."""
    return next(kind for kind in KEYS if kind in undo)


def undo_fault(undo: object) -> str | None:
    """Return why a value is not an undo, or None. Its objects may still be missing."""
    if not isinstance(undo, Mapping) or not undo:
        return f"an undo is a mapping with one of: {', '.join(KEYS)}"
    kinds = [kind for kind in KEYS if kind in undo]
    if len(kinds) != 1:
        hint = did_you_mean(str(next(iter(undo)))[:100], list(KEYS))
        return f"an undo has exactly one of: {', '.join(KEYS)}" + (f"; {hint}" if hint else "")
    unknown = [key for key in undo if key != kinds[0] and key not in KEYS[kinds[0]]]
    if unknown:
        return f"'{str(unknown[0])[:100]}' has no meaning with '{kinds[0]}'"
    if "at" in KEYS[kinds[0]] and "at" not in undo:
        needed = {"sql": "the database", "http": "the service's URL"}[kinds[0]]
        return f"'{kinds[0]}' needs {needed}: 'at'"
    return _value_fault(kinds[0], undo)


def _value_fault(kind: str, undo: Mapping[str, Any]) -> str | None:
    if kind == "command":
        return _command_fault(undo[kind])
    faults = (
        _body_fault(value) if key == "body" else _text_fault(kind, key, value)
        for key, value in undo.items()
    )
    return next(filter(None, faults), None)


def _text_fault(kind: str, key: str, value: object) -> str | None:
    if not _is_text(value):
        return f"'{key}' has to be a text of 1 to {MAX_CHARS:,} characters"
    if key == "http" and not _REQUEST.fullmatch(value):
        return f"'http' has to be a method and a path, like 'DELETE /holds/7': '{value}'"
    is_path = kind in ("delete", "restore") or (kind, key) == ("sql", "at")
    if is_path and PurePath(os.path.normpath(value)).name in ("", ".."):
        return f"'{key}' names no file or folder: '{value}'"
    return None


def _body_fault(body: object) -> str | None:
    try:
        size = len(json.dumps(body, ensure_ascii=False, allow_nan=False).encode())
    except (TypeError, ValueError, RecursionError):
        return "'body' has to be JSON"
    return None if size <= MAX_CHARS else f"'body' has more than {MAX_CHARS:,} bytes"


def _command_fault(command: object) -> str | None:
    if (
        isinstance(command, (list, tuple))
        and 0 < len(command) <= MAX_WORDS
        and all(_is_text(word) for word in command)
    ):
        return None
    return f"'command' has to be a list of 1 to {MAX_WORDS} texts: a program and its arguments"


def _is_text(value: object) -> TypeGuard[str]:
    """Return whether a value is a text that paths, programs and JSON in UTF-8 can hold."""
    if not isinstance(value, str) or not 0 < len(value) <= MAX_CHARS or "\0" in value:
        return False
    try:
        value.encode()
    except UnicodeEncodeError:  # half a character
        return False
    return True


def perform(undo: Mapping[str, Any], context: UndoContext) -> None:
    """Carry out a valid undo.

    Raises:
        UndoFailed: It could not be done, or is `manual`.
    """
    import sqlite3  # noqa: PLC0415 - agents that undo nothing do without them
    from http.client import HTTPException  # noqa: PLC0415

    # A folder may be deeper than Python deletes; before 3.12 two statements are a warning.
    failures = (
        *(OSError, ValueError, RecursionError),
        *(sqlite3.Error, sqlite3.Warning, HTTPException),
    )
    try:
        _perform(undo, context)
    except failures as error:
        msg = f"{kind_of(undo)}: {type(error).__name__}: {error}"
        raise UndoFailed(msg) from error


def _perform(undo: Mapping[str, Any], context: UndoContext) -> None:
    kind = kind_of(undo)
    if kind == "delete":
        delete(context.locate(undo["delete"]))
    elif kind == "restore":
        restore(context.locate(undo["restore"]), context.copy(undo))
    elif kind == "sql" and (url := context.database(undo["at"])) is not None:
        run_on_server(url, undo["sql"])
    elif kind == "sql":
        run_sql(context.locate(undo["at"]), undo["sql"])
    elif kind == "http":
        request(context.url(undo["at"]), undo["http"], undo.get("body"))
    elif kind == "command":
        context.run(undo["command"])
    else:
        msg = f"to be done by hand: {undo['manual']}"
        raise UndoFailed(msg)


def delete(path: Path) -> None:
    """Delete a file, a link (not its target) or a folder with its content."""
    try:
        is_folder = stat.S_ISDIR(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return
    if is_folder:
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    sync_folder(path.parent)


def restore(path: Path, copy: Path) -> None:
    """Make `path` equal to `copy`: a file, a link, or a folder without its content.

    A file is replaced in one step, so a concurrent reader finds the old or the new one.
    """
    mode = copy.lstat().st_mode
    if stat.S_ISDIR(mode):
        _restore_folder(path, copy)
        return
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
        msg = f"'{copy}' is not a file, folder or link"
        raise UndoFailed(msg)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + SUFFIX)
    delete(beside)
    copy_file(copy, beside)
    if path.is_dir() and not path.is_symlink():
        delete(path)
    beside.replace(path)
    sync_folder(path.parent)


def _restore_folder(path: Path, copy: Path) -> None:
    if path.is_symlink() or not path.is_dir():
        delete(path)
        path.mkdir(parents=True)
    shutil.copystat(copy, path)


def copy_file(source: Path, target: Path) -> None:
    """Copy a file or link with its mode, times and owner, and sync it."""
    shutil.copy2(source, target, follow_symlinks=False)
    seen = source.lstat()
    with contextlib.suppress(PermissionError):  # only root may give files away
        os.chown(target, seen.st_uid, seen.st_gid, follow_symlinks=False)
    if stat.S_ISREG(seen.st_mode):
        os.chmod(target, stat.S_IMODE(seen.st_mode))  # chown clears setuid
        with target.open("rb") as written:
            os.fsync(written.fileno())


def sync_folder(folder: Path) -> None:
    """Write a folder's list of names to the disk."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def request(url: str, line: str, body: object = None) -> None:
    """Send one request to a service; no redirect is followed.

    It is not an error if an object to delete is already missing.

    Raises:
        UndoFailed: The response reports a failure.
    """
    from http import client  # noqa: PLC0415 - agents that undo nothing do without them
    from urllib.parse import quote, urlsplit  # noqa: PLC0415

    method, path = line.split(" ", 1)
    service = urlsplit(url)
    kinds = {"http": client.HTTPConnection, "https": client.HTTPSConnection}
    if service.scheme not in kinds or not service.hostname:
        msg = f"'{url}' is no URL of HTTP"
        raise UndoFailed(msg)
    connection = kinds[service.scheme](service.hostname, service.port, timeout=MAX_HTTP_SECS)
    content = None if body is None else json.dumps(body).encode()
    try:
        whole = quote(service.path.rstrip("/") + path, safe="%/:?#[]@!$&'()*+,;=~")
        headers = {} if content is None else {"Content-Type": "application/json"}
        connection.request(method, whole, content, headers)
        status = connection.getresponse().status
    finally:
        connection.close()
    if status >= 300 and not (method == "DELETE" and status in (404, 410)):
        msg = f"{line} was answered with {status}"
        raise UndoFailed(msg)


def run_on_server(url: str, statement: str) -> None:
    """Run one statement on a PostgreSQL database; all of it counts, or nothing.

    Raises:
        UndoFailed: It was refused, or psycopg is not installed.
    """
    try:
        import psycopg  # noqa: PLC0415 - agents without such a database do without it
    except ImportError as error:
        msg = "sql: psycopg is not installed; `pip install 'tracegrade[harness-postgres]'`"
        raise UndoFailed(msg) from error
    options = f"-c statement_timeout={MAX_SQL_SECS:g}s -c lock_timeout={MAX_SQL_SECS:g}s"
    try:
        with psycopg.connect(url, autocommit=True, connect_timeout=10, options=options) as con:
            _execute_on_server(con.pgconn, statement)
    except psycopg.Error as error:
        msg = f"sql: {' '.join(str(error).split())}"
        raise UndoFailed(msg) from error


def _execute_on_server(connection: "PGconn", statement: str) -> None:
    """Run one statement, letting go the rows that it gives, however many and long they are."""
    from psycopg.pq import ExecStatus  # noqa: PLC0415 - as above

    connection.send_query_params(statement.encode(), None)  # which takes one alone
    connection.set_single_row_mode()
    good = (ExecStatus.SINGLE_TUPLE, ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK)
    while (result := connection.get_result()) is not None:
        if result.status not in good:
            reason = result.error_message.decode(errors="replace") or "it wants to copy rows"
            msg = f"sql: {' '.join(reason.split())}"
            raise UndoFailed(msg)


def run_sql(database: Path, statement: str) -> None:
    """Run one statement on an existing SQLite database; all of it counts, or nothing.

    Statements that would lead out of the database, or change its storage, are refused.
    """
    import sqlite3  # noqa: PLC0415 - agents that undo nothing do without it

    for end in ("", "-journal", "-wal", "-shm"):
        if database.with_name(database.name + end).is_symlink():
            msg = f"'{database.name}{end}' is a link; name the database itself"
            raise UndoFailed(msg)
    con = sqlite3.connect(f"{database.absolute().as_uri()}?mode=rw", uri=True)
    try:
        with con:
            con.execute("BEGIN IMMEDIATE")
            _execute(con, statement)
    finally:
        con.close()


def _execute(con: "sqlite3.Connection", statement: str) -> None:
    ends = time.monotonic() + MAX_SQL_SECS
    con.set_authorizer(_allowed)
    con.set_progress_handler(lambda: time.monotonic() > ends, 10_000)
    try:
        con.execute(statement).fetchone()
    finally:
        con.set_authorizer(None)
        con.set_progress_handler(None, 0)


def _allowed(action: int, *_: str | None) -> int:
    import sqlite3  # noqa: PLC0415 - as above

    refused = (
        sqlite3.SQLITE_ATTACH,
        sqlite3.SQLITE_DETACH,
        sqlite3.SQLITE_PRAGMA,
        sqlite3.SQLITE_TRANSACTION,
    )
    return sqlite3.SQLITE_DENY if action in refused else sqlite3.SQLITE_OK
