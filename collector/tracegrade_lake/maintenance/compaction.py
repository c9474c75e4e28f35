"""Compaction: many small files of a date become few large ones, sorted by trace.

A past date is sorted as a whole once it has been quiet for a while. Today's files are merged when
enough files of similar size are old enough, so each row is rewritten only a few times. Rows do not
change except for the mark `resent` (`resent_rows.py`), which is complete for equal rows of one
date.

Other processes may run at the same time. Replaced files stay on the disk for readers until their
retention ends; the first writer to commit wins, and the other starts over.
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tracegrade_lake.commit import LiveFile
from tracegrade_lake.errors import FilesReplaced, LakeDamaged
from tracegrade_lake.files import make_folder
from tracegrade_lake.lake import Lake
from tracegrade_lake.lake_root import writing_to
from tracegrade_lake.maintenance.checkpoint import shorten_logs
from tracegrade_lake.maintenance.maintenance_lock import hold_maintenance_lock
from tracegrade_lake.maintenance.resent_rows import IDENTITIES, RECEIVED, RESENT, mark_resent
from tracegrade_lake.maintenance.rewriting import Rewriter, lineage_of, rewrite_id
from tracegrade_lake.maintenance.sorting import Sorter, sample_of
from tracegrade_lake.tables import table_in

Note = Callable[[str], None]

SORTED, MERGED = "compacted", "merged"
"""Prefixes of file names: for a past date, and for the current one."""

SPILL_FOLDER = "spill"
MERGED_AT_ONCE = 4
"""Files of about one size that are worth merging; fewer would rewrite rows more often."""

LATE_SHARE = 0.25
"""Share of a date's bytes; if this much came late, the whole date is sorted again."""

LATE_DAYS = 1
BATCH_BYTES = 2 << 20
PROBED_ROWS = 64
SAMPLE_ROWS = 20_000
SORT_KEYS = ("trace_id", "trajectory_id", "start_ns", "time_ns", "step_index", "span_id")
"""In this order, those that a table has."""

HASH = "content_hash"
SPILL_FACTOR = 3
"""Bytes of disk that sorting may need per byte of Parquet: spilled rows, and the new files."""


@dataclass(frozen=True)
class CompactOptions:
    """Options of a compaction."""

    tables: tuple[str, ...] = ()
    """Which ones; none named: all."""

    target_bytes: int = 128 << 20
    """Target size of a file. At this size a date of 10 GB is 80 files, each read in many row
    groups at a time, and erasing a trace rewrites only seconds of work.
    """

    min_age_secs: float = 900.0
    """Minimum age of a file; landing and builds still read newer ones."""

    first_date: str | None = None
    """Older dates are left alone; None: none is."""


class Compacted(NamedTuple):
    """Counts of one compaction, or of its dry run."""

    files_before: int = 0
    """Files that were replaced."""

    files_after: int = 0
    """Files that replaced them; 0 in a dry run."""

    rows: int = 0
    """Rows in them."""

    marked_resent: int = 0
    """Rows that were found to have been sent twice."""

    bytes_before: int = 0
    bytes_after: int = 0
    skipped: int = 0
    """Dates skipped because another writer changed them first, or the disk had too little room."""


class LeftAlone(NamedTuple):
    """Counts of files that a compaction does not touch, by reason."""

    young: int = 0
    """Files that are younger than `min_age_secs`."""

    few: int = 0
    """Files that are too few of about one size, or the only one of their date."""

    done: int = 0
    """Files that were sorted before, or are large."""


class CompactionGroup(NamedTuple):
    """Files of one date that become fewer."""

    date: str | None
    files: tuple[LiveFile, ...]
    prefix: str


def compact(
    lake: Lake, options: CompactOptions, note: Note, *, dry_run: bool = False
) -> Compacted:
    """Compact all dates that are worth it, and return the counts.

    Args:
        lake: The lake.
        options: The tables, and limits.
        note: Gets a line of progress per date.
        dry_run: Only count.

    Raises:
        LakeDamaged: A table's log or file cannot be read; all else is compacted.
        LakeUnwritable: The disk refused; uncommitted work is undone.
        MaintenanceBusy: Another process maintains the lake.
    """
    total, damaged = Compacted(), list[LakeDamaged]()
    with hold_maintenance_lock(lake.state), _spill_folder(lake.state) as spill:
        for name in options.tables or lake.tables():
            shorten_logs(lake, () if dry_run else [name])
            for group in plan(lake.live_files(name), options, datetime.now(UTC)):
                try:
                    done = _planned(group)
                    if not dry_run:
                        done = _compact_group(_Rewrite(lake, name, group, spill), options)
                except LakeDamaged as error:  # one bad file must not keep all else from it
                    damaged.append(error)
                    continue
                note(_progress(name, group, done, dry_run=dry_run))
                total = Compacted(*map(sum, zip(total, done, strict=True)))
    if damaged:
        raise damaged[0]
    return total


