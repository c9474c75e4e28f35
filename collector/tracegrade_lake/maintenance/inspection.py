"""Compares a table's files with its log: are they present, intact and as the log describes them?

Each fault is one line: fact, value, way out. A file that has left the table by the time that it is
read is ignored, so nothing is reported that is merely in progress.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tracegrade_lake.commit import LiveFile
from tracegrade_lake.errors import LakeDamaged
from tracegrade_lake.lake import Lake
from tracegrade_lake.maintenance.removals import rows_by_collector
from tracegrade_lake.schema import RAW_SPANS
from tracegrade_lake.snapshot import DECLARED, Snapshot
from tracegrade_lake.storage import STAGE_FOLDER

ORPHAN_AGE: Final = timedelta(days=1)
"""Younger files may be about to be committed."""

BATCH_ROWS: Final = 8_192
HASH, RESENT = "content_hash", "resent"
_UNREADABLE: Final = (OSError, pa.ArrowException)


class FileState(NamedTuple):
    """Rows and faults found in one file."""

    rows: Counter[str]
    """By collector id."""

    wrong: list[str]


@dataclass
class TableState:
    """Files, rows and faults found in one version of a table."""

    version: int = 0
    files: int = 0
    bytes: int = 0
    rows: Counter[str] = field(default_factory=Counter)
    """By collector id."""

    wrong: list[str] = field(default_factory=list)
    orphans: int = 0
    """Files that are older than a day and in no remaining version."""

    orphan_bytes: int = 0


class FileMoved(Exception):
    """A file left the table while it was being inspected."""


class Inspector:
    """Looks at the files of a lake's tables; at each once, since files do not change."""

    def __init__(self, lake: Lake, note: Callable[[str], None], *, deep: bool = False) -> None:
        """Prepare to read footers; if `deep`, every page of every column."""
        self._lake = lake
        self._note = note
        self._deep = deep
        self._seen: dict[tuple[str, str], FileState] = {}

    def inspect(self, now: Snapshot) -> TableState:
        """Return the state of one version of a table.

        Raises:
            Moved: A file of it was removed; a newer version does not have the file.
        """
        name = now.table.name
        state = TableState(now.version, len(now.files), sum(file.size for file in now.files))
        stored = {file.path: file.size for file in self._lake.stored_files(name)}
        for number, file in enumerate(now.files, start=1):
            self._note(f"{name}: {number} of {len(now.files)} files")
            found = self._state_of(now, file, stored.get(file.path))
            state.rows += found.rows
            state.wrong += found.wrong
        if not self._lake.storage.table(name).is_whole(now.version):
            state.wrong.append(
                f"the newest commit of {name} ({now.version}) is torn; `tracegrade lake repair` "
                "sets it aside and finds its rows again"
            )
        self._add_orphans(now, state)
        return state

    def _state_of(self, now: Snapshot, file: LiveFile, size: int | None) -> FileState:
        key = now.table.name, file.path
        if key not in self._seen:
            try:
                self._seen[key] = self._inspect_file(now, file, size)
            except (LakeDamaged, *_UNREADABLE) as error:
                self._check_is_live(*key)
                line = f"{_location(self._lake, *key)}: {_first_line(error)}; see `lake repair`"
                return FileState(Counter(), [line])
        return self._seen[key]

    def _check_is_live(self, name: str, path: str) -> None:
        if path not in {file.path for file in self._lake.live_files(name)}:
            raise FileMoved(path)

    def _inspect_file(self, now: Snapshot, file: LiveFile, size: int | None) -> FileState:
        name = now.table.name
        parquet = self._lake.open_parquet(name, file.path)
        wrong = [*_differences(now, file, size, parquet)]
        if self._deep:
            wrong += _page_faults(parquet, name)
        location = _location(self._lake, name, file.path)
        return FileState(rows_by_collector(parquet), [f"{location} {fact}" for fact in wrong])

    def _add_orphans(self, now: Snapshot, state: TableState) -> None:
        name = now.table.name
        before_ms = (datetime.now(UTC) - ORPHAN_AGE).timestamp() * 1000
        old = [each for each in self._lake.stored_files(name) if each.modified_ms < before_ms]
        if not old:
            return
        known = {file.path for file in self._lake.live_files(name)} | now.removed_paths()
        for file in old:
            is_staged = file.path.startswith(f"{STAGE_FOLDER}/")
            if is_staged or not (file.path.startswith("_") or file.path in known):
                state.orphans += 1
                state.orphan_bytes += file.size


def _differences(
    now: Snapshot, file: LiveFile, size: int | None, parquet: pq.ParquetFile
) -> Iterator[str]:
    """Yield the differences between a file and its entry in the log."""
    if size is not None and size != file.size:
        yield f"has {size} bytes, the table's log says {file.size}; see `lake repair`"
    if parquet.metadata.num_rows != file.rows:
        rows = parquet.metadata.num_rows
        yield f"has {rows} rows, the table's log says {file.rows}; see `lake repair`"
    if now.table.name not in DECLARED:
        return  # higher layers rewrite these whenever their columns change
    declared = now.table.arrow()
    for column in parquet.schema_arrow:
        if column.name not in declared.names:
            yield f"has a column '{column.name}' that is not declared; no reader sees it"
        elif column.type != declared.field(column.name).type:
            declared_type = declared.field(column.name).type
            yield f"has column '{column.name}' as {column.type}, declared is {declared_type}"


def _page_faults(parquet: pq.ParquetFile, name: str) -> Iterator[str]:
    """Yield the faults inside a file; reading the pages raises if one cannot be decoded."""
    hashes: list[pa.Array] = []
    for batch in parquet.iter_batches(BATCH_ROWS):
        if name == RAW_SPANS.name:
            rows = pa.table([batch[HASH], batch[RESENT]], names=[HASH, RESENT])
            hashes += rows.filter(pc.invert(rows[RESENT]))[HASH].chunks
    if hashes:
        all_hashes = pa.chunked_array(hashes)
        repeated = len(all_hashes) - pc.count_distinct(all_hashes).as_py()
        if repeated:
            yield f"has {repeated} duplicate rows not marked as resent; see `lake compact`"


def _location(lake: Lake, name: str, path: str) -> str:
    return f"{lake.location}/{name}/{path}"


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
