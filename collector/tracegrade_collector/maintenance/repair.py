"""Repair: makes tables readable again after a power cut, a bad disk or a manual change.

It proceeds in this order. It sets torn entries and checkpoints aside (`torn_log.py`). If a log
still cannot be read, it rebuilds the log from the data files (`log_rebuild.py`), or sets the table
aside if a build can make it again. It takes missing and damaged data files out of the table and
keeps their readable rows. It deletes no file: files that leave a table move to `_quarantine/`.

A reader that meets an empty newest entry sees the version before. After a power cut the newer
version was never reported, and its rows are still in a collector's log. An entry that a disk
damaged later may have been reported long ago: its files still exist, and no collector lands them
again. So the log of a raw table is rebuilt with them. A built table needs nothing: the next build
or scoring finds that it is behind the others.
"""

import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable
from deltalake.transaction import AddAction

from tracegrade_collector.encoding.otlp import Signal
from tracegrade_collector.importing.importer import COLLECTOR_ID as IMPORT
from tracegrade_collector.importing.importer import rows_app_id
from tracegrade_collector.log.ledger import landed_seqs
from tracegrade_collector.log.wal_folder import WalFolder
from tracegrade_lake.columns import Table
from tracegrade_lake.commit import LiveFile, TableChange, commit, live_files, open_table
from tracegrade_lake.errors import LakeDamaged, MaintenanceBusy
from tracegrade_lake.files import make_folder, sync_folder
from tracegrade_lake.folder import TableFolder
from tracegrade_lake.lake import Lake
from tracegrade_lake.locks import LANDER_LOCK_NAME, FolderLock
from tracegrade_lake.log_entries import transaction_version
from tracegrade_lake.maintenance.expiry import expired_before
from tracegrade_lake.maintenance.log_rebuild import (
    FoundFile,
    FoundFiles,
    choose,
    find_files,
    last_requests,
)
from tracegrade_lake.maintenance.maintenance_lock import hold_maintenance_lock
from tracegrade_lake.maintenance.removals import (
    NOBODY,
    collectors,
    has_lost_removal,
    recording,
    removals_so_far,
    removed_rows,
    rows_by_collector,
)
from tracegrade_lake.maintenance.rewriting import rewrite_id
from tracegrade_lake.schema import RAW_LOGS, RAW_SPANS
from tracegrade_lake.storage import LOG_FOLDER, PUT_ASIDE_FOLDER, TableStorage
from tracegrade_lake.tables import table_in
from tracegrade_lake.torn_log import QUARANTINE_FOLDER, holes, put_aside_torn, remnants, torn_files

Note = Callable[[str], None]

RAW = {RAW_SPANS.name: (RAW_SPANS, "traces"), RAW_LOGS.name: (RAW_LOGS, "logs")}
"""The tables whose logs are rebuilt from their files, and their signal in the lander's commits."""

LANDED_NAME = re.compile(r"(?P<collector>[^-]+)-[0-9]{20}(-[0-9]{1,6})?\.parquet")
REBUILT_FOLDER = "_rebuilt"
REMNANT_SECS = 3600


class Repaired(NamedTuple):
    """Counts of one repair, or of its dry run; all zeros if nothing was wrong."""

    entries_put_aside: int = 0
    """Files of logs that were torn, or left unfinished."""

    logs_rebuilt: int = 0
    tables_put_aside: int = 0
    """Built tables whose log is lost; a build makes them again."""

    files_missing: int = 0
    """Data files that the log names and that are missing."""

    files_damaged: int = 0
    """Data files that cannot be read in whole or in part."""

    rows_lost: int = 0
    """Rows in them that cannot be read any more."""


def repair(
    lake: Lake,
    note: Note,
    *,
    tables: Sequence[str] = (),
    dry_run: bool = False,
    rebuild: bool = False,
) -> Repaired:
    """Find and repair faults of the tables; report each finding.

    Args:
        lake: The lake.
        note: Gets one line for each finding.
        tables: Names from `repairable_tables`; if empty, all of them.
        dry_run: Only report the faults.
        rebuild: Rebuild the logs of the raw tables even if they can be read.

    Raises:
        LakeUnwritable: The disk refused.
        MaintenanceBusy: Another process maintains the lake, or a log must be rebuilt while a
            collector lands.
    """
    total = Repaired()
    with hold_maintenance_lock(lake.state):
        for name in tables or repairable_tables(lake):
            done = _Table(lake, name, note, dry_run=dry_run).repair(rebuild=rebuild)
            total = _plus(total, done)
    return total


