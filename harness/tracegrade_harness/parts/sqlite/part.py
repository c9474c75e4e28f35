"""An SQLite database as a part of an environment; `rows.py` defines its objects.

The database as a whole is the object `sqlite:PART`. If its file can no longer be read, that object
gives the reason and is the only one. If there is no file, there is no object.
"""

import os
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from xxhash import xxh3_128, xxh3_128_hexdigest

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.parts.file_locks import Inode, inode, kernel_locks
from tracegrade_harness.parts.folders.copying import copy_entry
from tracegrade_harness.parts.folders.walk import folder_at
from tracegrade_harness.parts.globs import Globs
from tracegrade_harness.parts.names import own_names, part_text
from tracegrade_harness.parts.part import ServiceAddress
from tracegrade_harness.parts.sqlite.copy import (
    COMPANIONS,
    CopiedDatabase,
    Unusable,
    copied_database,
)
from tracegrade_harness.parts.sqlite.rows import (
    MAX_VALUE_BYTES,
    decode_text,
    read_contents,
    read_rows,
)
from tracegrade_harness.parts.state_reading import ReadableState, StateReading

_OURS = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_CANTOPEN}
"""Errors of this machine, not of the database; the primary codes of sqlite.org/rescode.html."""


@dataclass(frozen=True)
class SqliteLocation:
    """The path, variable and rules of a database in a suite."""

    name: str
    """Name of the part."""
    at: PurePosixPath
    """Path below the trial's folder."""
    variable: str | None = None
    """Environment variable that gets the path."""
    ignore: tuple[str, ...] = ()
    """Globs over `TABLE` and `TABLE.COLUMN`."""


class SqlitePart:
    """A database, or a script that makes one; each trial gets a copy."""

    def __init__(self, location: SqliteLocation, source: Path) -> None:
        self._location = location
        self._source = source
        self._template = source.parent

    def source_digest(self) -> str:
        """Return a digest of all sources of the template.

        Raises:
            EnvironmentFailed: The source is missing or cannot be read.
        """
        if self._source.suffix == ".sql":
            return xxh3_128_hexdigest(_script(self._source).encode())
        try:
            with _copied(self._source) as copy:
                return _bytes_digest(copy.path)
        except (Unusable, OSError) as error:
            raise EnvironmentFailed(_unusable(self._source, error)) from error

    def freeze(self, folder: Path) -> None:
        """Build the template in a new, empty folder; see `part.py`."""
        tree = folder / "tree"
        tree.mkdir(parents=True)
        target = tree / self._location.at.name
        try:
            if self._source.suffix == ".sql":
                _run_script(_script(self._source), target)
            else:
                _back_up(self._source, target)
        except (sqlite3.Error, Unusable, OSError) as error:
            raise EnvironmentFailed(_unusable(self._source, error)) from error
        self.use(folder)

    def use(self, folder: Path) -> None:
        """Use an existing template of `freeze`."""
        self._template = folder / "tree"

    def frozen(self) -> StateReading:
        """Return the template as a trial finds it."""
        return _read(self._at_template(), self._template)

    def contents(self, names: Collection[str], most_bytes: int) -> Iterator[tuple[str, bytes]]:
        """Yield the contents of objects of the template; see `part.py`."""
        return _contents(self._at_template(), self._template, names, most_bytes)

    def open(self, root: Path) -> "OpenedSqlite":
        """Return a fresh copy of the template for a trial; see `part.py`."""
        template = SqliteLocation(self._location.name, PurePosixPath(self._location.at.name))
        _copy(template, self._template, root / self._location.at.parent)
        return OpenedSqlite(self._location, root)

    def close(self) -> None:
        """Do nothing: no process serves the part."""

    def _at_template(self) -> SqliteLocation:
        at = PurePosixPath(self._location.at.name)
        return SqliteLocation(self._location.name, at, ignore=self._location.ignore)


class OpenedSqlite(ReadableState):
    """A database of one trial."""

    def __init__(self, location: SqliteLocation, root: Path) -> None:
        self._location = location
        self._root = root

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment variables with which an agent finds the database."""
        path = str((self._root / self._location.at).absolute())
        return {self._location.variable: path} if self._location.variable else {}

    @property
    def addresses(self) -> Sequence[ServiceAddress]:
        """Return nothing, because agents reach it through files."""
        return ()

    def read(self) -> StateReading:
        """Return all rows and schema objects as the next reader would find them.

        Changes that a killed writer had not committed are rolled back in a copy, and notes report
        them.

        Raises:
            EnvironmentFailed: This machine failed.
        """
        return _read(self._location, self._root)

    def contents(self, names: Collection[str], most_bytes: int) -> Iterator[tuple[str, bytes]]:
        """Yield the contents of objects as they are now; see `part.py`."""
        return _contents(self._location, self._root, names, most_bytes)

    def held(self) -> list[str]:
        """Return `sqlite:PART (write lock)` or `(read lock)` if a process holds one."""
        files = set(self._inodes())
        excluding = {lock.excludes_readers for lock in kernel_locks() if lock.inode in files}
        if not excluding:
            return []
        kind = "write" if True in excluding else "read"
        return [f"{_object(self._location)} ({kind} lock)"]

    def clone(self, root: Path) -> "OpenedSqlite":
        """Return a copy of the present state, with `root` instead of the trial's folder."""
        _copy(self._location, self._root, root / self._location.at.parent)
        return OpenedSqlite(self._location, root)

    def close(self) -> None:
        """Do nothing: no process serves the database."""

    def _inodes(self) -> Iterator[Inode]:
        with suppress(OSError), folder_at(self._root, self._location.at.parent) as folder:
            for suffix in ("", *COMPANIONS):
                with suppress(FileNotFoundError):
                    yield inode(os.lstat(self._location.at.name + suffix, dir_fd=folder))


