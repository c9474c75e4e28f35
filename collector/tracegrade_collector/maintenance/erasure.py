"""Erases traces from a lake without leaving a byte of them, for `tracegrade lake delete`."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.land.dead_letters import FOLDER as DEAD_LETTERS
from tracegrade_collector.land.quarantine import FOLDER as QUARANTINE
from tracegrade_collector.maintenance import leftovers
from tracegrade_collector.maintenance.records_of_spans import records_of_spans
from tracegrade_collector.maintenance.wait_until_landed import wait_until_landed
from tracegrade_lake import RAW_LOGS, RAW_SPANS, Lake, Table
from tracegrade_lake.crash_points import reach
from tracegrade_lake.errors import BadCondition
from tracegrade_lake.files import write_whole
from tracegrade_lake.lake_root import writing_to
from tracegrade_lake.locks import FolderLock
from tracegrade_lake.maintenance.condition import RowCondition
from tracegrade_lake.maintenance.maintenance_lock import LOCK_NAME as MAINTENANCE_LOCK
from tracegrade_lake.maintenance.removals import note_removal
from tracegrade_lake.maintenance.row_removal import (
    Removed,
    put_aside,
    remove_leftovers,
    remove_rows,
    remove_staged,
)
from tracegrade_lake.maintenance.row_selection import RowSelection, matching_values, rows_of_traces
from tracegrade_lake.snapshot import snapshot
from tracegrade_lake.storage import Lock

RAW: Final = (RAW_SPANS, RAW_LOGS)
SHARED_LOCKS: Final = ("score.lock", "build.lock")
"""Locks for all machines that share the lake, in the order of a scoring run."""
LOCK_NAMES: Final = ("delete.lock", "import.lock", *SHARED_LOCKS, MAINTENANCE_LOCK)
"""Locks for an erasure: an import, a build, a scoring run or a compaction could write back rows
that it read before. If it were killed, they would be in a file of no table.
"""

BEGUN_NAME: Final = "erasing.json"
"""The ids of the traces to erase; removed when they are erased."""


@dataclass
class Erased:
    """Counts of what was erased, or would be in a dry run."""

    traces: int = 0
    tables: dict[str, Removed] = field(default_factory=dict)
    pending_requests: int = 0
    """Requests of the log with data of the traces, in a dry run; else they have landed."""

    quarantined_files: int = 0
    dead_letters: int = 0
    spilled_files: int = 0
    """Intermediate data of killed processes, and old copies of built tables."""

    @property
    def rows(self) -> int:
        """Rows of all tables."""
        return sum(removed.rows for removed in self.tables.values())

    @property
    def unreadable(self) -> list[str]:
        """Files outside the tables that cannot be read, so their content is unknown."""
        return [path for removed in self.tables.values() for path in removed.unreadable]


class Erasure:
    """One erasure, or a dry run of it."""

    def __init__(
        self,
        lake: Lake,
        config: CollectorConfig,
        note: Callable[[str], None],
        *,
        dry_run: bool = False,
    ) -> None:
        """Prepare an erasure; `erase` runs it.

        Args:
            lake: The lake.
            config: Options for landing the log of a dead collector.
            note: Gets a line about each step.
            dry_run: Whether to count only, and touch nothing. Then unlanded requests are searched
                for traces, but not by condition.
        """
        self._lake = lake
        self._config = config
        self._note = note
        self._dry_run = dry_run
        self._started_ns = time.time_ns()
        self._erased = Erased()

    def _lock(self, name: str) -> Lock:
        """Return one of this machine, or of all machines that share the lake."""
        if name in SHARED_LOCKS:
            return self._lake.lock(name.removesuffix(".lock"))
        return FolderLock(self._lake.state / name)

    def erase(self, trace_ids: Iterable[str], condition: RowCondition | None = None) -> Erased:
        """Erase traces, traces with a row that fulfills the condition, and such log records.

        Log records that became spans of the traces are erased with them.

        Args:
            trace_ids: Lower hex.
            condition: Also erase the log records without a trace that fulfill it.

        Raises:
            BadCondition: No table has all the columns of the condition.
            CollectorError: The lake or the log failed; calling again continues.
            LakeUnwritable: The disk refused; calling again continues.
        """
        tables = _tables_of(condition) if condition else []  # refused before anything is done
        with ExitStack() as locks:
            locks.enter_context(writing_to(self._lake.state))
            if not self._dry_run:
                for name in LOCK_NAMES:
                    locks.enter_context(_hold_lock(self._lock(name), name, self._note))
                wait_until_landed(self._lake, self._config, self._note)
            begun = self._lake.state / BEGUN_NAME
            ids = {*trace_ids, *_begun(begun)}
            if condition:
                ids |= self._traces_where(condition, tables)
            self._erased.traces = len(ids)
            if not self._dry_run:
                write_whole(begun, json.dumps(sorted(ids)).encode())
                reach("erasure_begun")
            self._erase_from_tables(sorted(ids), condition)
            self._erase_beside_tables(ids)
            if not self._dry_run:
                leftovers.remove_files([begun])
        return self._erased

    def _traces_where(self, condition: RowCondition, tables: Sequence[Table]) -> set[str]:
        """Return the ids of the traces with a row that fulfills the condition."""
        found: set[str] = set()
        for table in tables:
            self._note(f"{table.name}: looking for rows")
            found |= matching_values(self._lake, table, condition, "trace_id")
        return found

    def _erase_from_tables(self, trace_ids: Sequence[str], condition: RowCondition | None) -> None:
        before_ms = self._started_ns // 1_000_000
        records = records_of_spans(self._lake, trace_ids)
        # Logs first: an erasure that continues finds their conversations in the spans.
        for name in sorted(self._lake.tables(), key=lambda name: name != RAW_LOGS.name):
            selection = _selection(self._lake, name, trace_ids, condition, records)
            if selection is None:
                continue
            how = {"dry_run": self._dry_run}
            removed = remove_rows(self._lake, name, selection, self._note, **how)
            beside = remove_leftovers(self._lake, name, selection, before_ms, **how)
            staged = remove_staged(self._lake, name, selection, before_ms, **how)
            removed.leftovers = beside.leftovers + staged
            removed.unreadable = beside.unreadable
            self._erased.tables[name] = removed

    def _erase_beside_tables(self, trace_ids: Set[str]) -> None:
        state, erased = self._lake.state, self._erased
        files = leftovers.quarantined(state, trace_ids)
        letters = dict(leftovers.dead_letters(state, trace_ids))
        spilled = leftovers.spilled(state, self._started_ns)
        spilled += put_aside(self._lake, sorted(trace_ids))
        erased.quarantined_files, erased.spilled_files = len(files), len(spilled)
        erased.dead_letters = sum(letters.values())
        if self._dry_run:
            erased.pending_requests = leftovers.pending_requests(state, trace_ids)
            return
        self._note_removal(QUARANTINE, Counter({path: 1 for path in files}))
        self._note_removal(DEAD_LETTERS, Counter(letters))
        reach("aside_counted")
        leftovers.remove_files([*files, *spilled])
        reach("aside_removed")
        for path in letters:
            leftovers.remove_letters(path, trace_ids)

    def _note_removal(self, name: str, by_file: Counter[Path]) -> None:
        counts: Counter[str] = Counter()
        for path, count in by_file.items():
            counts[leftovers.collector_of(path)] += count
        if counts:
            note_removal(self._lake, name, counts, "delete")


def _tables_of(condition: RowCondition) -> list[Table]:
    tables = [table for table in RAW if condition.applies_to(table)]
    if not tables:
        names = " and ".join(table.name for table in RAW)
        msg = f"--where: none of {names} has all of {', '.join(sorted(condition.columns))}"
        raise BadCondition(msg)
    return tables


@contextmanager
def _hold_lock(lock: Lock, name: str, note: Callable[[str], None]) -> Iterator[None]:
    """Hold a lock, after waiting until its holder releases it."""
    with closing(lock):
        if not lock.try_acquire():
            note(f"waiting for {name} to be released")
            lock.acquire()
        yield


def _begun(path: Path) -> list[str]:
    """Return the ids of an erasure that was cut off."""
    with suppress(FileNotFoundError):
        ids: list[str] = json.loads(path.read_bytes())
        return ids
    return []


def _selection(
    lake: Lake,
    name: str,
    trace_ids: Sequence[str],
    condition: RowCondition | None,
    records: RowCondition | None,
) -> RowSelection | None:
    now = snapshot(lake, name)
    if now is None:
        return None
    if name != RAW_LOGS.name:
        return rows_of_traces(now.table, trace_ids)
    applies = condition is not None and condition.applies_to(RAW_LOGS)
    return rows_of_traces(now.table, trace_ids, condition if applies else None, records)