def repairable_tables(lake: Lake) -> list[str]:
    """Return the names of all tables, including raw ones without a log."""
    lost = [
        name
        for name, (_, signal) in RAW.items()
        if any(lake.stored_files(name)) or any(landed_seqs(lake.state, signal).values())
    ]
    return sorted({*lake.tables(), *lost})


class _Table:
    """One table under repair."""

    def __init__(self, lake: Lake, name: str, note: Note, *, dry_run: bool) -> None:
        self._lake = lake
        self._name = name
        self._note = note
        self._dry_run = dry_run
        self._storage = lake.storage.table(name)

    def repair(self, *, rebuild: bool) -> Repaired:
        """Repair the table, or in a dry run only report its faults."""
        if not isinstance(self._storage, TableFolder):  # an object store's entries are whole
            return self._check_files(self._storage)
        folder = self._storage.folder
        with tempfile.TemporaryDirectory(dir=self._lake.state, prefix=".repair-") as scratch:
            checked = TableFolder(self._checked_folder(folder, Path(scratch)))
            done = self._put_aside_torn(folder)
            if (rebuild and self._name in RAW) or not self._is_readable(checked):
                return _plus(done, self._replace_log(folder))
            if self._name in RAW and self._has_lost_commits(checked):
                return _plus(done, self._replace_log(folder))
            return _plus(done, self._check_files(checked))

    def _checked_folder(self, folder: Path, scratch: Path) -> Path:
        """Return the table's folder, or in a dry run a copy of its log without torn entries."""
        if not self._dry_run or not (folder / LOG_FOLDER).exists():
            return folder
        copy = scratch / folder.name
        shutil.copytree(folder / LOG_FOLDER, copy / LOG_FOLDER)
        put_aside_torn(copy / LOG_FOLDER)
        return copy

    def _say(self, fact: str, remedy: str) -> None:
        self._note(f"{self._name}: {fact}; {'would be' if self._dry_run else 'was'} {remedy}")

    def _put_aside_torn(self, folder: Path) -> Repaired:
        log = folder / LOG_FOLDER
        torn, unfinished = torn_files(log), remnants(log, REMNANT_SECS)
        for file in torn:
            self._say(f"{file.name} is torn", f"moved to {QUARANTINE_FOLDER}/")
        for file in unfinished:
            self._say(f"{file.name} was never finished", "removed")
        if not self._dry_run:
            put_aside_torn(log)
            for file in unfinished:
                file.unlink(missing_ok=True)
        return Repaired(entries_put_aside=len(torn) + len(unfinished))

    def _is_readable(self, storage: TableFolder) -> bool:
        """Return whether the log can be read, and has nothing missing before its end."""
        missing = holes(storage.folder / LOG_FOLDER)
        if missing:
            self._note(f"{self._name}: entries {', '.join(map(str, missing))} are missing or torn")
            return False
        try:
            delta = open_table(storage)
            if delta is None:
                return False
            transaction_version(delta, "")  # read apart from the files
            return live_files(delta) is not None
        except LakeDamaged as error:
            self._note(f"{self._name}: {error}")
            return False

    def _has_lost_commits(self, storage: TableFolder) -> bool:
        """Return whether rows were reported, or erased, by commits that the log does not have."""
        delta = open_table(storage)
        noted = partial(transaction_version, delta) if delta else lambda _: None
        if has_lost_removal(self._lake.state, self._name, noted):
            self._note(f"{self._name}: a commit that removed rows is not in the log")
            return True
        live = {file.path for file in live_files(delta)} if delta else set()
        lost = [
            file
            for file in self._counting(find_files(self._lake, self._name))
            if file.path not in live and delta and self._was_reported(file, delta)
        ]
        if lost:
            rows = sum(file.rows for file in lost)
            self._note(f"{self._name}: {len(lost)} files with {rows} rows are not in the log")
        return bool(lost)

    def _was_reported(self, file: FoundFile, delta: DeltaTable) -> bool:
        """Return whether a file's rows landed after the last commit of their collector here."""
        signal = RAW[self._name][1]
        landed = landed_seqs(self._lake.state, signal)
        return any(
            (transaction_version(delta, f"{collector}/{signal}") or 0)
            < seqs[-1]
            <= (seqs[-1] if collector == IMPORT else landed.get(collector, 0))
            for collector, seqs in file.requests.items()
        )

    def _counting(self, found: FoundFiles) -> list[FoundFile]:
        """Return the files that count, of dates that have not expired."""
        oldest = expired_before(self._lake.state, self._name)
        return choose(file for file in found.files if file.date >= oldest)

    def _replace_log(self, folder: Path) -> Repaired:
        if self._name not in RAW:
            self._say(
                "its log is lost", f"moved to {PUT_ASIDE_FOLDER}/; run a build to recreate it"
            )
            if not self._dry_run:
                _put_aside(folder)
            return Repaired(tables_put_aside=1)
        with _nobody_lands(self._lake.state):
            return self._rebuild(folder)

    def _rebuild(self, folder: Path) -> Repaired:
        table, signal = RAW[self._name]
        found = find_files(self._lake, self._name)
        chosen = self._counting(found)
        rows = sum(file.rows for file in chosen)
        self._say(
            f"its log is not whole; {len(chosen)} of {len(found.files)} files hold {rows} rows",
            "rebuilt from them",
        )
        for path in found.unreadable:
            self._note(
                f"{self._name}: {path} is no longer a readable Parquet file; its rows are lost"
            )
        if not self._dry_run:
            in_files = last_requests(found.files)
            landed = landed_seqs(self._lake.state, signal)  # rows may be erased, items refused
            transactions = {
                f"{collector}/{signal}": max(in_files.get(collector, 0), landed.get(collector, 0))
                for collector in in_files.keys() | landed.keys()
            }
            transactions |= removals_so_far(self._lake.state, self._name)
            transactions |= self._imported(chosen)
            _make_log(folder, table, chosen, transactions)
        return Repaired(logs_rebuilt=1, files_damaged=len(found.unreadable))

    def _imported(self, files: Iterable[FoundFile]) -> dict[str, int]:
        """Return the transaction that counts imported rows, those that were removed included."""
        signal = Signal(RAW[self._name][1])
        paths = [file.path for file in files if IMPORT in file.requests]
        rows = Counter[str]()
        for path in paths:
            with self._lake.open_parquet(self._name, path) as parquet:
                rows += rows_by_collector(parquet)
        removed = removed_rows(self._lake, self._name, lambda _: None)
        return {rows_app_id(signal): rows[IMPORT] + removed[IMPORT]} if paths else {}

    def _check_files(self, storage: TableStorage) -> Repaired:
        """Take missing files out of the table, and keep the readable rows of damaged ones."""
        stored = {file.path for file in self._lake.stored_files(self._name)}
        delta, done = open_table(storage), Repaired()
        for file in live_files(delta) if delta else []:
            if file.path not in stored:
                self._say(f"{file.path} is missing, with {file.rows} rows", "taken out")
                done = _plus(done, Repaired(files_missing=1, rows_lost=file.rows))
                self._replace(file, [])
            elif not _reads_well(self._lake, self._name, file):
                done = _plus(done, self._salvage(file))
        return done

    def _salvage(self, file: LiveFile) -> Repaired:
        salvaged = self._replace(file, _readable_groups(self._lake, self._name, file))
        lost = file.rows - salvaged
        self._say(
            f"{file.path} is damaged: {lost} of {file.rows} rows cannot be read",
            "replaced by the others",
        )
        return Repaired(files_damaged=1, rows_lost=lost)

    def _replace(self, file: LiveFile, rows: Iterable[pa.Table]) -> int:
        """Replace a file by its readable rows; return their number. Lost rows count as removed.

        The file stays on the disk as long as any that was replaced.
        """
        salvaged: Counter[str] = Counter()
        rows = _counted(rows, salvaged)
        if self._dry_run:
            return sum(each.num_rows for each in rows)
        table = table_in(self._lake, self._name)
        partition = {"date": file.date} if file.date else {}
        name = f"salvaged-{rewrite_id([file.path], 'salvage')}"
        staged = self._lake.stage_batches(table, partition, rows, name)
        lost = _rows_of(self._lake, self._name, file) - salvaged
        with recording(self._lake, self._name, lost, "repair") as transactions:
            new = [staged] if staged else []
            self._lake.replace_files(table, [file.path], new, transactions)
        return salvaged.total()


