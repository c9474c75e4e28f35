"""Expiry: dates that are too old leave the tables, and files that nothing needs leave the disk.

A file is removed for good when it left its table longer ago than readers are promised
(`delta.deletedFileRetentionDuration`). A file that a crash left, and that was never in a table, is
removed after days. Floors in here cannot be configured away, since a file that was just staged
belongs to no table either.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from tracegrade_lake.backoff import Backoff
from tracegrade_lake.commit import LiveFile, live_files, open_for_reading
from tracegrade_lake.errors import FilesReplaced
from tracegrade_lake.files import all_below, is_older, size_of, sync_folder, write_whole
from tracegrade_lake.job_files import remove_old_job_files
from tracegrade_lake.lake import Lake
from tracegrade_lake.maintenance.checkpoint import shorten_logs
from tracegrade_lake.maintenance.maintenance_lock import hold_maintenance_lock
from tracegrade_lake.maintenance.removals import note_removal, recording, rows_by_collector
from tracegrade_lake.schema import RAW_LOGS, RAW_SPANS
from tracegrade_lake.storage import STAGE_FOLDER, StoredFile
from tracegrade_lake.tables import table_in

Note = Callable[[str], None]

RETENTION_HOURS = 7 * 24
"""Readers of an old version keep its files so long; as `CONFIGURATION` of `commit.py` says."""

SECS_PER_DAY = 24 * 3600
LEFTOVER_SECS = SECS_PER_DAY
"""Age at which a file that no table has, or had lately, counts as a leftover."""

RAW = (RAW_SPANS.name, RAW_LOGS.name)
ASIDE = ("_quarantine/",)
"""Folders in a table that are not leftovers: what a repair put aside."""

EXPIRED_NAME = "expired.json"
"""File in the state folder: the oldest remaining date, by table."""

COMMAND = "expire"
DATE_PATIENCE_SECS = 60.0
"""Longest time to recount the rows of a date while other writers change it.

