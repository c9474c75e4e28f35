"""The process that turns sealed log segments into rows of the lake, exactly once.

One round: take sealed segments; write each one's spans and logs as synced Parquet files; commit all of
them per table, together with the highest sequence number (an application transaction); remove the
segments. A crash anywhere in between repeats the round: files have the same names again, and records
up to the number that a table's log holds are skipped.

Run by the receiver as `python -m tracegrade_collector.lander LAKE COLLECTOR_ID OPTIONS`. It ends when
its standard input does, and lands everything first if that said `drain`.
"""

import json
import logging
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.lake import RAW_LOGS, RAW_SPANS, Lake, StagedFile, Table
from tracegrade_collector.lander_process import DRAIN
from tracegrade_collector.otlp import Signal
from tracegrade_collector.quarantine import Quarantine
from tracegrade_collector.resent import LandedRows
from tracegrade_collector.rows import Record, log_rows, span_rows
from tracegrade_collector.wal import Damage, Logged, read_segment
from tracegrade_collector.wal_folder import LANDER_LOCK_NAME, FolderLock, WalFolder

POLL_SECS = 0.1  # listing a folder costs microseconds

log = logging.getLogger(__name__)


class SignalLander:
    """Lands the records of one signal in its table."""

    def __init__(self, lake: Lake, collector_id: str, signal_: Signal, resent_rows: int) -> None:
        self.signal = signal_
        self._lake = lake
        self._collector_id = collector_id
        self._table, self._rows = _TABLES[signal_]
        self._app_id = f"{collector_id}/{signal_}"
        self._landed_seq = lake.transaction_version(self._table.name, self._app_id) or 0
        self._landed_rows = LandedRows.from_files(lake.files(self._table.name), resent_rows)
        self._staged: list[StagedFile] = []

    def stage(self, records: Sequence[Record]) -> None:
        """Write the rows of one segment's records, unless they have landed already."""
        new = [r for r in records if r.signal is self.signal and r.seq > self._landed_seq]
        if not new:
            return
        rows = self._landed_rows.mark(self._rows(new, self._collector_id))
        name = f"{self._collector_id}-{new[0].seq}-{new[-1].seq}"
        self._staged += self._lake.stage(self._table, rows, name)

    def commit(self, last_seq: int) -> None:
        """Make everything staged visible, and note that records up to this number have landed."""
        if self._staged:
            self._lake.add_files(self._table, self._staged, self._app_id, last_seq)
        self._staged = []
        self._landed_seq = max(last_seq, self._landed_seq)


_TABLES: dict[Signal, tuple[Table, Callable[[Sequence[Record], str], pa.Table]]] = {
    Signal.TRACES: (RAW_SPANS, span_rows),
    Signal.LOGS: (RAW_LOGS, log_rows),
}


class Lander:
    """Lands the segments of one collector's folder."""

    def __init__(self, lake: Lake, folder: WalFolder, config: CollectorConfig) -> None:
        self._folder = folder
        self._max_round_bytes = config.land_max_bytes
        self._quarantine = Quarantine(lake.root, folder.collector_id, config.quarantine_max_bytes)
        self._signals = [
            SignalLander(lake, folder.collector_id, signal_, config.resent_rows)
            for signal_ in Signal
        ]

    def land_round(self) -> bool:
        """Land the oldest sealed segments, as many as one round may hold; return whether there were any."""
        segments = self._next_segments()
        last_seq = 0
        for segment in segments:
            records = self._records(segment)
            for lander in self._signals:
                lander.stage(records)
            last_seq = max([last_seq, *(record.seq for record in records)])
        for lander in self._signals:
            lander.commit(last_seq)
        self._folder.remove(segments)
        return bool(segments)

    def _next_segments(self) -> list[Path]:
        chosen, chosen_bytes = [], 0
        for segment in self._folder.sealed_segments():
            chosen.append(segment)
            chosen_bytes += segment.stat().st_size
            if chosen_bytes >= self._max_round_bytes:
                break
        return chosen

    def _records(self, segment: Path) -> list[Record]:
        content = segment.read_bytes()
        records = []
        for found in read_segment(content):
            if isinstance(found, Damage):
                log.error(
                    "%s bytes %d to %d are %s", segment.name, found.start, found.end, found.kind
                )
                self._quarantine.keep_damage(
                    segment, found.start, content[found.start : found.end]
                )
            else:
                records.append(_record(found))
        return records


def _record(logged: Logged) -> Record:
    entry = logged.entry
    return Record(
        logged.seq, entry.received_ns, entry.signal, entry.encoding, entry.tenant, entry.body
    )


def main(arguments: Sequence[str]) -> int:
    """Land until told to stop; return the exit code."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)  # sent to the whole group; the receiver decides
    lake_root, collector_id, options = arguments
    config = CollectorConfig(**json.loads(options))
    folder = WalFolder(Path(lake_root) / "wal" / collector_id)
    lock = FolderLock(folder.path / LANDER_LOCK_NAME)
    lock.acquire()  # the lander of a killed receiver may still finish its round
    lander = Lander(Lake.open(lake_root), folder, config)
    if _land_until_told(lander, config.land_every_secs):
        while lander.land_round():
            pass
    return 0


def _land_until_told(lander: Lander, every_secs: float) -> bool:
    """Land a round whenever one is due; return whether to drain once standard input speaks or ends."""
    next_round = 0.0
    while True:
        ready, _, _ = select.select([sys.stdin], [], [], POLL_SECS)
        if ready:
            return sys.stdin.buffer.readline() == DRAIN
        started = time.monotonic()
        if started >= next_round and lander.land_round():
            next_round = started + every_secs


if __name__ == "__main__":
    logging.basicConfig(format="%(levelname)s lander: %(message)s")
    sys.exit(main(sys.argv[1:]))
