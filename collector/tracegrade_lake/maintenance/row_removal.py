"""Removes rows from tables: rewrites the files that hold them and deletes the old ones.

Files never change, so one that was found to hold none of the rows (`row_selection.py`) is not read
again.
"""

import json
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from tracegrade_lake.backoff import Backoff
from tracegrade_lake.columns import Column, Table, with_columns
from tracegrade_lake.commit import LiveFile
from tracegrade_lake.crash_points import reach
from tracegrade_lake.errors import FilesReplaced, LakeDamaged
from tracegrade_lake.files import is_older
from tracegrade_lake.lake import Lake
from tracegrade_lake.maintenance.removals import collectors, recording
from tracegrade_lake.maintenance.rewriting import ERASED_FROM, LINEAGE
from tracegrade_lake.maintenance.row_selection import (
    BATCH_ROWS,
    UNREADABLE,
    RowSelection,
    count_rows,
    is_torn_or_holds,
    reading,
    rows_of_traces,
    stored_parquet,
)
from tracegrade_lake.snapshot import Snapshot, snapshot
from tracegrade_lake.storage import LOG_FOLDER, PUT_ASIDE_FOLDER, STAGE_FOLDER, StagedFile

FILES_PER_COMMIT: Final = 64
PATIENCE_SECS: Final = 120.0
"""Longest time without progress while other writers replace files during a pass over the table.

It is longer than one group of files takes: a compaction that wins continues with other files.
"""


@dataclass
class Removed:
    """Rows and files removed from one table, or that a dry run would remove."""

    rows: int = 0
    files: int = 0
    """Files that were rewritten without the rows, or dropped because nothing else was in them."""

    leftovers: int = 0
    """Files that no longer belong to the table and held such rows."""

    unreadable: list[str] = field(default_factory=list)
    """Leftovers that cannot be read, so that their content is unknown."""


def remove_rows(
    lake: Lake,
    name: str,
    selection: RowSelection,
    note: Callable[[str], None],
    *,
    dry_run: bool = False,
) -> Removed:
    """Rewrite the files of a table that hold selected rows, and remove the old files.

    Other processes may add, compact or expire files at the same time; readers of the old files
    fail with a missing file. It may be interrupted at any point and called again.

    Raises:
        CommitFailed: Other writers were first each time.
        FilesReplaced: Other writers replaced its files again and again.
        LakeDamaged: A file of the table cannot be read.
        LakeUnwritable: The disk refused.
    """
    removed = Removed()
    clean: set[str] = set()
    backoff = Backoff(PATIENCE_SECS)
    while True:
        done_before = len(clean) + removed.files
        try:
            _remove_live(lake, name, selection, _Progress(clean, removed, note, dry_run))
        except FilesReplaced as error:
            if len(clean) + removed.files > done_before:
                backoff.restart()
            if not backoff.pause():
                msg = (
                    f"other writers replaced files of table {name} for {PATIENCE_SECS:.0f} s, "
                    "so rows are left in it; try again when fewer write to it"
                )
                raise FilesReplaced(msg) from error
            continue
        return removed


def remove_leftovers(
    lake: Lake, name: str, selection: RowSelection, before_ms: int, *, dry_run: bool = False
) -> Removed:
    """Remove files in a table's folder that do not belong to it and hold selected rows.

    Leaves staged files to `remove_staged`.

    Args:
        lake: The lake.
        name: The table's name.
        selection: The rows.
        before_ms: Only files older than this (ms since 1970 UTC): another writer may be about to
            commit a newer one.
        dry_run: Whether to count only.

    Returns:
        Counts in which `rows` and `files` are 0.
    """
    removed = Removed()
    stored = [each.path for each in stored_parquet(lake, name) if each.modified_ms < before_ms]
    live = {file.path for file in lake.live_files(name)}
    staged = f"{STAGE_FOLDER}/"
    for path in stored:
        if path not in live and not path.startswith(staged):
            _remove_leftover(lake, name, path, selection, removed, dry_run=dry_run)
    return removed


def _remove_leftover(
    lake: Lake, name: str, path: str, selection: RowSelection, removed: Removed, *, dry_run: bool
) -> None:
    try:
        found = count_rows(lake, name, path, selection)
    except LakeDamaged:
        removed.unreadable.append(f"{lake.location}/{name}/{path}")
        return
    removed.leftovers += bool(found)
    if found and not dry_run:
        lake.remove_files(name, [path])


