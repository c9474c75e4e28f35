"""One table's Delta log: opening it, committing to it, making the commit durable.

deltalake neither syncs what it writes, nor compares schemas, nor refuses an application
transaction that was committed before; all three are done here.
"""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from deltalake.schema import Field
from deltalake.transaction import AddAction, RemoveAction

from tracegrade_collector.errors import CommitFailed, FilesReplaced, LakeDamaged, SchemaDiffers
from tracegrade_collector.files import make_folder, sync_file, sync_folder
from tracegrade_collector.lake.mending import ACTION_COUNT, is_whole, mend
from tracegrade_collector.lake.schema import Table

LOG_FOLDER = "_delta_log"
CONFIGURATION: dict[str, str | None] = {
    "delta.checkpointInterval": "100",  # a checkpoint lists all files; more often costs more bytes
    "delta.logRetentionDuration": "interval 1 days",  # a commit each 4 s is 21,600 files a day
    "delta.enableExpiredLogCleanup": "true",
    "delta.deletedFileRetentionDuration": "interval 7 days",  # a slow reader keeps its files
}
COMMIT_ATTEMPTS = 8
RETRY_SECS = 0.05  # doubled each time, with jitter: 6 s in all


@dataclass(frozen=True)
class Change:
    """What one commit does."""

    adds: Sequence[AddAction] = ()
    leaves: Callable[[str | None], bool] | None = None
    """Whether the present files of a date (None: no partitions) leave the table; None: none do."""

    replaces: frozenset[str] = frozenset()
    """Paths inside the table that leave it, each of which must still be in it."""

    data_change: bool = True
    """Whether the table's rows differ afterwards; compaction only moves them."""

    transactions: Mapping[str, int] = field(default_factory=dict)
    """Version by application id."""


def open_table(folder: Path, version: int | None = None) -> DeltaTable | None:
    """Return a fresh handle, or None if there is no table. Handles get slower with each commit.

    Raises:
        LakeDamaged: The log cannot be read.
    """
    if not (folder / LOG_FOLDER).is_dir():
        return None
    try:
        return DeltaTable(folder.as_uri(), version=version)
    except TableNotFoundError:
        return None
    except (DeltaError, OSError) as error:
        fact = str(error).splitlines()[0]
        msg = f"the log of table {folder.name} cannot be read ({fact}); see {folder / LOG_FOLDER}"
        raise LakeDamaged(msg) from error


def commit_once(folder: Path, table: Table, change: Change) -> bool:
    """Commit durably unless all its transactions are in the table; return whether they were not.

    Raises:
        CommitFailed: Other writers won each time.
        FilesReplaced: A file to be replaced has left the table meanwhile; nothing changed.
        LakeDamaged: The log cannot be read.
        SchemaDiffers: The table's columns are not the declared ones.
    """
    if _has(folder, change.transactions):
        return False
    commit(folder, table, change)
    return True


def commit(folder: Path, table: Table, change: Change) -> None:
    """Commit durably; raises as `commit_once`.

    An error is answered by a fresh handle, which shows whether the commit landed all the same
    (as an object store's lost response can leave it).
    """
    for attempt in range(COMMIT_ATTEMPTS):
        delta = writable_table(folder, table)
        try:
            _write(delta, change)
        except CommitFailedError:
            if _has(folder, change.transactions):
                break
            time.sleep(RETRY_SECS * 2**attempt * random.uniform(0.5, 1))  # noqa: S311 - no secret
            continue
        break
    else:
        msg = (
            f"table {folder.name} refused a commit {COMMIT_ATTEMPTS} times; is another writer on?"
        )
        raise CommitFailed(msg)
    sync_log(folder, after=delta.version())


