"""Files → the lake, each span and verdict once; a repeated import adds only new items.

A span is known by its content hash, which covers its ids, all its fields, resource and scope. Log
records have no ids, so equal ones are counted: what a file has more than the lake is added.
`importing/` reads the files of every format as requests and verdicts. Imported items take the
collector's way: records with rising sequence numbers, rows, synced files, a commit with an
application transaction.
"""

import fcntl
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.encoding.otlp import Encoding, ExportRequest, Signal
from tracegrade_collector.errors import ImportBusy, NotRedacted
from tracegrade_collector.importing.fitting import fitting
from tracegrade_collector.importing.import_part import ImportPart, ReadOptions
from tracegrade_collector.importing.known_formats import read_file
from tracegrade_collector.importing.run_addresses import runs_of
from tracegrade_collector.importing.verdict_rows import BATCH_ROWS, VerdictRecord, add_verdicts
from tracegrade_collector.redact.redaction import REDACTED, Redactor
from tracegrade_collector.rows.rows import Record, log_rows, span_rows
from tracegrade_collector.rows.shortening import NotedShortening, Shorten
from tracegrade_collector.rows.wire import repeated_bytes
from tracegrade_lake import RAW_LOGS, RAW_SPANS, Lake, Table
from tracegrade_lake.files import FILE_MODE
from tracegrade_lake.lake_root import writing_to

COLLECTOR_ID = "import"
LOCK_NAME = "import.lock"
BATCH_BYTES = 64 * 2**20
"""Bytes per commit: requests as protobuf, plus the parts that their rows repeat."""

HASH = "content_hash"


def rows_app_id(signal: Signal) -> str:
    """Return the application whose version in a raw table is how many rows were imported."""
    return f"{COLLECTOR_ID}/{signal}/rows"


@dataclass
class Imported:
    """Counts of all items in the files (added + known + rejected), and the faults."""

    added: Counter[Signal] = field(default_factory=Counter)
    known: Counter[Signal] = field(default_factory=Counter)
    """In the lake before, or a second time in the files."""

    rejected: Counter[str] = field(default_factory=Counter)
    """By reason."""

    faults: int = 0
    """Files or lines that could not be read."""

    redacted: Counter[str] = field(default_factory=Counter)
    """Redacted values in added items, by rule."""

    verdicts: Counter[str] = field(default_factory=Counter)
    """How many were added, replaced or known."""

    understood: Counter[str] = field(default_factory=Counter)
    """Understood content by kind: `tool calls`."""

    ignored: Counter[str] = field(default_factory=Counter)
    """Content that was not understood, by kind: `content blocks of type 'image'`."""

    recognized: Counter[str] = field(default_factory=Counter)
    """Files by the format they were taken for, with the reason."""

    unnamed_runs: int = 0
    """Runs that name neither an agent nor a release."""


def import_files(
    lake: Lake,
    paths: Iterable[Path],
    note: Callable[[str], None],
    config: CollectorConfig | None = None,
    reading: ReadOptions | None = None,
    show: Callable[[str], object] = lambda _: None,
) -> Imported:
    """Add what the lake lacks of these files, redacted, and return the counts.

    Args:
        lake: Where to.
        paths: Files of a format that `importing/` knows; compressed or not.
        note: Gets one line for each file or line that cannot be read, or has rejected items.
        config: How to redact; with the default options if absent.
        reading: In which format, and where fields stand; found by content if absent.
        show: Gets a line about how far the import is, now and then.

    Raises:
        BadSecret: The file with the secret of pseudonyms cannot be used.
        ImportBusy: Another import into this lake is running.
        NotRedacted: Redaction failed; the rows concerned are not in the lake.
    """
    imported = Imported()
    with _only_import(lake):
        redactor = Redactor.from_options(config or CollectorConfig(), lake.state)
        batches = {signal: _Batch(lake, signal, redactor, imported) for signal in Signal}
        verdicts = _Verdicts(lake, redactor, imported, note)
        seq = max(batch.landed_seq for batch in batches.values())
        for file, path in enumerate(paths):  # a path may be given twice
            for number, part in enumerate(read_file(path, reading or ReadOptions()), start=1):
                show(f"importing {path}: {number}")
                _count(part, imported, note)
                verdicts.add(part)
                if verdicts.count >= BATCH_ROWS:
                    _flush(batches, verdicts)
                if part.request is not None and part.signal is not None:
                    for request in fitting(part.request, part.signal):
                        seq += 1
                        record = _record(seq, part.signal, request, part.is_repaired)
                        batches[part.signal].add(record, file)
        _flush(batches, verdicts)
    return imported