Few do: an expired date gets no new rows, only a compaction, a deletion or an import of old spans.
"""


class Expired(NamedTuple):
    """Counts of one expiry, or of its dry run."""

    dates: int = 0
    """Dates that left a table, counted per table."""

    rows: int = 0
    """Rows that left with them."""

    files: int = 0
    """Files that left a table; they are removed when their retention is over."""

    removed_files: int = 0
    """Files removed from the disk: expired, compacted, left by a crash."""

    removed_bytes: int = 0
    kept_apart_removed: int = 0
    """Files of quarantine and dead letters that were removed."""


def expire(
    lake: Lake,
    older_than_days: float,
    note: Note,
    *,
    keep_built: bool = False,
    tables: Sequence[str] = (),
    dry_run: bool = False,
) -> Expired:
    """Remove dates older than so many days from the tables, then clean up.

    Args:
        lake: The lake.
        older_than_days: Whole dates (UTC) that ended at least so long ago. At least 1: today is
            still being written.
        note: Gets a line of progress per date.
        keep_built: Only raw spans and logs expire; steps, trajectories and scores stay. They
            repeat content of the traces, so they go too without this option.
        tables: Names of tables; if empty, all.
        dry_run: Only count.

    Raises:
        LakeDamaged: A table's log or file cannot be read.
        LakeUnwritable: The disk refused.
        MaintenanceBusy: Another process maintains the lake.
    """
    oldest = (datetime.now(UTC) - timedelta(days=max(older_than_days, 1))).date()
    names = [name for name in tables or lake.tables() if name in RAW or not keep_built]
    total = Expired()
    with hold_maintenance_lock(lake.state):
        shorten_logs(lake, () if dry_run else lake.tables())
        for name in names:
            done = _expire_table(lake, name, oldest, note, dry_run=dry_run)
            total = _plus(total, done)
        total = _plus(total, expire_set_aside(lake, older_than_days, dry_run=dry_run))
        return _plus(total, _clean(lake, note, dry_run=dry_run))


def clean(lake: Lake, note: Note, *, dry_run: bool = False) -> Expired:
    """Remove files that no table and no reader needs any more; no date expires.

    Raises:
        LakeUnwritable: The disk refused.
        MaintenanceBusy: Another process maintains the lake.
    """
    with hold_maintenance_lock(lake.state):
        return _clean(lake, note, dry_run=dry_run)


def expire_set_aside(lake: Lake, older_than_days: float, *, dry_run: bool = False) -> Expired:
    """Remove files of quarantine and dead letters older than a number of days, at least 1."""
    oldest_ns = time.time_ns() - int(max(older_than_days, 1) * SECS_PER_DAY * 1e9)
    removed = 0
    for name, count in COUNTED_APART.items():
        folder = lake.state / name
        old = [file for file in _files(folder) if is_older(file, oldest_ns)]
        removed += len(old)
        if old and not dry_run:
            counts: Counter[str] = Counter()
            for file in old:
                counts[file.name.partition("-")[0]] += count(file)  # named for its collector
            note_removal(lake, name, counts, COMMAND)
            for file in old:
                file.unlink(missing_ok=True)
            sync_folder(folder)
    return Expired(kept_apart_removed=removed)


def _lines(file: Path) -> int:
    with file.open("rb") as lines:
        return sum(1 for _ in lines)


def expired_before(state: Path, name: str) -> str:
    """Return the oldest date that an expiry kept in a table; '' if none ever ran.

    A rebuilt log must not bring back dates whose files are still on the disk.
    """
    return _oldest_dates(state).get(name, "")


def _oldest_dates(state: Path) -> dict[str, str]:
    try:
        dates: dict[str, str] = json.loads((state / EXPIRED_NAME).read_bytes())
    except (FileNotFoundError, ValueError):
        return {}
    return dates


def _expire_table(lake: Lake, name: str, oldest: date, note: Note, *, dry_run: bool) -> Expired:
    total = Expired()
    days = _expired_dates(lake.live_files(name), oldest)
    if days and not dry_run:
        dates = _oldest_dates(lake.state) | {name: str(oldest)}
        write_whole(lake.state / EXPIRED_NAME, json.dumps(dates).encode())
    for day in days:
        done = _count(lake, name, day) if dry_run else _expire_date(lake, name, day)
        note(f"{name} {day}: {done.rows} rows {'would leave' if dry_run else 'left'} the table")
        total = _plus(total, done)
    return total


def _expired_dates(files: Sequence[LiveFile], oldest: date) -> list[str]:
    return sorted({file.date for file in files if file.date and file.date < str(oldest)})


def _of_date(lake: Lake, name: str, day: str) -> list[LiveFile]:
    return [file for file in lake.live_files(name) if file.date == day]


def _count(lake: Lake, name: str, day: str) -> Expired:
    files = _of_date(lake, name, day)
    return Expired(dates=1, rows=sum(file.rows for file in files), files=len(files))


def _expire_date(lake: Lake, name: str, day: str) -> Expired:
    """Remove one date from its table; count again if another writer changes it first."""
    backoff = Backoff(DATE_PATIENCE_SECS)
    while True:
        files = _of_date(lake, name, day)
        rows: Counter[str] = Counter()
        for file in files:
            with lake.open_parquet(name, file.path) as parquet:
                rows += rows_by_collector(parquet)
        paths = [file.path for file in files]
        try:
            with recording(lake, name, rows, COMMAND) as transactions:
                lake.replace_files(table_in(lake, name), paths, [], transactions)
        except FilesReplaced:
            if not backoff.pause():
                raise
            continue
        return Expired(dates=1, rows=rows.total(), files=len(files))


def _clean(lake: Lake, note: Note, *, dry_run: bool) -> Expired:
    total = Expired()
    for name in lake.tables():
        leftovers = leftover_files(lake, name, datetime.now(UTC))
        if not leftovers:
            continue
        if not dry_run:
            lake.remove_files(name, [file.path for file in leftovers])
        size = sum(file.size for file in leftovers)
        what = "would be removed" if dry_run else "removed"
        note(f"{name}: {len(leftovers)} files, {size / 1e6:.1f} MB, {what} from the disk")
        total = _plus(total, Expired(removed_files=len(leftovers), removed_bytes=size))
    total = _plus(total, _clean_jobs(lake, dry_run=dry_run))
    return _plus(total, _clean_staged(lake, dry_run=dry_run))


def _clean_jobs(lake: Lake, *, dry_run: bool) -> Expired:
    """Remove the small files of jobs that died."""
    old = remove_old_job_files(lake, time.time() - LEFTOVER_SECS, dry_run=dry_run)
    return Expired(removed_files=len(old), removed_bytes=sum(file.size for file in old))


def _clean_staged(lake: Lake, *, dry_run: bool) -> Expired:
    """Remove what a process that died had staged for an object store, on this machine."""
    oldest_ns = time.time_ns() - int(LEFTOVER_SECS * 1e9)
    staged = all_below(lake.state / STAGE_FOLDER)
    old = [path for path in staged if path.is_file() and is_older(path, oldest_ns)]
    size = sum(map(size_of, old))
    for path in () if dry_run else old:
        path.unlink(missing_ok=True)
    return Expired(removed_files=len(old), removed_bytes=size)


def leftover_files(lake: Lake, name: str, now: datetime) -> list[StoredFile]:
    """Return the files of a table's folder that neither the table nor a reader needs.

    The folder is listed before the log is read: a file that is committed in between is live then.
    """
    newest_ms = (now.timestamp() - LEFTOVER_SECS) * 1000
    stored = [file for file in lake.stored_files(name) if file.modified_ms < newest_ms]
    delta = open_for_reading(lake.storage.table(name))
    if delta is None or not stored:
        return []
    left = set(delta.vacuum(0, dry_run=True, enforce_retention_duration=False))
    left_long_ago = set(
        delta.vacuum(RETENTION_HOURS, dry_run=True, enforce_retention_duration=False)
    )
    needed = {file.path for file in live_files(delta)} | (left - left_long_ago)
    return [file for file in stored if file.path not in needed and not file.path.startswith(ASIDE)]


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_file()] if folder.is_dir() else []


COUNTED_APART: Final = {"quarantine": lambda _: 1, "dead_letters": _lines}
"""Folders of content that did not become rows, and functions that count it in a file."""


def _plus(one: Expired, other: Expired) -> Expired:
    return Expired(*map(sum, zip(one, other, strict=True)))