def plan(
    files: Sequence[LiveFile], options: CompactOptions, now: datetime
) -> list[CompactionGroup]:
    """Return what of a table is worth compacting now, oldest date first."""
    by_date: dict[str | None, list[LiveFile]] = {}
    for file in files:
        by_date.setdefault(file.date, []).append(file)
    groups = [
        _plan_date(date, by_date[date], options, now)
        for date in sorted(by_date, key=lambda date: date or "")
        if date is None or options.first_date is None or date >= options.first_date
    ]
    return [group for group in groups if group]


def left_alone(lake: Lake, options: CompactOptions) -> LeftAlone:
    """Return how many files of the tables a compaction would now leave, and why."""
    total, now = LeftAlone(), datetime.now(UTC)
    for name in options.tables or lake.tables():
        files = lake.live_files(name)
        chosen = {file.path for group in plan(files, options, now) for file in group.files}
        reasons = [
            _reason_to_leave(file, options, now) for file in files if file.path not in chosen
        ]
        total = LeftAlone(*map(sum, zip(total, *reasons, strict=True)))
    return total


def _reason_to_leave(file: LiveFile, options: CompactOptions, now: datetime) -> LeftAlone:
    if _base_name(file).startswith(SORTED) or file.size >= options.target_bytes / 2:
        return LeftAlone(done=1)
    age_ms = now.timestamp() * 1000 - file.modified_ms
    return LeftAlone(young=1) if age_ms < options.min_age_secs * 1000 else LeftAlone(few=1)


def _plan_date(
    date: str | None, files: Sequence[LiveFile], options: CompactOptions, now: datetime
) -> CompactionGroup | None:
    newest_ms = (now - timedelta(seconds=options.min_age_secs)).timestamp() * 1000
    new = [file for file in files if not _base_name(file).startswith(SORTED)]
    old_enough = [file for file in new if file.modified_ms <= newest_ms]
    is_over = date is not None and date < now.date().isoformat()
    if is_over and len(old_enough) == len(new) and len(files) > 1 and _is_worth(files, new, now):
        return CompactionGroup(date, tuple(files), SORTED)
    merged = _of_about_one_size(
        [file for file in old_enough if file.size < options.target_bytes / 2]
    )
    return CompactionGroup(date, tuple(merged), MERGED) if merged else None


def _is_worth(files: Sequence[LiveFile], new: Sequence[LiveFile], now: datetime) -> bool:
    """Return whether a past date should be sorted: much of it is unsorted, or has waited."""
    if not new:
        return False
    late_ms = (now - timedelta(days=LATE_DAYS)).timestamp() * 1000
    share = sum(file.size for file in new) / sum(file.size for file in files)
    return share >= LATE_SHARE or max(file.modified_ms for file in new) <= late_ms


def _of_about_one_size(files: Sequence[LiveFile]) -> list[LiveFile]:
    """Return small files up to one with more rows than all before it; none if few.

    Fewer that are smaller still wait for others of their size.
    """
    chosen: list[LiveFile] = []
    for file in sorted(files, key=lambda file: (file.rows, file.path)):
        before = sum(each.rows for each in chosen)
        if chosen and file.rows > max(before, 2 * chosen[0].rows):
            if len(chosen) >= MERGED_AT_ONCE:
                break
            chosen = []
        chosen.append(file)
    return chosen if len(chosen) >= MERGED_AT_ONCE else []


def _compact_group(rewrite: "_Rewrite", options: CompactOptions) -> Compacted:
    """Rewrite one group; skip it if another writer changes its files first."""
    if not rewrite.has_room():
        return Compacted(skipped=1)
    try:
        with writing_to(rewrite.lake.state):
            return rewrite.run(options.target_bytes)
    except FilesReplaced:
        return Compacted(skipped=1)