def writable_table(folder: Path, table: Table) -> DeltaTable:
    """Return a fresh handle to the table, which is made if absent and given its new columns.

    Raises:
        SchemaDiffers: A column has another type than declared, or is unknown.
    """
    delta = open_mended(folder) or _create(folder, table)
    declared, found = table.arrow(), pa.schema(delta.schema().to_arrow())
    unfit = [
        f"{field.name} {field.type}"
        for field in found
        if field.name not in declared.names or declared.field(field.name).type != field.type
    ]
    if unfit:
        msg = f"table {table.name} was written by another version: {', '.join(unfit)} unexpected"
        raise SchemaDiffers(msg)
    added = [field for field in declared if field.name not in found.names]
    if not added:
        return delta
    delta.alter.add_columns([Field.from_arrow(field) for field in added])
    sync_log(folder, after=delta.version() - 1)
    return DeltaTable(folder.as_uri())


def open_mended(folder: Path) -> DeltaTable | None:
    """Return a fresh handle for a writer: a tail that a power cut tore is put aside first.

    Raises:
        LakeDamaged: The log cannot be read all the same.
    """
    log = folder / LOG_FOLDER
    try:
        delta = open_table(folder)
        if delta is None or is_whole(log / f"{delta.version():020d}.json"):
            return delta
    except LakeDamaged:
        if not mend(log):
            raise
        return open_table(folder)
    mend(log)
    return open_table(folder)


def sync_log(folder: Path, *, after: int) -> None:
    """Make the log durable: each commit later than this version, checkpoints, the log's folder."""
    log = folder / LOG_FOLDER
    newest = DeltaTable(folder.as_uri()).version()
    for version in range(after + 1, newest + 1):
        sync_file(log / f"{version:020d}.json")
        sync_file(log / f"{version:020d}.checkpoint.parquet")
    sync_file(log / "_last_checkpoint")
    sync_folder(log)


def _create(folder: Path, table: Table) -> DeltaTable:
    make_folder(folder)
    make_folder(folder / LOG_FOLDER)
    DeltaTable.create(
        folder.as_uri(),
        schema=table.arrow(),
        partition_by=list(table.partition_by),
        mode="ignore",  # another process may be first
        configuration=CONFIGURATION,
    )
    sync_log(folder, after=-1)
    return DeltaTable(folder.as_uri())


def _has(folder: Path, transactions: Mapping[str, int]) -> bool:
    delta = open_mended(folder)
    if delta is None or not transactions:
        return False
    committed = {app_id: delta.transaction_version(app_id) for app_id in transactions}
    return all(
        found is not None and found >= transactions[app_id] for app_id, found in committed.items()
    )


def _write(delta: DeltaTable, change: Change) -> None:
    transactions = [
        Transaction(app_id, version) for app_id, version in change.transactions.items()
    ]
    actions: list[AddAction | RemoveAction] = [*_removes(delta, change), *change.adds]
    delta.create_write_transaction(
        actions,
        mode="append",
        schema=delta.schema(),
        partition_by=delta.metadata().partition_columns,
        commit_properties=CommitProperties(
            custom_metadata={ACTION_COUNT: len(actions) + len(transactions)},
            app_transactions=transactions,
            max_commit_retries=0,
        ),
    )


def _removes(delta: DeltaTable, change: Change) -> list[RemoveAction]:
    if change.leaves is None and not change.replaces:
        return []  # listing a long table costs more than the commit
    now_ms = time.time_ns() // 1_000_000
    live = live_files(delta)
    missing = change.replaces - {path for path, _, _ in live}
    if missing:
        msg = f"{len(missing)} files were replaced by another writer: {min(missing)}; start again"
        raise FilesReplaced(msg)
    return [
        RemoveAction(path, change.data_change, now_ms, size, {"date": date} if date else {})
        for path, size, date in live
        if path in change.replaces or (change.leaves and change.leaves(date))
    ]


def live_files(delta: DeltaTable) -> list[tuple[str, int, str | None]]:
    """Return path inside the table, bytes, and date (None if unpartitioned) of each live file."""
    actions = pa.table(delta.get_add_actions(flatten=True)).to_pylist()
    return [
        (action["path"], action["size_bytes"], _text(action.get("partition.date")))
        for action in actions
    ]


def _text(date: object) -> str | None:
    return None if date is None else str(date)
