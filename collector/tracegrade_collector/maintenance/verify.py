"""Proves that nothing was lost: all received items are in the tables or accounted for.

    received = landed + rejected + quarantined + pending        per collector and signal
    rows in the table = landed - removed                        per collector

It also checks that logs, tables and their files are whole. It may run during collection,
compaction and deletes: ledger, logs and tables are read at one instant. If one of them changed
during the reading, they are read again while writers of this machine wait. Only footers and record
headers are read, so memory does not grow with the lake.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from tracegrade_collector.encoding.otlp import Signal
from tracegrade_collector.importing.importer import COLLECTOR_ID as IMPORT
from tracegrade_collector.importing.importer import rows_app_id
from tracegrade_collector.land.dead_letters import FOLDER as DEAD_LETTERS
from tracegrade_collector.land.lander_deaths import deaths_of
from tracegrade_collector.land.quarantine import FOLDER as QUARANTINE
from tracegrade_collector.log.ledger import TABLES, Account, read_ledger
from tracegrade_collector.log.wal import Damage, DamageKind, first_seq, read_segment
from tracegrade_collector.log.wal_folder import WalFolder
from tracegrade_collector.maintenance import leftovers
from tracegrade_lake import Lake
from tracegrade_lake.errors import LakeDamaged, LakeNotResting
from tracegrade_lake.files import all_below
from tracegrade_lake.maintenance.inspection import FileMoved, Inspector, TableState
from tracegrade_lake.maintenance.removals import noted_removals, removed_rows
from tracegrade_lake.snapshot import Snapshot, snapshot

ATTEMPTS: Final = 100
REST_SECS: Final = 0.05
OTHERS: Final = 0o077
"""Permissions of anybody but the owner."""

SIGNAL_OF: Final = {table: signal for signal, table in TABLES.items()}


@dataclass(frozen=True)
class AccountLine:
    """The account of one collector and signal; everything but requests counts items or rows."""

    collector_id: str
    signal: str
    received: int
    landed: int
    rejected: int
    quarantined: int
    pending: int
    removed: int
    rows: int
    """In the table."""

    @property
    def unaccounted(self) -> int:
        """Received, and neither in the table nor set aside nor pending."""
        return self.received - self.landed - self.rejected - self.quarantined - self.pending


@dataclass
class VerificationReport:
    """Result of a verification."""

    lines: list[AccountLine] = field(default_factory=list)
    tables: dict[str, TableState] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    """Checks that failed, a line each: fact, value, way out."""

    notes: list[str] = field(default_factory=list)
    """Facts worth knowing that are not faults."""

    def counts(self) -> dict[str, Any]:
        """Return the whole report as an object for `--json`."""
        return {
            "holds": not self.wrong,
            "accounts": [vars(line) | {"unaccounted": line.unaccounted} for line in self.lines],
            "tables": {
                name: {
                    "version": state.version,
                    "files": state.files,
                    "bytes": state.bytes,
                    "rows": state.rows.total(),
                    "orphans": state.orphans,
                }
                for name, state in self.tables.items()
            },
            "wrong": self.wrong,
            "notes": self.notes,
        }


class _Instant(NamedTuple):
    """Tables, accounts and counts of removed rows that belong together."""

    tables: dict[str, Snapshot]
    accounts: list[Account]
    removed: dict[str, Counter[str]]
    wrong: list[str]


def verify(lake: Lake, note: Callable[[str], None], *, deep: bool = False) -> VerificationReport:
    """Check the lake, and return the report.

    Args:
        lake: It is only read.
        note: Gets a line about each step.
        deep: Whether to decode every page of every file, not only its footer.

    Raises:
        LakeNotResting: Its tables changed faster than they could be read, for a long time.
    """
    inspector = Inspector(lake, note, deep=deep)
    for _ in range(ATTEMPTS):
        now = _instant(lake, note)
        try:
            tables = {name: inspector.inspect(table) for name, table in now.tables.items()}
        except FileMoved:
            continue
        report = VerificationReport(tables=tables, wrong=list(now.wrong))
        _add_accounts(report, now)
        _add_tables(report)
        _add_logs(lake, report, note)
        _add_aside(lake, report, now)
        _add_permissions(lake, report, note)
        return report
    raise _not_resting(lake)


def _instant(lake: Lake, note: Callable[[str], None]) -> _Instant:
    """Return the state at one instant: no table has a newer version after all was read."""
    for attempt in range(ATTEMPTS):
        note("reading ledger, logs and tables")
        with ExitStack() as turns:
            if attempt:  # writers that never pause would move something each time
                for name in lake.tables():
                    turns.enter_context(lake.storage.table(name).in_turn())
            now = _read_at_once(lake)
        if now is not None:
            return now
        time.sleep(REST_SECS)
    raise _not_resting(lake)


def _read_at_once(lake: Lake) -> _Instant | None:
    """Read all parts at one instant; return None if a table or its removals changed."""
    wrong: list[str] = []
    tables = dict(_snapshots(lake, wrong))
    accounts = read_ledger(lake.state, _landed_seq(tables))
    removed = _removed(lake, tables)
    if not wrong:  # a table that cannot be read has no last landed number
        wrong += _missing_segments(lake, tables)
    again = dict(_snapshots(lake, []))
    if _versions(tables) != _versions(again) or removed != _removed(lake, tables):
        return None
    return _Instant(tables, accounts, removed, wrong)


def _versions(tables: Mapping[str, Snapshot]) -> dict[str, int]:
    return {name: table.version for name, table in tables.items()}


def _removed(lake: Lake, tables: Mapping[str, Snapshot]) -> dict[str, Counter[str]]:
    return {
        name: removed_rows(lake, name, table.transaction_version) for name, table in tables.items()
    }


def _not_resting(lake: Lake) -> LakeNotResting:
    return LakeNotResting(f"the lake {lake.location} changed {ATTEMPTS} times while it was read")


def _snapshots(lake: Lake, wrong: list[str]) -> Iterator[tuple[str, Snapshot]]:
    for name in lake.tables():
        try:
            table = snapshot(lake, name)
            if table:
                table.transaction_version(
                    ""
                )  # read apart from all else, so it may be damaged alone
        except LakeDamaged as error:
            wrong.append(str(error))
            continue
        if table:
            yield name, table


def _landed_seq(tables: dict[str, Snapshot]) -> Callable[[str, str], int | None]:
    def landed_seq(name: str, app_id: str) -> int | None:
        return tables[name].transaction_version(app_id) if name in tables else None

    return landed_seq


def _missing_segments(lake: Lake, tables: dict[str, Snapshot]) -> Iterator[str]:
    """Yield the missing records of each log whose next record to land is missing."""
    landed_seq = _landed_seq(tables)
    for path in WalFolder.all_in(lake.state):
        folder = WalFolder(path)
        seqs = [landed_seq(table, f"{path.name}/{each}") for each, table in TABLES.items()]
        missing = folder.free_seq(max(seq or 0 for seq in seqs) + 1)
        segments = folder.segments()
        if segments and first_seq(segments[0]) > missing:
            yield (
                f"log {path.name}: records {missing} to {first_seq(segments[0]) - 1} have not "
                "landed and are not in the log; put the removed segments back, or accept the loss"
            )


def _add_accounts(report: VerificationReport, now: _Instant) -> None:
    known = set()
    for account in now.accounts:
        name = TABLES[account.signal]
        known.add((name, account.collector_id))
        line = _line(account, report.tables.get(name), now.removed.get(name, Counter()))
        report.lines.append(line)
        who = f"collector {line.collector_id}, {line.signal}"
        if line.unaccounted:
            report.wrong.append(
                f"{who}: {line.unaccounted} of {line.received} received items are neither landed "
                "nor rejected, quarantined or pending; keep the log and report it"
            )
        expected = line.landed - line.removed
        if account.totals.since_seq:
            report.notes.append(f"{who}: part of it landed before the ledger existed")
        elif name in report.tables and line.rows != expected:
            report.wrong.append(
                f"{who}: {name} has {line.rows} rows, landed less removed are {expected}; "
                "see the findings about its files, or `tracegrade lake repair`"
            )
        _add_set_aside(report, account, who)
    _add_others(report, known, now)


def _add_set_aside(report: VerificationReport, account: Account, who: str) -> None:
    """Report received items that are in no table: lost, damaged, or not convertible to rows."""
    totals = account.totals
    if totals.lost_requests:
        report.wrong.append(
            f"{who}: {totals.lost_requests} acknowledged requests are lost, since the log was "
            f"damaged before they landed; what was left of them is in {QUARANTINE}"
        )
    if totals.damaged_pieces:
        report.notes.append(
            f"{who}: {totals.damaged_pieces} damaged pieces of the log are in {QUARANTINE}"
        )
    if totals.quarantined_requests:
        report.notes.append(
            f"{who}: {totals.quarantined_requests} requests were accepted and could not land, "
            f"they are in {QUARANTINE}; `tracegrade import FILE` lands one"
        )
    if account.undecodable_requests:
        count = account.undecodable_requests
        report.notes.append(f"{who}: {count} requests could not be decoded, answered 400")


def _line(account: Account, table: TableState | None, removed: Counter[str]) -> AccountLine:
    return AccountLine(
        account.collector_id,
        str(account.signal),
        account.received_items,
        account.totals.landed,
        sum(account.totals.rejected.values()),
        account.totals.quarantined_items,
        account.pending_items,
        removed[account.collector_id],
        table.rows[account.collector_id] if table else 0,
    )


def _add_others(report: VerificationReport, known: set[tuple[str, str]], now: _Instant) -> None:
    """Check rows that no log of this machine covers: imported ones, and those of others."""
    for name, signal in SIGNAL_OF.items():
        if name not in report.tables:
            continue
        rows = report.tables[name].rows
        _add_imported(report, signal, rows[IMPORT], now)
        for collector_id in sorted(rows.keys() - {IMPORT}):
            if (name, collector_id) not in known:
                report.notes.append(
                    f"{name}: {rows[collector_id]} rows are of collector {collector_id}, "
                    "whose log is elsewhere"
                )


def _add_imported(report: VerificationReport, signal: Signal, rows: int, now: _Instant) -> None:
    name = TABLES[signal]
    imported = now.tables[name].transaction_version(rows_app_id(signal))
    removed = now.removed[name][IMPORT]
    if imported is None:
        if rows:
            report.notes.append(f"{name}: {rows} rows were imported before imports were counted")
        return
    report.notes.append(f"{name}: {imported} rows were imported, {removed} of them removed")
    if rows != imported - removed:
        report.wrong.append(
            f"{name} has {rows} imported rows, imported less removed are {imported - removed}; "
            "see the findings about its files, or `tracegrade lake repair`"
        )


def _add_tables(report: VerificationReport) -> None:
    for name, state in report.tables.items():
        report.wrong += state.wrong
        if state.orphans:
            report.notes.append(
                f"{name}: {state.orphans} files ({state.orphan_bytes} bytes) older than a day "
                "belong to no version; `tracegrade lake compact` removes them"
            )


def _add_logs(lake: Lake, report: VerificationReport, note: Callable[[str], None]) -> None:
    """Read each pending record; only the end of an open segment may be unfinished."""
    _add_foreign(report, WalFolder.foreign_in(lake.state))
    for path in WalFolder.all_in(lake.state):
        folder = WalFolder(path)
        _add_foreign(report, folder.foreign())
        if deaths := deaths_of(path):
            report.notes.append(
                f"log {folder.collector_id}: the lander died {deaths} times at the next requests; "
                "after the third time it lands request by request"
            )
        with suppress(FileNotFoundError):
            for segment in folder.segments():
                note(f"log {folder.collector_id}: {segment.name}")
                report.wrong += _segment_faults(folder, segment)


def _add_foreign(report: VerificationReport, paths: Iterable[Path]) -> None:
    report.notes += [
        f"{path} is not of the log and is left alone; move it elsewhere" for path in paths
    ]


def _segment_faults(folder: WalFolder, segment: Path) -> list[str]:
    known = folder.acknowledged().get(first_seq(segment))  # read first: the log may only be ahead
    try:
        found = _read(segment)
    except PermissionError:
        return [f"{segment} may not be read; let the collector's user read it, then it lands"]
    if found.damages and segment == max(folder.segments(), default=None):
        time.sleep(REST_SECS)  # a file that is being written looks damaged until it is whole
        lasting = set(_read(segment).damages)
        found = _Segment(
            found.good,
            [
                each
                for each in found.damages
                if each in lasting
                and (each.kind is DamageKind.CORRUPT or (known and each.start < known.size))
            ],
            [],  # numbers are missing where the damage is
        )
    if not segment.exists():  # it landed; its damage is in quarantine now
        return []
    faults = [
        f"{segment}: bytes {damage.start} to {damage.end} are damaged; the rest lands, "
        f"and they go to {QUARANTINE}"
        for damage in found.damages
    ] + [
        f"{segment}: records {first} to {last} are missing between others; keep the file and "
        "report it"
        for first, last in found.gaps
    ]
    lost = known.lost(found.good) if known else 0
    if known and lost:
        faults.append(
            f"{segment}: {lost} of {known.requests} acknowledged requests, which were its first "
            f"{known.size} bytes, are damaged or gone; put a whole copy back before it lands"
        )
    return faults


class _Segment(NamedTuple):
    good: int
    """How many records are whole."""

    damages: list[Damage]
    gaps: list[tuple[int, int]]
    """First and last number of each stretch of records that is neither present nor damaged."""


def _read(segment: Path) -> _Segment:
    good, damages, gaps = 0, list[Damage](), list[tuple[int, int]]()
    before: int | None = None
    with suppress(FileNotFoundError), open(segment, "rb") as file:
        for each in read_segment(file):
            if isinstance(each, Damage):
                damages.append(each)
                before = None
                continue
            good += 1
            if before is not None and each.seq != before + 1:
                gaps.append((before + 1, each.seq - 1))
            before = each.seq
    return _Segment(good, damages, gaps)


def _add_aside(lake: Lake, report: VerificationReport, now: _Instant) -> None:
    """Compare dead letters with the ledger, and report the size of the quarantine."""
    letters = leftovers.letters_by_collector(lake.state)
    removed = noted_removals(lake, DEAD_LETTERS)
    rejected: Counter[str] = Counter()
    unkept = sum(account.totals.unkept for account in now.accounts)
    for account in now.accounts:
        totals = account.totals
        rejected[account.collector_id] += sum(totals.rejected.values()) - totals.unkept
    for collector_id, count in sorted(rejected.items()):
        there = letters[collector_id] + removed[collector_id]
        if there < count:
            report.wrong.append(
                f"collector {collector_id}: {count} rejected items were kept and only {there} are "
                f"in {lake.state / DEAD_LETTERS} or were deleted; the others were removed by hand"
            )
    if unkept:
        report.notes.append(
            f"{unkept} rejected items were counted and not kept, since "
            f"{lake.state / DEAD_LETTERS} was full (max_dead_letter_bytes)"
        )
    files = [path for path in (lake.state / QUARANTINE).glob("[!.]*") if path.is_file()]
    if files:
        report.notes.append(f"{len(files)} files are in {lake.state / QUARANTINE}")


def _add_permissions(lake: Lake, report: VerificationReport, note: Callable[[str], None]) -> None:
    note("looking at permissions")
    for path in [lake.state, *all_below(lake.state)]:
        with suppress(FileNotFoundError):
            mode = path.stat().st_mode & 0o777
            if mode & OTHERS:
                report.wrong.append(
                    f"{path} is accessible to other users ({mode:04o}); chmod go= '{path}'"
                )
