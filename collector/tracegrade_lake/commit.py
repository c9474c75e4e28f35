"""Opens one table's Delta log, commits to it and makes the commit durable.

deltalake does not sync its files, compare schemas or refuse an application transaction that was
committed before. This module does all three.
"""

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, PostCommitHookProperties, Transaction
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from deltalake.schema import Field
from deltalake.transaction import AddAction, RemoveAction

from tracegrade_lake.backoff import Backoff
from tracegrade_lake.columns import Table
from tracegrade_lake.crash_points import reach
from tracegrade_lake.errors import (
    CommitFailed,
    Fenced,
    FilesReplaced,
    LakeDamaged,
    RunOvertaken,
    SchemaDiffers,
)
from tracegrade_lake.log_copies import CopiedTable
from tracegrade_lake.log_entries import path_inside, reading_log, transaction_version
from tracegrade_lake.storage import TableStorage
from tracegrade_lake.torn_log import ACTION_COUNT

CONFIGURATION: dict[str, str | None] = {
    "delta.checkpointInterval": "100",  # a checkpoint lists all files; more often costs more bytes
    "delta.logRetentionDuration": "interval 6 hours",  # 5,400 entries of a commit each 4 s
    "delta.enableExpiredLogCleanup": "true",
    "delta.deletedFileRetentionDuration": "interval 7 days",  # a slow reader keeps its files
}
CLEANUP_COMMITS = 100
"""Commits between two cleanings of the log, because each cleaning lists all of it."""

COMMIT_ID = "tracegradeCommit"
"""Member of each `commitInfo` on a store, unique: a writer knows its own after a lost response."""

RACES = 10
"""Attempts the Delta library makes for the next version before the table is opened afresh.

With it, 16 writers that never pause commit to a folder twice as often, and the last one waits half
as long. On a store each attempt opens the table, which is one listing and the winners' entries.
"""

COMMIT_PATIENCE_SECS = 60.0
"""Longest time to retry a commit while other writers are first.

A commit takes 0.1 s, or 1 s on a loaded machine or a store, so dozens of writers get their turn. A
service that is stopped during a retry has 90 s in systemd.
"""


@dataclass(frozen=True)
class Owner:
    """Proof that a collector's folder is not a copy of one in use.

    Both would count sequence numbers on from the same one, and each take the other's rows for its
    own. So a folder gets a random token at each start, which its commits record in the table: a
    collector that finds a token there that it never had is the second one.
    """

    app_id: str
    tokens: tuple[int, ...]
    """Tokens of the last starts, newest last; each in [0, 2**63)."""

    def check(self, delta: DeltaTable) -> None:
        """Check that no other collector has committed under this id.

        Raises:
            Fenced: Another collector has.
        """
        found = transaction_version(delta, self.app_id)
        if found is not None and found not in self.tokens:
            collector_id = self.app_id.partition("/")[0]
            msg = (
                f"another collector writes as {collector_id}: its folder wal/{collector_id} is "
                "a copy; stop one, and start it with a state folder of its own"
            )
            raise Fenced(msg)

    def transaction(self, delta: DeltaTable) -> list[Transaction]:
        """Return the transaction that records the newest token; none if it is recorded already."""
        newest = self.tokens[-1]
        if transaction_version(delta, self.app_id) == newest:
            return []
        return [Transaction(self.app_id, newest)]


@dataclass(frozen=True)
class TableChange:
    """Files that one commit adds to a table and removes from it."""

    adds: Sequence[AddAction] = ()
    leaves: Callable[[str | None], bool] | None = None
    """Whether the present files of a date (None: no partitions) leave the table; None: none do."""

    replaces: frozenset[str] = frozenset()
    """Paths inside the table that leave it; each must still be live."""

    data_change: bool = True
    """Whether the table's rows differ afterwards; compaction only moves them."""

    transactions: Mapping[str, int] = field(default_factory=dict)
    """Version by application id."""

    follows: Mapping[str, int] = field(default_factory=dict)
    """What these applications must have noted in the table last; 0 for nothing."""

    owner: Owner | None = None
    """The only collector that may commit these transactions."""


