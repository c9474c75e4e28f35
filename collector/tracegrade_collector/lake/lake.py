"""A lake: a folder of Delta tables that several processes write and any engine reads."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
from deltalake.transaction import AddAction

from tracegrade_collector.errors import FilesReplaced, SchemaDiffers
from tracegrade_collector.files import make_folder, sync_folder
from tracegrade_collector.lake.commit import (
    LOG_FOLDER,
    Change,
    commit,
    commit_once,
    open_mended,
    open_table,
)
from tracegrade_collector.lake.schema import Table
from tracegrade_collector.lake.staging import StagedFile, stage
from tracegrade_collector.lake_root import existing_root, made_root, writing_to


@dataclass(frozen=True)
class Lake:
    """A local folder of tables; each method opens its table afresh, so no handle gets old."""

    root: Path

    @classmethod
    def open(cls, root: str | Path) -> Lake:
        """Return the lake at this path.

        Raises:
            BadLakePath: The Delta library would read the path as another one.
            LakeMissing: There is no such folder.
        """
        return cls(existing_root(root))

    @classmethod
    def create(cls, root: str | Path) -> Lake:
        """Return the lake at this path, made if absent (for its owner alone).

        Raises:
            BadLakePath: A file has this path, or the Delta library would read it as another one.
            LakeUnwritable: The folder cannot be made.
        """
        return cls(made_root(root))

    @property
    def state(self) -> Path:
        """The folder on this machine for what is no table: log, quarantine, locks, spill."""
        return self.root

    def tables(self) -> list[str]:
        """Return the names of the tables there are, sorted."""
        return sorted(log.parent.name for log in self.root.glob(f"*/{LOG_FOLDER}"))

    def version(self, table: str) -> int | None:
        """Return the table's newest version; None if there is no such table."""
        delta = open_table(self.root / table)
        return delta.version() if delta else None

    def files(self, table: str, version: int | None = None) -> list[str]:
        """Return the absolute paths of a version's Parquet files, sorted; the newest version's."""
        delta = open_table(self.root / table, version)
        uris = delta.file_uris() if delta else []
        return sorted(unquote(uri.removeprefix("file://")) for uri in uris)

    def transaction_version(self, table: str, app_id: str) -> int | None:
        """Return the highest version that this application committed; None if it never did.

        For who writes: a commit that a power cut tore is put aside, so that it is made again.
        """
        delta = open_mended(self.root / table)
        return delta.transaction_version(app_id) if delta else None

    def stage(self, table: Table, rows: pa.Table, name: str) -> list[StagedFile]:
        """Write rows as synced files that no reader sees yet, one per date; for `add_files`.

        The same name with the same rows makes the same files, so a repeat after a crash replaces
        what the first try left.

        Raises:
            LakeUnwritable: The disk refused.
            SchemaDiffers: The rows have not the declared columns.
        """
        with writing_to(self.root):
            return stage(self.root / table.name, table, rows, name)

    def add_files(
        self, table: Table, files: Sequence[StagedFile], app_id: str, version: int
    ) -> bool:
        """Commit staged files exactly once; return False if this version was committed before.

        Args:
            table: The table they were staged for.
            files: What `stage` returned. May be none: then only the transaction is committed.
            app_id: Who commits; one writer at a time.
            version: Rises with each commit of this application.

        Raises:
            CommitFailed: Other writers won each time. Calling again is safe.
            LakeDamaged: The table's log cannot be read.
            LakeUnwritable: The disk refused. Calling again is safe.
            SchemaDiffers: The table has other columns than declared.
        """
        committed = self.transaction_version(table.name, app_id)
        if committed is not None and committed >= version:
            _discard(files)  # the table's file of this name is in use and must not be replaced
            return False
        with writing_to(self.root):
            change = Change(adds=self._publish(table, files), transactions={app_id: version})
            return commit_once(self.root / table.name, table, change)

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
        """Let the partitions of these dates hold exactly these rows, in one commit.

        Raises:
            LakeUnwritable: The disk refused; nothing changed.
            SchemaDiffers: The rows have not the declared columns, or are of other dates.
        """
        staged = self._stage_anew(table, rows)
        outside = {file.partition.get("date", "") for file in staged} - set(dates)
        if dates and outside:
            _discard(staged)
            msg = f"rows for {table.name} are of dates {sorted(outside)}, not of {sorted(dates)}"
            raise SchemaDiffers(msg)
        leaves = set(dates).__contains__ if dates else None
        self._commit(table, staged, leaves, transactions or {})

    def replace(self, table: Table, rows: pa.Table) -> None:
        """Let the whole table hold exactly these rows, in one commit."""
        self._commit(table, self._stage_anew(table, rows), lambda _: True, {})

    def replace_files(
        self,
        table: Table,
        replaces: Sequence[str],
        staged: Sequence[StagedFile],
        transactions: Mapping[str, int] | None = None,
    ) -> None:
        """Let staged files stand for files of the table (paths inside it), in one commit.

        Raises:
            FilesReplaced: One of those has left the table meanwhile; nothing changed.
            LakeUnwritable: The disk refused; nothing changed.
        """
        with writing_to(self.root):
            adds = self._publish(table, staged)
            change = Change(adds, replaces=frozenset(replaces), transactions=transactions or {})
            try:
                commit(self.root / table.name, table, change)
            except FilesReplaced:
                for file in staged:
                    (self.root / table.name / file.name).unlink(missing_ok=True)
                raise

    def _stage_anew(self, table: Table, rows: pa.Table) -> list[StagedFile]:
        return self.stage(table, rows, uuid.uuid4().hex)

    def _commit(
        self,
        table: Table,
        staged: Sequence[StagedFile],
        leaves: Callable[[str | None], bool] | None,
        transactions: Mapping[str, int],
    ) -> None:
        with writing_to(self.root):
            change = Change(self._publish(table, staged), leaves, transactions=transactions)
            commit(self.root / table.name, table, change)

    def _publish(self, table: Table, files: Sequence[StagedFile]) -> list[AddAction]:
        """Move staged files to where readers find them once they are committed."""
        folder = self.root / table.name
        for file in files:
            target = folder / file.name
            make_folder(target.parent)
            os.replace(file.path, target)
        for parent in {(folder / file.name).parent for file in files}:
            sync_folder(parent)
        return [_add_action(folder, file) for file in files]


def _add_action(folder: Path, file: StagedFile) -> AddAction:
    modified_ms = (folder / file.name).stat().st_mtime_ns // 1_000_000
    return AddAction(
        file.name, file.size, file.partition, modified_ms, data_change=True, stats=file.stats
    )


def _discard(files: Sequence[StagedFile]) -> None:
    for file in files:
        file.path.unlink(missing_ok=True)
