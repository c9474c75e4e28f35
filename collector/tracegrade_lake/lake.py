"""A lake: a folder of Delta tables that several processes write and any engine reads."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from deltalake import DeltaTable
from deltalake.transaction import AddAction

from tracegrade_lake.columns import Table
from tracegrade_lake.commit import (
    LiveFile,
    Owner,
    TableChange,
    commit,
    commit_once,
    has_landed,
    live_files,
    open_for_reading,
    open_for_writing,
    writable_table,
)
from tracegrade_lake.datasets import dataset
from tracegrade_lake.errors import FilesReplaced, LakeDamaged, SchemaDiffers
from tracegrade_lake.folder import Folder
from tracegrade_lake.lake_root import existing_root, lake_url, made_root, state_folder, writing_to
from tracegrade_lake.log_entries import transaction_version
from tracegrade_lake.opening import check_is_lake
from tracegrade_lake.staging import stage, stage_parts
from tracegrade_lake.storage import Lock, StagedFile, Storage, StoredFile, TableStorage

NOTHING_BEFORE: Final[Mapping[str, int]] = MappingProxyType({})


@dataclass(frozen=True)
class Lake:
    """The tables of one lake; each method opens its table afresh, so no handle gets old."""

    storage: Storage
    """Where the tables are."""

    state: Path
    """The local folder for everything but tables: log, quarantine, locks, spill."""

    @classmethod
    def open(cls, location: str | Path, state: str | Path | None = None) -> Lake:
        """Return the lake at this path or URL.

        Args:
            location: A folder, or a URL such as `s3://bucket/prefix`.
            state: Where a lake with a URL keeps what must be on a local disk; None for the
                usual folder.

        Raises:
            BadLakePath: No lake can have this path or URL.
            LakeMissing: There is no such folder, or nothing under this URL.
            LakeNewer: It has a later version than this code knows.
            LakeOfTenants: All that is there are tenants, each with a lake of its own.
            LakeUnreachable: The object store does not answer.
        """
        if lake_url(location) is None:
            root = existing_root(location)
            lake = cls(Folder(root), root)
        else:
            lake = cls.create(location, state)
        check_is_lake(lake.storage)
        return lake

    @classmethod
    def create(cls, location: str | Path, state: str | Path | None = None) -> Lake:
        """Return the lake at this path or URL; make a missing folder, for its owner alone.

        An object store is not asked: a bucket must be there, and needs nothing else.

        Raises:
            BadLakePath, LakeNewer: As of `open`; or a file has this path.
            LakeUnwritable: The folder cannot be made.
        """
        url = lake_url(location)
        if url is None:
            return cls(Folder(root := made_root(location)), root)
        from tracegrade_lake.object_store import ObjectStore  # noqa: PLC0415 - 15 MB

        folder = made_root(state_folder(url, state))
        return cls(ObjectStore(url, folder), folder)

    @property
    def location(self) -> str:
        """Its path or URL, as `open` takes it."""
        return self.storage.location

    @property
    def root(self) -> Path:
        """The folder of a lake that is one.

        Raises:
            TypeError: It is on an object store.
        """
        if not isinstance(self.storage, Folder):
            msg = f"the lake {self.location} has no folder"
            raise TypeError(msg)
        return self.storage.root

    @property
    def is_local(self) -> bool:
        """Whether it is a folder, so that its files can be read by path."""
        return isinstance(self.storage, Folder)

    def check_store(self) -> None:
        """Check that this lake can be written to safely, as far as that shows without writing.

        Raises:
            LakeUnreachable: The object store does not answer.
            StoreUnfit: It cannot keep commits apart.
        """
        self.storage.prepare()

    def lock(self, name: str) -> Lock:
        """Return a lock of this name for all processes that work on the lake, not acquired yet."""
        return self.storage.lock(name)

    def tables(self) -> list[str]:
        """Return the names of the tables there are, sorted."""
        return self.storage.tables()

    def version(self, table: str) -> int | None:
        """Return the table's newest version; None if there is no such table."""
        delta = self.opened(table)
        return delta.version() if delta else None

    def columns(self, table: str) -> list[str] | None:
        """Return the names of the table's columns; None if there is no such table."""
        delta = self.opened(table)
        return [field.name for field in delta.schema().fields] if delta else None

    def files(self, table: str, version: int | None = None) -> list[str]:
        """Return the paths or URLs of a version's Parquet files, sorted; the newest version's."""
        delta = self.opened(table, version)
        files = live_files(delta) if delta else []
        if self.is_local:
            return sorted(self.paths(table, files))
        return sorted(delta.file_uris() if delta else [])

    def live_files(self, table: str, version: int | None = None) -> list[LiveFile]:
        """Return what a version of the table consists of, by path; the newest version's."""
        delta = self.opened(table, version)
        return sorted(live_files(delta), key=lambda file: file.path) if delta else []

    def paths(self, table: str, files: Iterable[LiveFile]) -> list[str]:
        """Return the paths of files of the table.

        Raises:
            TypeError: The lake is on an object store.
        """
        folder = self.root / table
        return [str(folder / file.path) for file in files]

    def stored_files(self, table: str) -> list[StoredFile]:
        """Return every file below the table's folder, live or not, but those of its log."""
        return list(self._table(table).stored_files())

    def open_parquet(self, table: str, path: str) -> pq.ParquetFile:
        """Open a file of the table (its path inside the table) for reading, by row groups too.

        Raises:
            LakeDamaged: It is missing, or not a Parquet file.
            LakeUnreachable: The object store does not answer.
        """
        storage = self._table(table)
        try:
            with storage.reading():
                return pq.ParquetFile(storage.open_input(path))
        except (OSError, pa.ArrowException) as error:
            msg = f"{storage.location}/{path} cannot be read: {str(error).splitlines()[0]}"
            raise LakeDamaged(msg) from error

    def newest_files(self, table: str) -> Iterator[pq.ParquetFile]:
        """Yield the live files of a raw table, opened, those with the latest received rows first.

        Raises:
            LakeDamaged: A file is missing, or not Parquet.
        """
        newest_first = sorted(
            self.live_files(table), key=lambda file: file.last_received_ns, reverse=True
        )
        return (self.open_parquet(table, file.path) for file in newest_first)

    def dataset(
        self,
        table: str,
        version: int | None = None,
        files: Sequence[LiveFile] | None = None,
    ) -> ds.Dataset | None:
        """Return a version of the table for pyarrow and engines that read its datasets.

        Args:
            table: Its name.
            version: None for the newest.
            files: Those of this version's files that are read; None for all.
        """
        delta = self.opened(table, version)
        return dataset(delta, self._table(table).filesystem, files) if delta else None

    def remove_files(self, table: str, paths: Sequence[str]) -> None:
        """Remove files (paths inside the table) for good, whether they are live or not."""
        self._table(table).remove(paths)

    def drop(self, table: str) -> None:
        """Remove a table with its files and its log."""
        self._table(table).drop()

    def _table(self, name: str) -> TableStorage:
        return self.storage.table(name)

    def opened(self, table: str, version: int | None = None) -> DeltaTable | None:
        """Return a handle of the table; None if there is no such table."""
        return open_for_reading(self._table(table), version)

    def transaction_version(
        self, table: str, app_id: str, owner: Owner | None = None
    ) -> int | None:
        """Return the highest version that this application committed; None if it never did.

        For writers: a commit that a power cut tore is put aside, so that it is repeated.

        Raises:
            Fenced: Another collector than the owner commits under its id.
        """
        delta = open_for_writing(self._table(table))
        if delta and owner:
            owner.check(delta)
        return transaction_version(delta, app_id) if delta else None

    def transaction_versions(self, table: str, app_ids: Iterable[str]) -> dict[str, int]:
        """Return the highest version that each of these committed; for writers, as above."""
        delta = open_for_writing(self._table(table))
        found = {app_id: transaction_version(delta, app_id) for app_id in app_ids if delta}
        return {app_id: version for app_id, version in found.items() if version is not None}

    def noted_version(self, table: str, app_id: str) -> tuple[int | None, int]:
        """Return the table's newest version, and what this application last noted in it.

        Returns:
            None for the version if there is no such table, and 0 where nothing was noted.
        """
        delta = self.opened(table)
        if delta is None:
            return None, 0
        return delta.version(), transaction_version(delta, app_id) or 0

    def version_noting(self, table: str, app_id: str, at_most: int) -> int | None:
        """Return the newest version of a table as of an application's commit of this number.

        Versions in which nothing later is noted count: compaction moves rows and changes none.

        Returns:
            None if there is no such table, or none so early.
        """
        version, noted = self.noted_version(table, app_id)
        while version and noted > at_most:
            version -= 1
            delta = self.opened(table, version)
            noted = (transaction_version(delta, app_id) or 0) if delta else 0
        return version if noted <= at_most else None

    def stage(self, table: Table, rows: pa.Table, name: str) -> list[StagedFile]:
        """Write rows as synced files that no reader sees yet, one per date; for `add_files`.

        The same name with the same rows makes the same files, so a repeat after a crash replaces
        what the first try left.

        Raises:
            LakeUnwritable: The disk refused.
            SchemaDiffers: The rows have not the declared columns.
        """
        with writing_to(self.state):
            return stage(self._table(table.name).stage_folder, table, rows, name)

    def stage_batches(
        self,
        table: Table,
        partition: Mapping[str, str],
        batches: Iterable[pa.Table],
        name: str,
        metadata: Mapping[bytes, bytes] | None = None,
    ) -> StagedFile | None:
        """Write rows of one partition as one synced file, a row group at a time.

        Args:
            table: The table; the rows have its columns but that of the partition, in its order.
            partition: `{"date": "2026-11-21"}`; empty for a table without partitions.
            batches: Rows; small ones are gathered to row groups of the usual size.
            name: As for `stage`.
            metadata: Entries for the file's footer.

        Returns:
            The file; None if there were no rows and no metadata.

        Raises:
            LakeUnwritable: The disk refused.
        """
        with writing_to(self.state):
            return stage_parts(
                self._table(table.name).stage_folder,
                table,
                partition,
                batches,
                name,
                metadata or {},
            )

    def add_files(
        self,
        table: Table,
        files: Sequence[StagedFile],
        app_id: str,
        version: int,
        owner: Owner | None = None,
        also: Mapping[str, int] | None = None,
    ) -> bool:
        """Commit staged files exactly once; return False if this version was committed before.

        Args:
            table: The table they were staged for.
            files: Files that `stage` returned. If empty, only the transaction is committed.
            app_id: The application that commits; one writer at a time.
            version: Rises with each commit of this application.
            owner: Proves that no other collector has the same application id.
            also: More transactions to note in the same commit.

        Raises:
            CommitFailed: Other writers were first for a minute. Calling again is safe.
            Fenced: Another collector than the owner commits under its id.
            LakeDamaged: The table's log cannot be read.
            LakeUnwritable: The disk refused. Calling again is safe.
            SchemaDiffers: The table has other columns than declared.
        """
        storage = self._table(table.name)
        with storage.writing():
            delta = writable_table(storage, table)
            landing = TableChange(transactions={app_id: version}, owner=owner)
            if has_landed(delta, landing):
                storage.sync_log(after=delta.version() - 1)
                _discard(files)  # the table's file of this name is in use, not to be replaced
                return False
            transactions = {**landing.transactions, **(also or {})}
            change = replace(landing, adds=_publish(storage, files), transactions=transactions)
            is_ours = commit_once(storage, table, change, delta)
        _discard(files)
        return is_ours

    def append(
        self, table: Table, rows: pa.Table, transactions: Mapping[str, int] | None = None
    ) -> None:
        """Add rows, and note the transactions in the same commit."""
        self.replace_dates(table, rows, (), transactions)

    def replace_dates(
        self,
        table: Table,
        rows: pa.Table,
        dates: Sequence[str],
        transactions: Mapping[str, int] | None = None,
    ) -> None:
        """Replace the partitions of these dates by these rows, in one commit.

        Raises:
            LakeUnwritable: The disk refused; nothing changed.
            SchemaDiffers: The rows have not the declared columns, or are of other dates.
        """
        staged = self.stage(table, rows, uuid.uuid4().hex)
        outside = {file.partition.get("date", "") for file in staged} - set(dates)
        if dates and outside:
            _discard(staged)
            msg = f"rows for {table.name} have dates {sorted(outside)}, not {sorted(dates)}"
            raise SchemaDiffers(msg)
        self.put_files(table, staged, dates, transactions or {})

    def put_files(
        self,
        table: Table,
        staged: Sequence[StagedFile],
        dates: Sequence[str],
        transactions: Mapping[str, int],
        follows: Mapping[str, int] = NOTHING_BEFORE,
    ) -> None:
        """Add staged files and remove all other files of these dates, in one commit.

        Args:
            table: The table.
            staged: May be none.
            dates: Whose other files leave.
            transactions: To note in the same commit.
            follows: What these applications must have noted last; 0 for nothing.

        Raises:
            RunOvertaken: One has noted something else; nothing changed.
            CommitFailed: Other writers were first for a minute. Calling again is safe.
            LakeUnwritable: The disk refused; nothing changed. Calling again is safe.
        """
        leaves = set(dates).__contains__ if dates else None
        self._commit(table, staged, leaves, transactions, follows)

    def replace(
        self, table: Table, rows: pa.Table, transactions: Mapping[str, int] | None = None
    ) -> None:
        """Replace all rows of the table by these, and note the transactions in the same commit."""
        self._commit(
            table, self.stage(table, rows, uuid.uuid4().hex), lambda _: True, transactions or {}
        )

    def replace_files(  # noqa: PLR0913 - what decides on a commit
        self,
        table: Table,
        replaces: Sequence[str],
        staged: Sequence[StagedFile],
        transactions: Mapping[str, int] | None = None,
        *,
        data_change: bool = True,
        follows: Mapping[str, int] = NOTHING_BEFORE,
        comes_again: bool = False,
    ) -> None:
        """Replace files of the table (paths inside it) by staged files, in one commit.

        Args:
            table: The table that the files belong to.
            replaces: Paths that must still be live.
            staged: New files; may be empty.
            transactions: Transactions to note in the same commit.
            data_change: Whether the table's rows differ afterwards; compaction only moves them.
            follows: As for `put_files`.
            comes_again: Keep the staged files for another call if a replaced file is not live.

        Raises:
            CommitFailed: Other writers were first for a minute. Calling again is safe.
            FilesReplaced: A file to replace has left the table; nothing changed, and the staged
                files are removed unless `comes_again`.
            LakeUnwritable: The disk refused; nothing changed. Calling again is safe.
        """
        storage = self._table(table.name)
        with storage.writing():
            adds = _publish(storage, staged, data_change=data_change)
            change = TableChange(
                adds,
                replaces=frozenset(replaces),
                data_change=data_change,
                transactions=transactions or {},
                follows=follows,
            )
            try:
                commit(storage, table, change)
            except FilesReplaced:
                if not comes_again:
                    storage.remove([action.path for action in adds])
                    _discard(staged)
                raise
        _discard(staged)

    def _commit(
        self,
        table: Table,
        staged: Sequence[StagedFile],
        leaves: Callable[[str | None], bool] | None,
        transactions: Mapping[str, int],
        follows: Mapping[str, int] = NOTHING_BEFORE,
    ) -> None:
        storage = self._table(table.name)
        with storage.writing():
            adds = _publish(storage, staged)
            change = TableChange(adds, leaves, transactions=transactions, follows=follows)
            commit(storage, table, change)
        _discard(staged)


def _publish(
    storage: TableStorage, files: Sequence[StagedFile], *, data_change: bool = True
) -> list[AddAction]:
    """Bring staged files to where readers find them once they are committed."""
    now_ms = time.time_ns() // 1_000_000
    paths = storage.publish(files)
    return [
        AddAction(
            paths[file.name], file.size, file.partition, now_ms, data_change, stats=file.stats
        )
        for file in files
    ]


def _discard(files: Sequence[StagedFile]) -> None:
    for file in files:
        file.path.unlink(missing_ok=True)