def open_table(storage: TableStorage, version: int | None = None) -> DeltaTable | None:
    """Return a fresh handle, or None if there is no table; handles get slower with each commit.

    Raises:
        LakeDamaged: The log cannot be read.
        LakeUnreachable: The object store does not answer.
    """
    return _opened(storage, partial(_handle, storage, version))


def open_for_reading(storage: TableStorage, version: int | None = None) -> DeltaTable | None:
    """Return a fresh handle as `open_table` does, by fewest requests.

    Its log may be a copy, so it shows what the table has and had, but cannot list or change
    objects.

    Raises:
        LakeDamaged, LakeUnreachable: As of `open_table`.
    """
    return _opened(storage, partial(storage.open_log, version))


def _opened(storage: TableStorage, handle: Callable[[], DeltaTable]) -> DeltaTable | None:
    if not storage.may_exist():
        return None
    try:
        with storage.reading():
            return handle()
    except TableNotFoundError:
        return None
    except (DeltaError, OSError) as error:
        fact = f"{storage.location} cannot be read ({str(error).splitlines()[0]})"
        msg = f"the log of {fact}; see `tracegrade lake repair`"
        raise LakeDamaged(msg) from error


def _handle(storage: TableStorage, version: int | None = None) -> DeltaTable:
    return DeltaTable(storage.uri, version=version, storage_options=storage.options)


def commit_once(
    storage: TableStorage, table: Table, change: TableChange, opened: DeltaTable | None = None
) -> bool:
    """Commit durably unless the table has all its transactions; return whether it committed.

    An object store's response can be lost after the commit landed. So after an error a fresh
    handle shows whether it did.

    Args:
        storage: The table's storage.
        table: The table's declaration.
        change: The change to commit.
        opened: A handle opened just now that does not have the change; it saves opening the table.

    Raises:
        CommitFailed: Other writers were first each time for `COMMIT_PATIENCE_SECS`.
        Fenced: Another collector commits under the same id.
        FilesReplaced: A file to replace has left the table since it was listed; nothing changed.
        LakeDamaged: The log cannot be read.
        LakeUnreachable: The object store does not answer. The change may have landed.
        SchemaDiffers: The table's columns are not the declared ones.
    """
    delta, retried_once = opened, False
    backoff = Backoff(COMMIT_PATIENCE_SECS)
    while True:
        with storage.in_turn():
            if delta is None:
                delta = writable_table(storage, table)
                if has_landed(delta, change, after_error=retried_once):
                    storage.sync_log(after=delta.version() - 1)
                    return retried_once
            is_committed = _try_to_commit(storage, delta, change)
        if is_committed:
            storage.sync_log(after=delta.version())
            reach("commit_synced")
            return True
        _pause(backoff, storage)
        delta, retried_once = None, True


def _try_to_commit(storage: TableStorage, delta: DeltaTable, change: TableChange) -> bool:
    """Commit, not durably yet; return False if another was first, or the answer was lost."""
    try:
        with storage.writing():
            _write(storage, delta, change)
        reach("commit_written")
    except CommitFailedError:
        return False
    return True


def _pause(backoff: Backoff, storage: TableStorage) -> None:
    """Wait before another attempt.

    Raises:
        CommitFailed: It has been attempted for too long.
    """
    if not backoff.pause():
        msg = (
            f"other writers have been first to commit to table {storage.name} for "
            f"{COMMIT_PATIENCE_SECS:.0f} s; try again when fewer write to it"
        )
        raise CommitFailed(msg)


def commit(storage: TableStorage, table: Table, change: TableChange) -> None:
    """Commit as `commit_once` does, for callers that need not know whether it was there before."""
    commit_once(storage, table, change)


