"""Decides from the files of a raw table alone which ones count, to rebuild a lost log.

Names and footers contain everything: a landed file covers the sequence numbers of its collector,
and a rewritten file names the files it replaces (`rewriting.py`). Files that were replaced, or
that an interrupted landing left, are still on the disk and must not count a second time:

- If all files of a rewrite are present, they count and the files they replaced do not. If two
  rewrites hold the same rows, the newer one counts.
- If two landed files hold the same sequence numbers, the newer one counts: the older file is
  from an attempt that a crash interrupted and that was repeated.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tracegrade_lake.errors import LakeDamaged
from tracegrade_lake.lake import Lake
from tracegrade_lake.maintenance.rewriting import ERASED_FROM, Lineage, lineage_of
from tracegrade_lake.staging import FileStats
from tracegrade_lake.storage import StoredFile

REQUEST = ("collector_id", "wal_seq")
Requests = Mapping[str, np.ndarray]
"""Sequence numbers, ascending and each once, by collector id."""


@dataclass(frozen=True)
class FoundFile:
    """A data file of a raw table in its folder."""

    path: str
    size: int
    modified_ms: int
    stats: str
    """Delta's statistics, JSON."""

    rows: int
    requests: Requests
    lineage: Lineage | None
    erased_from: frozenset[str]

    @property
    def date(self) -> str:
        """Its partition."""
        return self.path.partition("/")[0].removeprefix("date=")


class FoundFiles(NamedTuple):
    """The data files found in a table's folder."""

    files: list[FoundFile]
    unreadable: list[str]
    """Paths of files that are not, or no longer, readable Parquet files."""


def find_files(lake: Lake, name: str) -> FoundFiles:
    """Read each data file's footer, and the columns that identify the request."""
    found = FoundFiles([], [])
    for stored in lake.stored_files(name):
        if stored.path.startswith("date=") and stored.path.endswith(".parquet"):
            try:
                with lake.open_parquet(name, stored.path) as parquet:
                    found.files.append(_found_file(stored, parquet))
            except (LakeDamaged, OSError, pa.ArrowException):
                found.unreadable.append(stored.path)
    return found


def choose(files: Iterable[FoundFile]) -> list[FoundFile]:
    """Return the files that count, by path."""
    by_date: dict[str, list[FoundFile]] = {}
    for file in files:
        by_date.setdefault(file.date, []).append(file)
    chosen = [file for of_date in by_date.values() for file in _choose_of_date(of_date)]
    return sorted(chosen, key=lambda file: file.path)


def last_requests(files: Iterable[FoundFile]) -> dict[str, int]:
    """Return the highest sequence number of each collector that any of the files holds."""
    last: dict[str, int] = {}
    for file in files:
        for collector, seqs in file.requests.items():
            last[collector] = max(int(seqs[-1]), last.get(collector, 0))
    return last


def _found_file(stored: StoredFile, parquet: pq.ParquetFile) -> FoundFile:
    stats, requests = FileStats(), _Requests()
    for number in range(parquet.num_row_groups):
        columns = [*REQUEST, "received_ns", "start_ns", "time_ns"]
        rows = parquet.read_row_group(number, columns=columns, use_threads=False)
        stats.add(rows)
        requests.add(rows)
    erased = json.loads((parquet.metadata.metadata or {}).get(ERASED_FROM, b"[]"))
    return FoundFile(
        stored.path,
        stored.size,
        stored.modified_ms,
        stats.text(),
        parquet.metadata.num_rows,
        requests.seqs,
        lineage_of(parquet),
        frozenset(erased),
    )


class _Requests:
    """Gathers the requests of some rows."""

    def __init__(self) -> None:
        self.seqs: dict[str, np.ndarray] = {}

    def add(self, rows: pa.Table) -> None:
        for collector in pc.unique(rows["collector_id"]).to_pylist():
            of_it = rows.filter(pc.equal(rows["collector_id"], collector))["wal_seq"]
            self.merge({collector: np.asarray(of_it)})

    def merge(self, requests: Requests) -> None:
        for collector, seqs in requests.items():
            known = self.seqs.get(collector, np.zeros(0, np.int64))
            self.seqs[collector] = np.union1d(known, seqs)

    def holds_any(self, requests: Requests) -> bool:
        return any(
            bool(np.isin(seqs, self.seqs[collector]).any())
            for collector, seqs in requests.items()
            if collector in self.seqs
        )


@dataclass
class _Chosen:
    """The files of one date that were found to count so far."""

    files: list[FoundFile] = field(default_factory=list)
    replaced: set[str] = field(default_factory=set)
    requests: _Requests = field(default_factory=_Requests)

    def take(self, files: list[FoundFile]) -> bool:
        """Count the files unless they were replaced, or their rows are held; return if so."""
        if all(file.path in self.replaced for file in files):
            return False
        requests = _Requests()
        for file in files:
            requests.merge(file.requests)
        if self.requests.holds_any(requests.seqs):
            return False
        self.files += files
        self.requests.merge(requests.seqs)
        return True


def _choose_of_date(files: list[FoundFile]) -> list[FoundFile]:
    replaced = {path for file in files for path in file.erased_from}
    files = [file for file in files if file.path not in replaced]
    present = {file.path for file in files}
    rewrites = sorted(_rewrites(files), key=_newest_ms, reverse=True)
    chosen = _Chosen()
    for parts in rewrites:
        names = frozenset().union(*(part.lineage.names for part in parts if part.lineage))
        can_be_undone = bool(names) and names <= present
        if (_is_complete(parts) or not can_be_undone) and chosen.take(parts):
            chosen.replaced |= names
    landed = [file for file in files if not file.lineage]
    for file in sorted(landed, key=lambda file: file.modified_ms, reverse=True):
        chosen.take([file])
    return chosen.files


def _rewrites(files: Iterable[FoundFile]) -> list[list[FoundFile]]:
    """Return the files of each rewrite, by number."""
    by_rewrite: dict[str, list[FoundFile]] = {}
    for file in files:
        if file.lineage:
            by_rewrite.setdefault(file.lineage.rewrite, []).append(file)
    return [
        sorted(parts, key=lambda file: file.lineage.part if file.lineage else 0)
        for parts in by_rewrite.values()
    ]


def _is_complete(parts: list[FoundFile]) -> bool:
    lineages = [part.lineage for part in parts if part.lineage]
    numbers = [lineage.part for lineage in lineages]
    return numbers == list(range(len(parts))) and lineages[-1].is_last


def _newest_ms(parts: list[FoundFile]) -> int:
    return max(file.modified_ms for file in parts)
