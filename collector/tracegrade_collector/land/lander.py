"""From sealed log segments to rows of the lake, exactly once, in rounds of one log."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from itertools import accumulate
from operator import attrgetter
from pathlib import Path
from typing import BinaryIO, NamedTuple

import pyarrow as pa

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.encoding.otlp import Signal
from tracegrade_collector.land import landed_rows
from tracegrade_collector.land.background_writer import run_in_background
from tracegrade_collector.land.dead_letters import DeadLetters, RefusedItems
from tracegrade_collector.land.landed_rows import LandedRows
from tracegrade_collector.land.lander_deaths import (
    DEATHS_BEFORE_ALONE,
    DEATHS_BEFORE_REQUESTS,
    MOST_DEATHS,
    Deaths,
    name_of_request,
)
from tracegrade_collector.land.quarantine import Quarantine
from tracegrade_collector.log.ledger import Ledger, Totals
from tracegrade_collector.log.wal import (
    Damage,
    Logged,
    first_seq,
    read_at,
    read_segment,
)
from tracegrade_collector.log.wal_folder import WalFolder, say_left_alone
from tracegrade_collector.redact.redaction import Redactor
from tracegrade_collector.rows.dividing import divided, is_large
from tracegrade_collector.rows.memory import give_back
from tracegrade_collector.rows.pieces import pieces
from tracegrade_collector.rows.rows import log_rows, span_rows
from tracegrade_collector.rows.shortening import NotedShortening, Shorten
from tracegrade_collector.rows.sources import Record
from tracegrade_lake import RAW_LOGS, RAW_SPANS, Lake, Owner, StagedFile, Table
from tracegrade_lake.crash_points import reach

MAX_PIECE_BYTES = 16 << 20  # of damage in one file of the quarantine
MOST_AFTER_DEATH = 256  # segments a round; the next death undoes no more
MOST_IN_GROUP = 64  # segments in flight at a time after a death

logger = logging.getLogger(__name__)


class Landing(NamedTuple):
    """Landing of one signal: its table, and the functions that make and check rows."""

    table: Table
    to_rows: Callable[[Iterable[Record], str, Shorten], pa.Table]
    resent_by: Callable[[pa.Table], pa.Array]


LANDINGS = {
    Signal.TRACES: Landing(RAW_SPANS, span_rows, landed_rows.row_positions),
    Signal.LOGS: Landing(RAW_LOGS, log_rows, landed_rows.row_requests),
}


class SignalLander:
    """Lands the records of one signal in its table, and accounts for each."""

    def __init__(
        self,
        lake: Lake,
        signal_: Signal,
        quarantine: Quarantine,
        redactor: Redactor,
        owner: Owner,
        config: CollectorConfig,
    ) -> None:
        self._lake = lake
        self._redactor = redactor
        self._signal = signal_
        self._quarantine = quarantine
        self._letters = DeadLetters(lake.state, config.max_dead_letter_bytes, redactor)
        self._table, self._to_rows, resent_by = LANDINGS[signal_]
        self._app_id = f"{quarantine.collector_id}/{signal_}"
        self._owner = owner
        self.landed_seq = lake.transaction_version(self._table.name, self._app_id, owner) or 0
        self._ledger = Ledger(lake.state, quarantine.collector_id, signal_, self.landed_seq)
        self._new_landed_rows = partial(LandedRows, config.resent_rows, resent_by)
        self._staged: list[Future[list[StagedFile]]] = []
        self._added = Totals()
        run_in_background(self._remove_remnants).result()

    def _remove_remnants(self) -> None:
        """Remove files that a dead lander had staged; the log still has their requests."""
        folder = self._lake.storage.table(self._table.name).stage_folder
        for file in folder.glob(f"*{self._quarantine.collector_id}-*"):
            file.unlink(missing_ok=True)

    @cached_property
    def _landed_rows(self) -> LandedRows:
        """The rows that landed last, loaded at the first landing: idle logs hold none."""
        landed_rows = self._new_landed_rows()
        landed_rows.recall(self._lake.newest_files(self._table.name))
        return landed_rows

    def stage(self, logged: Sequence[Logged]) -> None:
        """Write the rows of some records as one file per date, unless they have landed already.

        It returns while they are being written; `commit` waits, and raises what went wrong.
        """
        new = [
            each
            for each in logged
            if each.entry.signal is self._signal and each.seq > self.landed_seq
        ]
        if not new:
            return
        name = f"{self._quarantine.collector_id}-{new[0].seq:020d}"
        refused = self._keep_refused(name, [each for each in new if each.entry.has_rejects])
        if len(new) == 1 and is_large(_record(new[0])):
            landed, quarantined = self._stage_parts(new[0], name)
        else:
            rows, quarantined = self._rows(new)
            landed = self._stage_rows(rows, name)
        self._added = self._added.plus(
            Totals(
                requests=len(new),
                items=sum(each.entry.items for each in new),
                landed=landed,
                rejected=refused.by_reason,
                unkept=refused.unkept,
                quarantined_requests=len(quarantined),
                quarantined_items=sum(each.entry.items for each in quarantined),
            )
        )

    def _stage_rows(self, rows: pa.Table, name: str) -> int:
        """Let rows be written, the ones that landed before marked; return how many there are."""
        reach("rows_made")
        rows = self._landed_rows.mark(rows)
        self._staged.append(run_in_background(partial(self._write, rows, name)))
        return int(rows.num_rows)

    def _stage_parts(self, logged: Logged, name: str) -> tuple[int, list[Logged]]:
        """Write the rows of one large request part by part, or none of them.

        Returns:
            The number of rows, and the request if it cannot be converted to rows.
        """
        staged, landed = len(self._staged), 0
        try:
            for number, part in enumerate(divided(_record(logged), self._signal)):
                repaired = {logged.seq} if logged.entry.is_repaired else set[int]()
                rows = self._clean_rows([part], repaired)
                landed += self._stage_rows(rows, f"{name}-{number}")
        except OSError:  # the disk, as of `keep_refused`
            raise
        except Exception:  # as in `_rows`
            logger.exception("request %d cannot be converted to rows", logged.seq)
            self._drop_staged(staged)
            return 0, [self._set_aside(logged)]
        return landed, []

    def _drop_staged(self, first: int) -> None:
        """Remove the staged files of so many pieces of work."""
        for work in self._staged[first:]:
            for file in work.result():
                file.path.unlink(missing_ok=True)
        del self._staged[first:]

    def _set_aside(self, logged: Logged) -> Logged:
        self._quarantine.keep_logged(logged.seq, logged.entry.body, logged.entry.encoding)
        return logged

    def _clean_rows(self, records: Sequence[Record], repaired: Set[int]) -> pa.Table:
        """Return the rows of records without secrets; of these some values were replaced."""
        shorten = NotedShortening(self._redactor.shortened)
        rows = self._to_rows(records, self._quarantine.collector_id, shorten)
        touched = {each.seq for each in records} if shorten.was_needed else repaired
        return self._redactor.redact_rows(rows, touched)

    def _write(self, rows: pa.Table, name: str) -> list[StagedFile]:
        files = self._lake.stage(self._table, rows, name)
        reach("rows_staged")
        return files

    def wait_until_written(self) -> None:
        """Wait until all that was staged is on the disk."""
        for work in self._staged:
            work.result()

    def set_aside(self, logged: Logged) -> None:
        """Put a request that ends landers into quarantine instead of landing it."""
        if logged.entry.signal is not self._signal or logged.seq <= self.landed_seq:
            return
        logger.error(
            "request %d ended the lander again and again; it is in quarantine", logged.seq
        )
        self._set_aside(logged)
        items = logged.entry.items
        aside = Totals(requests=1, items=items, quarantined_requests=1, quarantined_items=items)
        self._added = self._added.plus(aside)

    def count_damage(self, segment: Path) -> None:
        """Count a damaged stretch of the log, unless an earlier commit counted it."""
        if first_seq(segment) > self.landed_seq:
            self._added = self._added.plus(Totals(damaged_pieces=1))

    def count_lost(self, segment: Path, requests: int) -> None:
        """Count acknowledged requests that are lost, unless an earlier commit did."""
        if first_seq(segment) > self.landed_seq:
            self._added = self._added.plus(Totals(lost_requests=requests))

    def _keep_refused(self, name: str, refused: Sequence[Logged]) -> RefusedItems:
        """Keep refused items as dead letters; return how many there are."""
        try:
            return self._letters.keep(f"{name}-{self._signal}", [*map(_record, refused)])
        except OSError:  # the disk, not a record: the round is repeated
            raise
        except Exception:  # as below
            logger.exception("cannot write the dead letters of %d records", len(refused))
            for each in refused:
                self._quarantine.keep_logged(each.seq, each.entry.body, each.entry.encoding)
            return RefusedItems(Counter())

    def _rows(self, logged: Sequence[Logged]) -> tuple[pa.Table, list[Logged]]:
        """Return the rows of records, and the records that cannot be converted to rows."""
        try:
            repaired = {each.seq for each in logged if each.entry.is_repaired}
            return self._clean_rows([*map(_record, logged)], repaired), []
        except Exception:  # a faulty record must not stop the others
            logger.exception(
                "some of %d records cannot be converted to rows; trying each", len(logged)
            )
            if len(logged) > 1:
                tables, lists = zip(*(self._rows([each]) for each in logged), strict=True)
                return pa.concat_tables(tables), [each for some in lists for each in some]
            return self._clean_rows([], set()), [self._set_aside(*logged)]

    def commit(self, last_seq: int) -> None:
        """Make everything staged visible, and note that records up to this number have landed."""
        files = [file for staged in self._staged for file in staged.result()]
        if self._added != Totals():
            self._commit(files, last_seq)
        self._staged, self._added = [], Totals()

    def pass_over(self, last_seq: int) -> None:
        """Note in the table that no record up to this number is left to land."""
        self._commit([], last_seq)

    def _commit(self, files: Sequence[StagedFile], last_seq: int) -> None:
        if last_seq <= self.landed_seq:
            return
        self._ledger.prepare(replace(self._added, through_seq=last_seq))
        reach("ledger_written")
        self._lake.add_files(self._table, files, self._app_id, last_seq, self._owner)
        self._ledger.commit()
        self.landed_seq = last_seq


class Lander:
    """Lands the segments of one collector's folder."""

    def __init__(self, lake: Lake, folder: WalFolder, config: CollectorConfig) -> None:
        self._folder = folder
        self._max_round_bytes = config.max_round_bytes
        self._quarantine_days = config.quarantine_days
        self._max_batch_bytes = config.max_segment_bytes
        self._staged: list[Path] = []
        self._staged_bytes = 0
        self._deaths = Deaths(folder.path)
        say_left_alone(folder.foreign())
        self._quarantine = Quarantine(lake.state, folder.collector_id, config.max_quarantine_bytes)
        redactor = Redactor.from_options(config, lake.state)
        owner = Owner(f"{folder.collector_id}/owner", folder.tokens())
        self._signals = [
            SignalLander(lake, each, self._quarantine, redactor, owner, config) for each in Signal
        ]

    def stage_ahead(self) -> None:
        """Stage segments that make a full batch, so that little is left for the next round."""
        with self._noting_errors():
            self._stage_full_batch()

    @contextmanager
    def _noting_errors(self) -> Iterator[None]:
        """Note that nothing is in flight if the block raises: an exception is not a crash."""
        try:
            yield
        except Exception:
            self._deaths.over()
            raise

    def _stage_full_batch(self) -> None:
        waiting = self._waiting()
        sizes = accumulate(segment.stat().st_size for segment in waiting)
        count = next((n for n, size in enumerate(sizes, 1) if size >= self._max_batch_bytes), 0)
        self._stage(waiting[:count])

    @property
    def cannot_wait(self) -> bool:
        """Whether as much is staged as one commit may land, or a lander died over what waits."""
        return self._staged_bytes >= self._max_round_bytes or self._deaths.any

    def land_round(self) -> bool:
        """Land the oldest sealed segments, as many as fit; return whether there were any."""
        with self._noting_errors():
            return self._land_round()

    def _land_round(self) -> bool:
        self._quarantine.remove_older(self._quarantine_days)
        waiting = self._waiting()
        sizes = accumulate((segment.stat().st_size for segment in waiting), initial=0)
        room = self._max_round_bytes - self._staged_bytes
        self._stage(waiting[: sum(size < room for size in sizes)])
        if not self._staged:
            return False
        self._commit()
        return True

    def _waiting(self) -> list[Path]:
        """Return the sealed segments that are not staged yet, oldest first."""
        return [each for each in self._folder.sealed_segments() if [each] > self._staged[-1:]]

    def _stage(self, segments: Sequence[Path]) -> None:
        """Stage segments; after a death only some, so that the next death does not undo much."""
        if self._deaths.any:
            segments = segments[: max(0, MOST_AFTER_DEATH - len(self._staged))]
        if not segments:
            return
        if self._deaths.any:
            for group in self._groups(segments):
                self._stage_group(group)
        else:
            self._deaths.in_flight(each.name for each in [*self._staged, *segments])
            self._stage_batches(segments)
        self._staged += segments
        self._staged_bytes += sum(segment.stat().st_size for segment in segments)

    def _stage_batches(self, segments: Sequence[Path]) -> None:
        for batch in self._batches(segments):
            for lander in self._signals:
                lander.stage(batch)

    def _groups(self, segments: Sequence[Path]) -> Iterator[list[Path]]:
        """Yield small groups of segments; one over which two landers died is a group alone."""
        group: list[Path] = []
        for segment in segments:
            is_alone = self._deaths.count(segment.name) >= DEATHS_BEFORE_ALONE
            if group and (is_alone or len(group) == MOST_IN_GROUP):
                yield group
                group = []
            group.append(segment)
            if is_alone:
                yield group
                group = []
        if group:
            yield group

    def _stage_group(self, group: Sequence[Path]) -> None:
        """Stage segments with nothing else in flight, since a lander died over some segment."""
        if self._deaths.count(group[0].name) >= DEATHS_BEFORE_REQUESTS:
            self._stage_one_by_one(group[0])
            return
        self._deaths.in_flight(each.name for each in group)
        self._stage_batches(group)
        self._wait_until_written()

    def _stage_one_by_one(self, segment: Path) -> None:
        """Stage each request of a segment alone; set aside those that end landers."""
        for logged in self._records([segment]):
            name = name_of_request(segment.name, logged.seq)
            if self._deaths.count(name) >= MOST_DEATHS:
                for lander in self._signals:
                    lander.set_aside(logged)
                continue
            self._deaths.in_flight([name])
            for lander in self._signals:
                lander.stage([logged])
            self._wait_until_written()

    def _wait_until_written(self) -> None:
        for lander in self._signals:
            lander.wait_until_written()

    def _commit(self) -> None:
        """Make everything staged visible, and remove its segments.

        The records' numbers are below the name of the next segment.
        """
        successor = next(each for each in self._folder.segments() if each > self._staged[-1])
        last_seq = first_seq(successor) - 1
        for lander in self._signals:
            lander.commit(last_seq)
        newest = max(self._signals, key=attrgetter("landed_seq"))
        newest.pass_over(last_seq)  # numbers of a write that failed, which no record has
        reach("round_committed")
        self._folder.remove(self._staged)
        self._deaths.landed(self._staged[-1].name)
        self._staged, self._staged_bytes = [], 0
        give_back()

    def _batches(self, segments: Sequence[Path]) -> Iterator[list[Logged]]:
        """Yield the records in batches of about one full segment, so that files do not get small.

        Batches of records with very many values are smaller.
        """
        records = self._records(segments)
        return pieces(
            records, lambda each: (each.entry.body, each.entry.encoding), self._max_batch_bytes
        )

    def _records(self, segments: Sequence[Path]) -> Iterator[Logged]:
        """Yield the good records of segments; damaged bytes go to quarantine."""
        known = self._folder.acknowledged()
        for segment in segments:
            good = 0
            with open(segment, "rb") as file:
                for found in read_segment(file):
                    if isinstance(found, Damage):
                        self._keep_damage(segment, file, found)
                    else:
                        good += 1
                        yield found
            if of_segment := known.get(first_seq(segment)):
                self._count_lost(segment, of_segment.lost(good))
            reach("segment_read")

    def _count_lost(self, segment: Path, requests: int) -> None:
        """Count the acknowledged requests that a segment no longer holds."""
        if requests:
            logger.error("%s: %d acknowledged requests are lost", segment.name, requests)
            self._signals[0].count_lost(segment, requests)

    def _keep_damage(self, segment: Path, file: BinaryIO, damage: Damage) -> None:
        logger.error("%s: bytes %d to %d are %s", segment.name, *damage[1:], damage.kind)
        for start in range(damage.start, damage.end, MAX_PIECE_BYTES):
            length = min(MAX_PIECE_BYTES, damage.end - start)
            self._quarantine.keep_damage(segment, start, read_at(file, start, length))
        self._signals[0].count_damage(segment)


def _record(logged: Logged) -> Record:
    entry = logged.entry
    return Record(
        logged.seq,
        entry.received_ns,
        entry.signal,
        entry.encoding,
        entry.tenant,
        entry.body,
        entry.is_repaired,
    )