def has_landed(delta: DeltaTable, change: TableChange, *, after_error: bool = False) -> bool:
    """Return whether the table already holds the change.

    Args:
        delta: A fresh handle.
        change: The change that was committed, or is about to be.
        after_error: Whether a commit was attempted before. Only then do the files identify a
            change without transactions.

    Raises:
        Fenced: Another collector commits under the same id.
        RunOvertaken: Another run committed after the one that this run follows.
    """
    if change.owner:
        change.owner.check(delta)
    if change.follows:
        return _has_followed(delta, change, after_error=after_error)
    if change.transactions:
        found = {app_id: transaction_version(delta, app_id) for app_id in change.transactions}
        return all(
            version is not None and version >= change.transactions[app_id]
            for app_id, version in found.items()
        )
    return after_error and _files_are_there(delta, change)


def _has_followed(delta: DeltaTable, change: TableChange, *, after_error: bool) -> bool:
    """Return whether a change that follows one before it has landed.

    Raises:
        RunOvertaken: Another has.
    """
    found = {app_id: transaction_version(delta, app_id) or 0 for app_id in change.follows}
    if found == change.follows:
        return False
    is_there = _files_are_there(delta, change) if change.adds else found == change.transactions
    if after_error and is_there:
        return True
    msg = "another run has committed to the lake since this one began; run this again"
    raise RunOvertaken(msg)


def _files_are_there(delta: DeltaTable, change: TableChange) -> bool:
    added = {action.path for action in change.adds}
    return bool(added) and added <= {file.path for file in live_files(delta)}


def writable_table(storage: TableStorage, table: Table) -> DeltaTable:
    """Return a fresh handle to the table, which is made if absent and given its new columns.

    Raises:
        LakeUnreachable: The object store does not answer.
        SchemaDiffers: A column has another type than declared, or is unknown.
        StoreUnfit: The object store cannot keep commits apart.
    """
    storage.prepare()
    delta = open_for_writing(storage) or _create(storage, table)
    declared, found = table.arrow(), pa.schema(delta.schema().to_arrow())
    types = {field.name: field.type for field in declared}
    types |= {former: types[name] for former, name in table.former_names().items()}
    unfit = [f"{each.name} {each.type}" for each in found if types.get(each.name) != each.type]
    if unfit:
        msg = f"table {table.name} was written by another version: {', '.join(unfit)} unexpected"
        raise SchemaDiffers(msg)
    if set(declared.names) <= set(found.names):
        return delta
    return _with_columns(storage, table, delta)


def _with_columns(storage: TableStorage, table: Table, delta: DeltaTable) -> DeltaTable:
    """Return a fresh handle after the table's new columns were added by any process."""
    backoff = Backoff(COMMIT_PATIENCE_SECS)
    while added := _missing_columns(table, delta):
        try:
            with storage.writing():
                _handle(storage).alter.add_columns([Field.from_arrow(field) for field in added])
        except CommitFailedError:
            _pause(backoff, storage)
        storage.sync_log(after=delta.version() - 1)
        delta = _handle(storage)
    return delta


def _missing_columns(table: Table, delta: DeltaTable) -> list[pa.Field]:
    found = {field.name for field in delta.schema().fields}
    return [field for field in table.arrow() if field.name not in found]


def open_for_writing(storage: TableStorage) -> DeltaTable | None:
    """Return a fresh handle for a writer, after putting aside entries that a power cut tore.

    Raises:
        LakeDamaged: The log still cannot be read.
        LakeUnreachable: The object store does not answer.
    """
    try:
        delta = open_for_reading(storage)
        if delta is None or storage.is_whole(delta.version()):
            return delta
    except LakeDamaged:
        if not storage.put_aside_torn():
            raise
        return open_for_reading(storage)
    storage.put_aside_torn()
    return open_for_reading(storage)


def _create(storage: TableStorage, table: Table) -> DeltaTable:
    made = None
    with storage.writing():
        with suppress(CommitFailedError):  # another one was first, or our answer was lost
            made = DeltaTable.create(
                storage.uri,
                schema=table.arrow(),
                partition_by=list(table.partition_by),
                mode="ignore",
                configuration={**CONFIGURATION, **storage.configuration},
                storage_options=storage.options,
                commit_properties=CommitProperties(max_commit_retries=0),  # or it is made twice
            )
        reach("table_created")
        storage.sync_log(after=-1)
        return _handle(storage) if made is None else made