def _flush(batches: Mapping[Signal, "_Batch"], verdicts: "_Verdicts") -> None:
    """Write everything; spans come first, since verdicts may name them by their task."""
    for batch in batches.values():
        batch.flush()
    verdicts.flush()


@contextmanager
def _only_import(lake: Lake) -> Iterator[None]:
    """Hold the lock that keeps sequence numbers rising; it goes with the process."""
    with writing_to(lake.state):
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        descriptor = os.open(lake.state / LOCK_NAME, flags, FILE_MODE)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        msg = f"another import into {lake.location} is running; wait for it to end"
        raise ImportBusy(msg) from None
    finally:
        os.close(descriptor)


def _count(part: ImportPart, imported: Imported, note: Callable[[str], None]) -> None:
    """Count the content of a part, and note its losses."""
    imported.understood.update(part.understood)
    imported.ignored.update(part.ignored)
    imported.unnamed_runs += part.unnamed_runs
    if part.recognized:
        imported.recognized[part.recognized] += 1
    for line in part.notes:
        note(f"{part.location}: {line}")
    if part.fault:
        imported.faults += 1
        note(f"{part.location}: {part.fault}")
    for reason, count in part.rejections:
        imported.rejected[reason] += count
        note(f"{part.location}: {count} rejected: {reason}")


def _record(seq: int, signal: Signal, request: ExportRequest, is_repaired: bool) -> Record:
    body = request.SerializeToString()
    return Record(seq, time.time_ns(), signal, Encoding.PROTOBUF, "", body, is_repaired)


class _Batch:
    """Requests of one signal, from one file or several, that are committed together."""

    def __init__(self, lake: Lake, signal: Signal, redactor: Redactor, imported: Imported) -> None:
        self._lake = lake
        self._redactor = redactor
        self._signal = signal
        self._imported = imported
        self._table, self._rows = _TABLES[signal]
        self._app_id = f"{COLLECTOR_ID}/{signal}"
        self.landed_seq = lake.transaction_version(self._table.name, self._app_id) or 0
        self._records: list[Record] = []
        self._bytes = 0
        self._file_of_seq: dict[int, int] = {}
        self._file: int | None = None
        self._seen_in_file: Counter[str] = Counter()

    def add(self, record: Record, file: int) -> None:
        """Take a request of the file of this number, and commit if there is enough."""
        self._records.append(record)
        self._file_of_seq[record.seq] = file
        self._bytes += len(record.body) + repeated_bytes(record.body)
        if self._bytes >= BATCH_BYTES:
            self.flush()

    def flush(self) -> None:
        """Commit the rows that the lake lacks."""
        if not self._records:
            return
        first, last = self._records[0].seq, self._records[-1].seq
        shorten = NotedShortening(self._redactor.shortened)
        rows = self._rows(self._records, COLLECTOR_ID, shorten)
        rows = self._clean(rows, any_shortened=shorten.was_needed)
        new = rows.filter(pa.array(self._is_new(rows), pa.bool_()))
        self._imported.redacted.update(_redactions(new))
        if new.num_rows:
            staged = self._lake.stage(self._table, new, f"{COLLECTOR_ID}-{first}-{last}")
            counted = self._counted(new.num_rows)
            self._lake.add_files(self._table, staged, self._app_id, last, also=counted)
        self._imported.added[self._signal] += new.num_rows
        self._imported.known[self._signal] += rows.num_rows - new.num_rows
        self._records, self._bytes, self._file_of_seq = [], 0, {}

    def _clean(self, rows: pa.Table, *, any_shortened: bool) -> pa.Table:
        try:
            touched = {each.seq for each in self._records if each.is_repaired or any_shortened}
            return self._redactor.redact_rows(rows, touched)
        except Exception as error:  # noqa: BLE001 - nothing passes that was not looked at
            kind = type(error).__name__
            msg = f"{rows.num_rows} rows could not be redacted ({kind}), so they are not imported"
            raise NotRedacted(msg) from None

    def _counted(self, added: int) -> dict[str, int]:
        """Return how many rows all imports have added then; nothing if some went uncounted."""
        name, app_id = self._table.name, rows_app_id(self._signal)
        before = self._lake.transaction_version(name, app_id)
        if before is None and self._lake.transaction_version(name, self._app_id) is not None:
            return {}
        return {app_id: (before or 0) + added}

    def _is_new(self, rows: pa.Table) -> list[bool]:
        hashes = rows[HASH].to_pylist()
        landed = _counts_in_lake(self._lake, self._table, hashes)
        return [
            self._takes(landed, each, self._file_of_seq[seq])
            for each, seq in zip(hashes, rows["wal_seq"].to_pylist(), strict=True)
        ]

    def _takes(self, landed: Counter[str], content_hash: str, file: int) -> bool:
        """Return whether the lake lacks this row, and if so count it as landed."""
        if file != self._file:
            self._file = file
            self._seen_in_file.clear()
        self._seen_in_file[content_hash] += 1
        copies = 1 if self._signal is Signal.TRACES else self._seen_in_file[content_hash]
        is_new = copies > landed[content_hash]
        landed[content_hash] += is_new
        return is_new


