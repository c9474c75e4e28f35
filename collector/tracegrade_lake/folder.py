"""A lake in a local folder: files appear by a rename and are synced explicitly."""

import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable
from pyarrow.fs import FileSystem, LocalFileSystem, SubTreeFileSystem

from tracegrade_lake.crash_points import reach
from tracegrade_lake.files import (
    all_below,
    folders_in,
    make_folder,
    private_files,
    size_of,
    sync_file,
    sync_folder,
)
from tracegrade_lake.lake_root import TENANTS_FOLDER, writing_to
from tracegrade_lake.lake_version import check_version, note_version
from tracegrade_lake.locks import FolderLock, in_turn
from tracegrade_lake.log_copies import CopiedTable
from tracegrade_lake.log_entries import entries_after_checkpoint
from tracegrade_lake.storage import (
    LOG_FOLDER,
    RAW_TABLES,
    STAGE_FOLDER,
    WAL_FOLDER,
    StagedFile,
    StoredFile,
)
from tracegrade_lake.torn_log import is_whole, put_aside_torn


@dataclass(frozen=True)
class TableFolder:
    """One table's folder."""

    folder: Path
    options: None = None

    @property
    def name(self) -> str:
        """The name of the table."""
        return self.folder.name

    @property
    def location(self) -> str:
        """The folder's path."""
        return str(self.folder)

    @property
    def uri(self) -> str:
        """The path with its special characters escaped."""
        return self.folder.as_uri()

    @property
    def configuration(self) -> dict[str, str | None]:
        """No properties of its own."""
        return {}

    @property
    def stage_folder(self) -> Path:
        """Beside the table's files, so that a rename moves a file there."""
        return self.folder / STAGE_FOLDER

    @property
    def filesystem(self) -> FileSystem:
        """The local one, from this folder on."""
        return SubTreeFileSystem(str(self.folder), LocalFileSystem())

    @property
    def _log(self) -> Path:
        return self.folder / LOG_FOLDER

    def reading(self) -> AbstractContextManager[None]:
        """Pass a reader's errors through unchanged."""
        return nullcontext()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Write privately; say in one line which table the disk refused to change, and why."""
        with private_files(), writing_to(self.folder):
            yield

    def in_turn(self) -> AbstractContextManager[None]:
        """Let the writers of this machine through one after the other, if each is quick."""
        self.prepare()
        return in_turn(self._log)

    def may_exist(self) -> bool:
        """Return whether there is a log; the Delta library would make folders while looking."""
        return self._log.is_dir()

    def open_log(self, version: int | None = None) -> DeltaTable:
        """Return a handle on the log itself."""
        return DeltaTable(self.uri, version=version)

    def put_commit(self, delta: CopiedTable, version: int) -> None:
        """Do nothing: no handle of a folder is on a copy."""

    def prepare(self) -> None:
        """Make the folders, for their owner alone."""
        make_folder(self._log)

    def is_whole(self, version: int) -> bool:
        """Return whether the entry of a commit is readable to its end."""
        return is_whole(self._log / f"{version:020d}.json")

    def entries_to_read(self) -> int:
        """Return how many entries come after the last checkpoint."""
        return entries_after_checkpoint(self._log) if self._log.is_dir() else 0

    def put_aside_torn(self) -> list[str]:
        """Put aside the log entries that a power cut tore; return the names of their files."""
        return put_aside_torn(self._log)

    def sync_log(self, after: int) -> None:
        """Sync each entry, checkpoints, the pointer to the last one, and the log's folder."""
        version = max(after + 1, 0)
        while (entry := self._log / f"{version:020d}.json").exists():
            sync_file(entry)
            sync_file(self._log / f"{version:020d}.checkpoint.parquet")
            version += 1
        sync_file(self._log / "_last_checkpoint")
        sync_folder(self._log)

    def publish(self, staged: Sequence[StagedFile]) -> dict[str, str]:
        """Rename staged files, which replaces what an interrupted try left under these paths."""
        if not staged:
            return {}  # the table's folder may not be there yet
        for file in staged:
            target = self.folder / file.name
            make_folder(target.parent)
            _move(file, target)
            reach("file_published")
        # The upper two may have been made by a process that died before it synced their names.
        parents = {(self.folder / file.name).parent for file in staged}
        for parent in [*parents, self.folder, self.folder.parent]:
            sync_folder(parent)
        return {file.name: file.name for file in staged}

    def stored_files(self) -> Iterator[StoredFile]:
        """Yield every file below the folder but those of the log."""
        for path in sorted(all_below(self.folder)):
            try:
                found = path.stat()
            except FileNotFoundError:  # published or removed since it was listed
                continue
            if stat.S_ISREG(found.st_mode) and LOG_FOLDER not in path.parts:
                name = path.relative_to(self.folder).as_posix()
                yield StoredFile(name, found.st_size, found.st_mtime_ns // 1_000_000)

    def open_input(self, path: str) -> pa.NativeFile:
        """Open a file of the table for reading at any place."""
        return pa.OSFile(str(self.folder / path))

    def remove(self, paths: Sequence[str]) -> None:
        """Unlink files, and make that durable."""
        for path in paths:
            (self.folder / path).unlink(missing_ok=True)
        for folder in {(self.folder / path).parent for path in paths}:
            if folder.is_dir():
                sync_folder(folder)

    def drop(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder)


def _move(file: StagedFile, target: Path) -> None:
    """Rename a staged file, unless a call before did, whose commit failed."""
    try:
        os.replace(file.path, target)
    except FileNotFoundError:
        if size_of(target) != file.size:
            raise


@dataclass(frozen=True)
class Folder:
    """The folder of a whole lake."""

    root: Path

    @property
    def location(self) -> str:
        """The folder's path."""
        return str(self.root)

    def exists(self) -> bool:
        """Return whether the folder is there."""
        return self.root.is_dir()

    def check_version(self) -> bool:
        """Return whether the lake notes this code's version; raise if it has a later one."""
        return check_version(self.root)

    def only_tenants(self) -> list[str]:
        """Return the names of the tenants, sorted; none if the lake has rows or a log itself."""
        own = [self.root / WAL_FOLDER, *(self.root / name / LOG_FOLDER for name in RAW_TABLES)]
        if any(map(Path.is_dir, own)):
            return []
        return [folder.name for folder in folders_in(self.root / TENANTS_FOLDER)]

    def prepare(self) -> None:
        """Note the version; concurrent callers link the name only once."""
        with private_files(), writing_to(self.root):
            note_version(self.root)

    def tables(self) -> list[str]:
        """Return the names of the tables, sorted."""
        return sorted(log.parent.name for log in self.root.glob(f"*/{LOG_FOLDER}"))

    def table(self, name: str) -> TableFolder:
        """Return the folder of one table, which need not exist."""
        return TableFolder(self.root / name)

    def lock(self, name: str) -> FolderLock:
        """Return a lock on a file of the lake's folder, for the processes of this machine."""
        self.prepare()
        with writing_to(self.root):
            return FolderLock(self.root / f"{name}.lock")