class _Rewrite:
    """One group of files on its way to fewer."""

    def __init__(self, lake: Lake, name: str, group: CompactionGroup, spill: Path) -> None:
        self.lake = lake
        self._group = group
        self._spill = spill
        self._table = table_in(lake, name)
        self._schema = pa.schema(
            [field for field in self._table.arrow() if field.name not in self._table.partition_by]
        )
        columns = self._schema.names
        self._keys = [key for key in (*SORT_KEYS, HASH) if key in columns]
        self._ties = [tie for tie in RECEIVED if tie in columns]
        self._identity = IDENTITIES.get(self._table.name)
        self._marked = 0

    def has_room(self) -> bool:
        """Return whether the disk can take the rows while they are sorted, and the new files."""
        size = sum(file.size for file in self._group.files)
        return shutil.disk_usage(self._spill).free >= SPILL_FACTOR * size

    def run(self, target_bytes: int) -> Compacted:
        """Write the new files, commit them, and return the counts."""
        group, paths = self._group, frozenset(file.path for file in self._group.files)
        partition = {"date": group.date} if group.date else {}
        name = f"{group.prefix}-{rewrite_id(paths, str(target_bytes))}"
        replaces = paths | self._lineage()
        stage_folder = self.lake.storage.table(self._table.name).stage_folder
        rows = sum(file.rows for file in group.files)
        writer = Rewriter(stage_folder, partition, name, replaces, target_bytes, rows)
        try:
            for part in self._sorted_rows():
                writer.write(self._marked_rows(part))
            staged = writer.finish()
            self.lake.replace_files(
                self._table, sorted(paths), staged, data_change=self._marked > 0
            )
        except BaseException:
            writer.discard()
            raise
        return Compacted(
            files_before=len(paths),
            files_after=len(staged),
            rows=sum(file.rows for file in staged),
            marked_resent=self._marked,
            bytes_before=sum(file.size for file in group.files),
            bytes_after=sum(file.size for file in staged),
        )

    def _lineage(self) -> frozenset[str]:
        """Return the files that these files replaced when they were written."""
        names: frozenset[str] = frozenset()
        for file in self._group.files:
            with self._open(file) as parquet:
                lineage = lineage_of(parquet)
            names |= lineage.names if lineage else frozenset()
        return names

    def _open(self, file: LiveFile) -> pq.ParquetFile:
        return self.lake.open_parquet(self._table.name, file.path)

    def _marked_rows(self, rows: pa.Table) -> pa.Table:
        if self._identity is None:
            return rows
        marked = mark_resent(rows, self._identity)
        before, after = (np.count_nonzero(np.asarray(each[RESENT])) for each in (rows, marked))
        self._marked += int(after - before)
        return marked

    def _sorted_rows(self) -> Iterator[pa.Table]:
        rows = sum(file.rows for file in self._group.files)
        if not self._keys:
            return self._rows()
        sorter = Sorter(self._keys, self._ties, self._spill)
        return sorter.sort(self._rows(), self._sample(rows), rows)

    def _rows(self) -> Iterator[pa.Table]:
        """Yield the rows of all files, some at a time, with all columns but the partition's."""
        for file in self._group.files:
            with self._open(file) as parquet:
                for batch in parquet.iter_batches(_batch_rows(parquet), use_threads=False):
                    yield _as(self._schema, pa.Table.from_batches([batch]))

    def _sample(self, rows: int) -> pa.Table:
        """Return the keys of some rows, from all files."""
        every = max(rows // SAMPLE_ROWS, 1)
        schema = pa.schema([self._schema.field(key) for key in self._keys])
        sampled, before = [], 0
        for file in self._group.files:
            with self._open(file) as parquet:
                for batch in parquet.iter_batches(columns=self._keys, use_threads=False):
                    keys = _as(schema, pa.Table.from_batches([batch]))
                    sampled.append(sample_of(keys, self._keys, before, every))
                    before += keys.num_rows
        return pa.concat_tables(sampled)


def _batch_rows(parquet: pq.ParquetFile) -> int:
    """Return how many rows are about `BATCH_BYTES`, estimated from the first rows.

    Sizes in the footer do not help: repeated texts unpack to twenty times their size there.
    """
    for first in parquet.iter_batches(PROBED_ROWS, use_threads=False):
        rows: int = BATCH_BYTES * first.num_rows // max(first.nbytes, 1)
        return max(rows, PROBED_ROWS // 4)
    return PROBED_ROWS


def _as(schema: pa.Schema, rows: pa.Table) -> pa.Table:
    """Return the rows with all columns of the table today; missing ones are NULL."""
    columns = [
        rows[field.name].cast(field.type)
        if field.name in rows.column_names
        else pa.nulls(rows.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


@contextmanager
def _spill_folder(state: Path) -> Iterator[Path]:
    """Yield an empty folder on the local disk, which is removed afterwards."""
    folder = state / SPILL_FOLDER
    shutil.rmtree(folder, ignore_errors=True)  # left by a killed process; the lock is held
    make_folder(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _base_name(file: LiveFile) -> str:
    return file.path.rpartition("/")[2]


def _planned(group: CompactionGroup) -> Compacted:
    return Compacted(
        files_before=len(group.files),
        rows=sum(file.rows for file in group.files),
        bytes_before=sum(file.size for file in group.files),
    )


def _progress(table: str, group: CompactionGroup, done: Compacted, *, dry_run: bool) -> str:
    what = f"{table} {group.date or ''}".strip()
    size = f"{len(group.files)} files, {sum(file.size for file in group.files) / 1e6:.1f} MB"
    if dry_run:
        return f"{what}: {size} to compact"
    if done.skipped:
        return (
            f"{what}: {size} skipped until next time: "
            "another writer changed it, or not enough disk space"
        )
    return f"{what}: {size} → {done.files_after} files, {done.bytes_after / 1e6:.1f} MB"
