"""A private copy of an agent's database, which can be opened without changing it.

Opening a database after its writer was killed rolls back, or applies, the writer's last changes.
That happens in the copy: the trial's own files stay as the agent left them.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tracegrade_harness.parts.folders.copying import copy_content
from tracegrade_harness.parts.folders.folders import temporary_folder
from tracegrade_harness.parts.folders.walk import regular_file

UNMERGED = ("-wal", "-journal")
"""Files of a killed writer that complete the database file."""
COMPANIONS = (*UNMERGED, "-shm")
JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")  # sqlite.org/fileformat2.html#rollbackjournal
"""Begins a journal, and ends a journal of a transaction over several databases."""
_TRIES = 5
_NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC


class Unusable(Exception):
    """The file is not a database, or must not be opened; the text says why."""


class CopiedDatabase(NamedTuple):
    """A copy of a database and of the files of its last writer."""

    path: Path
    mode: int
    note: str | None
    """`hot_journal`: a transaction was rolled back; `left_wal`: changes were not yet merged."""


@contextmanager
def copied_database(folder: int, name: str) -> Iterator[CopiedDatabase]:
    """Copy a database of an open folder for as long as the context lasts.

    Raises:
        FileNotFoundError: There is no such file.
        Unusable: The file cannot be opened as a database.
        OSError: It cannot be read or copied.
    """
    with temporary_folder() as copies:
        path = copies / "database"
        for _ in range(_TRIES):
            before = _file_states(folder, name)
            _copy(folder, name, path)
            if _file_states(folder, name) == before:
                break  # else a writer is active, and the copy may be incomplete
        yield CopiedDatabase(path, stat.S_IMODE(before[0].mode), _note(path))


class _FileState(NamedTuple):
    mode: int
    inode: int
    size: int
    modified_ns: int


_ABSENT = _FileState(stat.S_IFREG, 0, 0, 0)


def _file_states(folder: int, name: str) -> tuple[_FileState, ...]:
    """Return the states of the database's file and its companions."""
    main = os.lstat(name, dir_fd=folder)
    companions = (_file_state(folder, name + suffix) for suffix in UNMERGED)
    seen = (_FileState(main.st_mode, main.st_ino, main.st_size, main.st_mtime_ns), *companions)
    if not all(stat.S_ISREG(file.mode) for file in seen):
        message = "it, or a file next to it, is not a regular file"
        raise Unusable(message)
    return seen


def _file_state(folder: int, name: str) -> _FileState:
    try:
        info = os.lstat(name, dir_fd=folder)
    except FileNotFoundError:
        return _ABSENT
    return _FileState(info.st_mode, info.st_ino, info.st_size, info.st_mtime_ns)


def _copy(folder: int, name: str, path: Path) -> None:
    for suffix in ("", *UNMERGED):
        target = path.with_name(path.name + suffix)
        target.unlink(missing_ok=True)
        try:
            with regular_file(folder, name + suffix) as source:
                _copy_file(source, target)
        except FileNotFoundError:
            if not suffix:
                raise
    _check_journal(path.with_name(f"{path.name}-journal"))


def _copy_file(source: int, target: Path) -> None:
    file = os.open(target, _NEW, 0o600)
    try:
        copy_content(source, file)
    finally:
        os.close(file)


def _check_journal(journal: Path) -> None:
    """Remove a journal that is over, and refuse one that names another file.

    To roll back its part of a transaction over several databases, SQLite reads, and may delete,
    the file that the journal names. An agent could write a journal that names any file of this
    machine.
    """
    if not journal.exists():
        return
    with journal.open("rb") as file:
        is_hot = file.read(8) == JOURNAL_MAGIC
        file.seek(-min(8, os.fstat(file.fileno()).st_size), os.SEEK_END)
        names_another = is_hot and file.read(8) == JOURNAL_MAGIC
    if names_another:
        message = "its journal belongs to a transaction over several databases"
        raise Unusable(message)
    if not is_hot:
        journal.unlink()


def _note(path: Path) -> str | None:
    if path.with_name(f"{path.name}-journal").exists():
        return "hot_journal"
    wal = path.with_name(f"{path.name}-wal")
    return "left_wal" if wal.exists() and wal.stat().st_size else None
