"""From sealed log segments to rows of the lake, exactly once: the rounds of one collector's log.

One round: take sealed segments; write their spans and logs as synced Parquet files; commit all of
them per table, together with the highest sequence number (an application transaction); remove the
segments. A crash anywhere repeats the round: records up to the number that a table's log holds are
skipped, and files, which are named for their first record, replace those of the first try.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from tracegrade_collector import resent
from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.dead_letters import keep_refused
from tracegrade_collector.lake import RAW_LOGS, RAW_SPANS, Lake, StagedFile, Table
from tracegrade_collector.otlp import Signal
from tracegrade_collector.quarantine import Quarantine
from tracegrade_collector.resent import LandedRows
from tracegrade_collector.rows import log_rows, span_rows
from tracegrade_collector.sources import Record
from tracegrade_collector.wal import Damage, Logged, read_segment
from tracegrade_collector.wal_folder import WalFolder

log = logging.getLogger(__name__)


class Landing(NamedTuple):
    """Where and how one signal lands."""

    table: Table
    to_rows: Callable[[Iterable[Record], str], pa.Table]
    resent_by: Callable[[pa.Table], pa.Array]


LANDINGS = {
    Signal.TRACES: Landing(RAW_SPANS, span_rows, resent.place),
    Signal.LOGS: Landing(RAW_LOGS, log_rows, resent.request),
}


class SignalLander:
    """Lands the records of one signal in its table."""

    def __init__(
        self, lake: Lake, signal_: Signal, quarantine: Quarantine, config: CollectorConfig
    ) -> None:
        self._lake = lake
        self._signal = signal_
        self._quarantine = quarantine
        self._table, self._to_rows, resent_by = LANDINGS[signal_]
        self._app_id = f"{quarantine.collector_id}/{signal_}"
        self._landed_seq = lake.transaction_version(self._table.name, self._app_id) or 0
        self._landed_rows = LandedRows(config.resent_rows, resent_by)
        self._landed_rows.recall(lake.files(self._table.name))
        self._staged: list[StagedFile] = []

    def stage(self, logged: Sequence[Logged]) -> None:
        """Write the rows of some records as one file per date, unless they have landed already."""
        new = [
            each
            for each in logged
            if each.entry.signal is self._signal and each.seq > self._landed_seq
        ]
        if not new:
            return
        name = f"{self._quarantine.collector_id}-{new[0].seq:020d}"
        self._keep_refused(name, [_record(each) for each in new if each.entry.has_rejects])
        rows = self._landed_rows.mark(self._rows([_record(each) for each in new]))
        # Redaction comes here: `resent` compares rows as received, only clean ones are written.
        self._staged += self._lake.stage(self._table, rows, name)

    def _keep_refused(self, name: str, records: Sequence[Record]) -> None:
        try:
            keep_refused(self._lake.state, f"{name}-{self._signal}", records)
        except OSError:  # the disk, not a record: the round is repeated
            raise
        except Exception:  # as below
            log.exception("what was refused of %d records cannot be kept apart", len(records))
            for record in records:
                self._quarantine.keep_logged(record.seq, record.body, record.encoding)

    def _rows(self, records: Sequence[Record]) -> pa.Table:
        try:
            return self._to_rows(records, self._quarantine.collector_id)
        except Exception:  # whatever is wrong with one record must not stop all the others
            log.exception("some of %d records cannot be made rows; trying each", len(records))
            if len(records) > 1:
                return pa.concat_tables(self._rows([record]) for record in records)
            (record,) = records
            self._quarantine.keep_logged(record.seq, record.body, record.encoding)
            return self._to_rows([], self._quarantine.collector_id)

    def commit(self, last_seq: int) -> None:
        """Make everything staged visible, and note that records up to this number have landed."""
        if self._staged:
            self._lake.add_files(self._table, self._staged, self._app_id, last_seq)
        self._staged = []
        self._landed_seq = max(last_seq, self._landed_seq)


class Lander:
    """Lands the segments of one collector's folder."""

    def __init__(self, lake: Lake, folder: WalFolder, config: CollectorConfig) -> None:
        self._folder = folder
        self._max_round_bytes = config.max_round_bytes
        self._max_batch_bytes = config.max_segment_bytes
        self._quarantine = Quarantine(lake.state, folder.collector_id, config.max_quarantine_bytes)
        self._signals = [SignalLander(lake, each, self._quarantine, config) for each in Signal]

    def land_round(self) -> bool:
        """Land the oldest sealed segments, as many as fit; return whether there were any."""
        segments = self._next_segments()
        last_seq = 0
        for batch in self._batches(segments):
            for lander in self._signals:
                lander.stage(batch)
            last_seq = batch[-1].seq
        for lander in self._signals:
            lander.commit(last_seq)
        self._folder.remove(segments)
        return bool(segments)

    def _next_segments(self) -> list[Path]:
        chosen: list[Path] = []
        chosen_bytes = 0
        for segment in self._folder.sealed_segments():
            chosen.append(segment)
            chosen_bytes += segment.stat().st_size
            if chosen_bytes >= self._max_round_bytes:
                break
        return chosen

    def _batches(self, segments: Sequence[Path]) -> Iterator[list[Logged]]:
        """Yield the records in lots of about one full segment, so that files do not get small."""
        batch: list[Logged] = []
        batch_bytes = 0
        for segment in segments:
            batch += self._read(segment)
            batch_bytes += segment.stat().st_size
            if batch and (batch_bytes >= self._max_batch_bytes or segment is segments[-1]):
                yield batch
                batch, batch_bytes = [], 0

    def _read(self, segment: Path) -> list[Logged]:
        content = segment.read_bytes()
        logged = []
        for found in read_segment(content):
            if isinstance(found, Damage):
                log.error("%s: bytes %d to %d are %s", segment.name, *found[1:], found.kind)
                self._quarantine.keep_damage(
                    segment, found.start, content[found.start : found.end]
                )
            else:
                logged.append(found)
        return logged


def _record(logged: Logged) -> Record:
    entry = logged.entry
    return Record(
        logged.seq, entry.received_ns, entry.signal, entry.encoding, entry.tenant, entry.body
    )