def _redactions(rows: pa.Table) -> Counter[str]:
    """Return how many values of the rows redaction changed, by rule."""
    changes = pc.list_flatten(rows[REDACTED]).combine_chunks()
    counted = pc.value_counts(changes.field("rule")).to_pylist()
    return Counter({each["values"]: each["counts"] for each in counted})


class _Verdicts:
    """Verdicts from one file or several that are written together."""

    def __init__(
        self, lake: Lake, redactor: Redactor, imported: Imported, note: Callable[[str], None]
    ) -> None:
        self._lake = lake
        self._redactor = redactor
        self._imported = imported
        self._note = note
        self._parts: list[ImportPart] = []
        self.count = 0

    def add(self, part: ImportPart) -> None:
        """Take the verdicts of a part."""
        if part.verdicts:
            self._parts.append(part)
            self.count += len(part.verdicts)

    def flush(self) -> None:
        """Write the verdicts that the lake lacks; those whose run is not found are noted."""
        if not self._parts:
            return
        found = runs_of(self._lake, (part.address for part in self._parts if part.address))
        verdicts: list[VerdictRecord] = []
        for part in self._parts:
            runs = found[part.address] if part.address else None
            if isinstance(runs, str):
                self._imported.faults += 1
                self._note(f"{part.location}: {runs}")
            elif runs is None:
                verdicts += part.verdicts
            else:
                verdicts += [
                    {**each, "trajectory_id": run} for each in part.verdicts for run in runs
                ]
        self._imported.verdicts.update(add_verdicts(self._lake, verdicts, self._redactor))
        self._parts, self.count = [], 0


def _counts_in_lake(lake: Lake, table: Table, hashes: Iterable[str]) -> Counter[str]:
    """Return how often the lake has each of the hashes; one file at a time in memory."""
    selected = pa.array(set(hashes), pa.string())
    counts: Counter[str] = Counter()
    for file in lake.newest_files(table.name):
        column = file.read(columns=[HASH])[HASH]
        counts.update(column.filter(pc.is_in(column, value_set=selected)).to_pylist())
    return counts


_TABLES: dict[Signal, tuple[Table, Callable[[Sequence[Record], str, Shorten], pa.Table]]] = {
    Signal.TRACES: (RAW_SPANS, span_rows),
    Signal.LOGS: (RAW_LOGS, log_rows),
}