def _object(location: SqliteLocation) -> str:
    return f"sqlite:{part_text(location.name)}"


def _read(location: SqliteLocation, root: Path) -> StateReading:
    title = _object(location)
    try:
        with (
            folder_at(root, location.at.parent) as folder,
            copied_database(folder, location.at.name) as copy,
        ):
            return _read_copy(copy, title, location.ignore)
    except FileNotFoundError:
        return StateReading()
    except (NotADirectoryError, PermissionError) as error:
        return StateReading({title: f"unreadable: {error.strerror}"})
    except (sqlite3.Error, Unusable, UnicodeError, ValueError) as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _OURS:
            raise EnvironmentFailed(_failed(location, error)) from error
        return StateReading({title: f"unreadable: {error}"})
    except OSError as error:
        raise EnvironmentFailed(_failed(location, error)) from error


def _read_copy(copy: CopiedDatabase, title: str, ignore: tuple[str, ...]) -> StateReading:
    with closing(_connect(copy.path)) as connection:
        reading = read_rows(connection, title, Globs(list(ignore)))
        pragmas = ("user_version", "application_id", "encoding")
        values = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in pragmas]
    reading.state[title] = " ".join(["database", f"{copy.mode:04o}", *map(str, values)])
    if copy.note is not None:
        reading.notes[title] = copy.note
    return reading


def _contents(
    location: SqliteLocation, root: Path, names: Collection[str], most_bytes: int
) -> Iterator[tuple[str, bytes]]:
    """Yield the contents of objects that are small enough; none of a damaged database."""
    title = _object(location)
    own = own_names(title, names)
    if not own:
        return
    with (
        suppress(sqlite3.Error, Unusable, UnicodeError, ValueError, OSError),
        folder_at(root, location.at.parent) as folder,
        copied_database(folder, location.at.name) as copy,
        closing(_connect(copy.path)) as connection,
    ):
        for name, content in read_contents(connection, title, own, Globs(list(location.ignore))):
            if len(content) <= most_bytes:
                yield name, content


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.text_factory = decode_text
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    return connection


def _copy(location: SqliteLocation, root: Path, target: Path) -> None:
    """Copy the database's file, of any kind, and its companions into a folder."""
    try:
        target.mkdir(parents=True, exist_ok=True)
        with (
            folder_at(target, PurePosixPath()) as new,
            suppress(FileNotFoundError, NotADirectoryError, PermissionError),
            folder_at(root, location.at.parent) as old,
        ):
            for suffix in ("", *COMPANIONS):
                copy_entry(old, new, location.at.name + suffix)
    except OSError as error:
        raise EnvironmentFailed(_failed(location, error)) from error


def _script(source: Path) -> str:
    try:
        return source.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        message = f"script '{source}': {error}; name a readable one in UTF-8"
        raise EnvironmentFailed(message) from error


def _run_script(script: str, target: Path) -> None:
    with closing(sqlite3.connect(target)) as connection:
        connection.set_authorizer(_refuse_other_files)
        connection.executescript(script)
        connection.set_authorizer(None)
        connection.commit()
        connection.execute("PRAGMA journal_mode = DELETE")


def _refuse_other_files(action: int, first: str | None, second: str | None, *_: object) -> int:
    """Let a script build its own database, and reach nothing else."""
    attaches = action == sqlite3.SQLITE_ATTACH and first != ""  # "": a temporary one, for VACUUM
    loads = action == sqlite3.SQLITE_FUNCTION and second == "load_extension"
    return sqlite3.SQLITE_DENY if attaches or loads else sqlite3.SQLITE_OK


def _back_up(source: Path, target: Path) -> None:
    with (
        _copied(source) as copy,
        closing(sqlite3.connect(copy.path)) as old,
        closing(sqlite3.connect(target)) as new,
    ):
        old.backup(new)
    target.chmod(copy.mode | 0o600)


@contextmanager
def _copied(source: Path) -> Iterator[CopiedDatabase]:
    with (
        folder_at(source.parent, PurePosixPath()) as folder,
        copied_database(folder, source.name) as copy,
    ):
        yield copy


def _bytes_digest(database: Path) -> str:
    digest = xxh3_128()
    for suffix in ("", *COMPANIONS):
        with (
            suppress(FileNotFoundError),
            database.with_name(database.name + suffix).open("rb") as f,
        ):
            while content := f.read(1 << 20):
                digest.update(content)
    return digest.hexdigest()


def _unusable(source: Path, error: Exception) -> str:
    return f"database '{source}': {error}; name one that SQLite can open"


def _failed(location: SqliteLocation, error: Exception) -> str:
    return f"{_object(location)}: {error}; check that the disk works and is not full"