def _write(storage: TableStorage, delta: DeltaTable, change: TableChange) -> None:
    transactions = [
        Transaction(app_id, version) for app_id, version in change.transactions.items()
    ]
    if change.owner:
        transactions += change.owner.transaction(delta)
    version = delta.version() + 1
    is_copy = isinstance(delta, CopiedTable)
    own = {COMMIT_ID: uuid.uuid4().hex} if is_copy else {}
    actions: list[AddAction | RemoveAction] = [*_removes(delta, change), *change.adds]
    delta.create_write_transaction(
        actions,
        mode="append",
        schema=delta.schema(),
        partition_by=delta.metadata().partition_columns,
        commit_properties=CommitProperties(
            custom_metadata={ACTION_COUNT: len(actions) + len(transactions), **own},
            app_transactions=transactions,
            max_commit_retries=_races(change),
        ),
        post_commithook_properties=PostCommitHookProperties(
            create_checkpoint=not is_copy,
            cleanup_expired_logs=not is_copy and version % CLEANUP_COMMITS == 0,
        ),
    )
    if isinstance(delta, CopiedTable):
        reach("commit_in_copy")
        storage.put_commit(delta, version)
        if version % CLEANUP_COMMITS == 0:
            _handle(storage).cleanup_metadata()


def _races(change: TableChange) -> int:
    """Return how many lost races the Delta library may retry by itself.

    None if the files to remove must be looked up again. None without a transaction either: only a
    transaction makes the library give up when a winner has committed this change. That happens
    when an earlier attempt's response was lost or this collector was copied.
    """
    is_addition = not change.replaces and change.leaves is None
    return RACES if is_addition and change.transactions else 0


def _removes(delta: DeltaTable, change: TableChange) -> list[RemoveAction]:
    if change.leaves is None and not change.replaces:
        return []  # listing a long table costs more than the commit
    now_ms = time.time_ns() // 1_000_000
    live = live_files(delta)
    missing = change.replaces - {file.path for file in live}
    if missing:
        msg = f"{len(missing)} files were replaced by another writer: {min(missing)}; try again"
        raise FilesReplaced(msg)
    added = {action.path for action in change.adds}  # live after a try whose answer was lost
    return [
        RemoveAction(file.path, change.data_change, now_ms, file.size, file.partition)
        for file in live
        if file.path not in added
        and (file.path in change.replaces or (change.leaves and change.leaves(file.date)))
    ]


@dataclass(frozen=True)
class LiveFile:
    """A file that a table consists of."""

    path: str
    """Inside the table's folder."""

    size: int
    """Bytes."""

    rows: int

    modified_ms: int
    """When it was written, ms since 1970 UTC."""

    date: str | None
    """Its partition; None if the table has none."""

    ranges: Mapping[str, tuple[int, int]]
    """Smallest and largest value of `received_ns`, `wal_seq`, ...; absent if all are NULL."""

    @property
    def partition(self) -> dict[str, str | None]:
        """The partition as Delta's actions name it."""
        return {} if self.date is None else {"date": self.date}

    @property
    def last_received_ns(self) -> int:
        """The latest `received_ns` of its rows; 0 if that is not known."""
        return self.ranges.get("received_ns", (0, 0))[1]


def live_files(delta: DeltaTable) -> list[LiveFile]:
    """Return the files of the handle's version, in no order.

    Raises:
        LakeDamaged: The log cannot be read, or names a file outside of the table.
    """
    with reading_log(delta):
        actions = pa.table(delta.get_add_actions(flatten=True)).to_pylist()
    for action in actions:
        path_inside(action["path"], delta)
    return [_live_file(action) for action in actions]


def _live_file(action: Mapping[str, Any]) -> LiveFile:
    date = action.get("partition.date")
    lows = {key[4:]: value for key, value in action.items() if key.startswith("min.")}
    return LiveFile(
        path=action["path"],
        size=action["size_bytes"],
        rows=action["num_records"],
        modified_ms=action["modification_time"],
        date=None if date is None else str(date),
        ranges={
            name: (low, action[f"max.{name}"]) for name, low in lows.items() if low is not None
        },
    )