def _counted(tables: Iterable[pa.Table], counts: Counter[str]) -> Iterator[pa.Table]:
    """Pass tables on, and count their rows by collector."""
    for rows in tables:
        counts.update(collectors(rows))
        yield rows


def _rows_of(lake: Lake, name: str, file: LiveFile) -> Counter[str]:
    """Return the rows per collector that a file held; under `NOBODY` if that is unknown."""
    try:
        with lake.open_parquet(name, file.path) as parquet:
            return rows_by_collector(parquet)
    except (LakeDamaged, OSError, pa.ArrowException):
        landed = LANDED_NAME.fullmatch(file.path.rpartition("/")[2])
        return Counter({landed["collector"] if landed else NOBODY: file.rows})


def _reads_well(lake: Lake, name: str, file: LiveFile) -> bool:
    """Return whether all of a file can be read, as its pages' checksums were when written."""
    try:
        rows: int = sum(rows.num_rows for rows in _groups(lake, name, file))
    except (LakeDamaged, OSError, pa.ArrowException):
        return False
    return rows == file.rows


def _readable_groups(lake: Lake, name: str, file: LiveFile) -> Iterator[pa.Table]:
    """Yield the row groups of a damaged file that can be read."""
    try:
        numbers = range(lake.open_parquet(name, file.path).num_row_groups)
    except LakeDamaged:
        return
    for number in numbers:
        try:
            yield from _groups(lake, name, file, [number])
        except (OSError, pa.ArrowException):
            continue