def remove_staged(
    lake: Lake, name: str, selection: RowSelection, before_ms: int, *, dry_run: bool = False
) -> int:
    """Remove staged files of a table that hold selected rows or are torn; return the count.

    Such a file is useless: a writer that crashed while writing it begins again.
    """
    storage = lake.storage.table(name)
    staged = storage.stage_folder.glob("*.parquet")
    old = [path for path in staged if is_older(path, before_ms * 1_000_000)]
    selected_files = [path for path in old if is_torn_or_holds(path, selection)]
    for path in selected_files:
        if not dry_run:
            path.unlink(missing_ok=True)
    return len(selected_files)


def put_aside(lake: Lake, trace_ids: Sequence[str]) -> list[Path]:
    """Return files set aside by a repair that are torn or have rows of the traces.

    Such tables are built ones, which are built again from the remaining rows.
    """
    return [
        path
        for path in sorted((lake.state / PUT_ASIDE_FOLDER).rglob("*.parquet"))
        if path.parent.name != LOG_FOLDER and _is_of_traces(path, trace_ids)
    ]


def _is_of_traces(path: Path, trace_ids: Sequence[str]) -> bool:
    try:
        columns = [Column(each.name, each.type, "") for each in pq.read_schema(path)]
    except UNREADABLE:
        return True
    selection = rows_of_traces(Table(path.name, "", tuple(columns)), trace_ids)
    return selection is not None and is_torn_or_holds(path, selection)


class _Progress(NamedTuple):
    clean: set[str]
    """Paths of files known to hold no selected row."""

    removed: Removed
    note: Callable[[str], None]
    dry_run: bool


def _remove_live(lake: Lake, name: str, selection: RowSelection, progress: _Progress) -> None:
    now = snapshot(lake, name)
    if now is None:
        return
    batch: list[LiveFile] = []
    for number, file in enumerate(now.files, start=1):
        if file.path in progress.clean:
            continue
        found = count_rows(lake, name, file.path, selection)
        progress.note(f"{name}: {number} of {len(now.files)} files, {found} rows in this one")
        if not found:
            progress.clean.add(file.path)
        elif progress.dry_run:
            progress.removed.rows += found
            progress.removed.files += 1
        else:
            batch.append(file)
        if len(batch) == FILES_PER_COMMIT:
            _rewrite(lake, now, batch, selection, progress.removed)
            batch = []
    if batch:
        _rewrite(lake, now, batch, selection, progress.removed)


def _rewrite(
    lake: Lake, now: Snapshot, batch: Sequence[LiveFile], selection: RowSelection, removed: Removed
) -> None:
    """Put files without the selected rows in the place of these, and remove these for good."""
    name, staged, removed_counts = now.table.name, [], Counter[str]()
    for file in batch:
        survivor = stage_others(lake, now.table, file, selection, removed_counts)
        staged += [survivor] if survivor else []
    paths = [file.path for file in batch]
    with recording(lake, name, removed_counts, "delete") as transactions:
        lake.replace_files(now.table, paths, staged, transactions)
    reach("rows_replaced")
    lake.remove_files(name, paths)
    reach("files_removed")
    removed.rows += removed_counts.total()
    removed.files += len(batch)


def stage_others(
    lake: Lake,
    table: Table,
    file: LiveFile,
    selection: RowSelection,
    removed_counts: Counter[str] | None = None,
) -> StagedFile | None:
    """Write the other rows of a file as a new one.

    Args:
        lake: The table's.
        table: Its declaration.
        file: One of its files.
        selection: The rows that are left out.
        removed_counts: Counts them by collector.

    Returns:
        None if there are no others, unless the file's footer says which files it replaces.

    Raises:
        LakeDamaged: The file cannot be read.
    """
    partition = {column: text for column, text in file.partition.items() if text is not None}
    with reading(lake, table.name, file.path):
        source = lake.open_parquet(table.name, file.path)
        survivors = _survivors(
            source, table, selection, Counter() if removed_counts is None else removed_counts
        )
        return lake.stage_batches(
            table, partition, survivors, uuid.uuid4().hex, _lineage(source, file.path)
        )


def _lineage(source: pq.ParquetFile, path: str) -> dict[bytes, bytes]:
    """Return footer entries that name the files the source replaced, and the source."""
    footer = source.metadata.metadata or {}
    if LINEAGE not in footer:
        return {}
    erased = [*json.loads(footer.get(ERASED_FROM, b"[]")), path]
    return {LINEAGE: footer[LINEAGE], ERASED_FROM: json.dumps(erased).encode()}


def _survivors(
    file: pq.ParquetFile, table: Table, selection: RowSelection, removed_counts: Counter[str]
) -> Iterator[pa.Table]:
    columns = pa.schema([each for each in table.arrow() if each.name not in table.partition_by])
    for batch in file.iter_batches(BATCH_ROWS):
        rows = with_columns(table.named_today(pa.Table.from_batches([batch])), columns)
        removed_counts.update(collectors(rows.filter(selection.expression)))
        yield rows.filter(~selection.expression)