def _groups(
    lake: Lake, name: str, file: LiveFile, numbers: Sequence[int] | None = None
) -> Iterator[pa.Table]:
    with (
        lake.storage.table(name).open_input(file.path) as source,
        pq.ParquetFile(source, page_checksum_verification=True) as parquet,
    ):
        for number in numbers if numbers is not None else range(parquet.num_row_groups):
            yield parquet.read_row_group(number, use_threads=False)


def _make_log(
    folder: Path, table: Table, files: Sequence[FoundFile], transactions: dict[str, int]
) -> None:
    """Build a log of these files next to the old one, then swap the two.

    A crash between the two renames leaves a table without a log; the next repair creates it.
    """
    scratch = folder / REBUILT_FOLDER
    shutil.rmtree(scratch, ignore_errors=True)
    make_folder(scratch)
    storage = TableFolder(scratch)
    adds = [
        AddAction(
            file.path, file.size, {"date": file.date}, file.modified_ms, True, stats=file.stats
        )
        for file in files
    ]
    commit(storage, table, TableChange(adds, transactions=transactions))
    old = folder / LOG_FOLDER
    if old.exists():
        make_folder(folder / QUARANTINE_FOLDER)
        os.replace(old, folder / QUARANTINE_FOLDER / f"log-{_stamp()}")
    os.replace(scratch / LOG_FOLDER, old)
    shutil.rmtree(scratch)
    sync_folder(folder)


def _put_aside(folder: Path) -> None:
    aside = folder.parent / PUT_ASIDE_FOLDER
    make_folder(aside)
    os.replace(folder, aside / f"{folder.name}-{_stamp()}")
    sync_folder(aside)
    sync_folder(folder.parent)


def _stamp() -> str:
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")


@contextmanager
def _nobody_lands(state: Path) -> Iterator[None]:
    """Keep landers from committing to a log that is being rebuilt.

    Raises:
        MaintenanceBusy: One is running.
    """
    with ExitStack() as stack:
        for folder in WalFolder.all_in(state):
            lock = FolderLock(folder / LANDER_LOCK_NAME)
            stack.callback(lock.close)
            if not lock.try_acquire():
                msg = f"collector {folder.name} is landing; stop it, then repair again"
                raise MaintenanceBusy(msg)
        yield


def _plus(one: Repaired, other: Repaired) -> Repaired:
    return Repaired(*map(sum, zip(one, other, strict=True)))
