"""Counts the fate of every accepted request, so that no crash makes the count wrong.

Per collector and signal a small file, `<state>/ledger/<collector id>-<signal>.json`, holds running
totals. It is written and synced before each landing commit, with the totals before and after that
commit. The table shows which of the two hold, because a commit carries the highest sequence number
that it covers (`through_seq`). So the totals and the rows change at one instant.

    received = landed + rejected + quarantined + pending

`received` and `pending` are from the log's record headers, where the receiver counted the items of
each request. `landed` are rows of the table. The other two are counted when items are set aside.
The totals are not made from each other, so a difference shows a fault.

Requests that could not be decoded were answered 400 and never got into the log. They are counted
in `<collector id>-undecodable.json` before the answer.
"""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from tracegrade_collector.encoding.otlp import Signal
from tracegrade_collector.log.wal_folder import WalFolder
from tracegrade_lake.backoff import Backoff
from tracegrade_lake.errors import Fenced
from tracegrade_lake.files import make_folder, write_whole

FOLDER = "ledger"
TABLES = {Signal.TRACES: "raw_spans", Signal.LOGS: "raw_logs"}
"""Names of the tables; the receiver need not load their declarations."""

UNDECODABLE = "undecodable"
READ_PATIENCE_SECS = 30.0
"""Longest wait for a reading between two commits; landers commit every few seconds."""

LandedSeq = Callable[[str, str], int | None]
"""Returns the version that an application, the second, committed to a table, the first."""


@dataclass(frozen=True)
class Totals:
    """Running totals of one collector and signal; items are spans or log records."""

    through_seq: int = 0
    """Records up to this number are in the totals."""

    since_seq: int = 0
    """Records up to this number are not: they landed before there was a ledger."""

    requests: int = 0
    items: int = 0
    """As the receiver counted them, refused ones too."""

    landed: int = 0
    """Rows added to the table, re-sent ones too."""

    rejected: Mapping[str, int] = field(default_factory=dict)
    """Items that were refused, by reason; they are dead letters but for those that are unkept."""

    unkept: int = 0
    """Refused items for which the folder of dead letters had no room."""

    quarantined_requests: int = 0
    quarantined_items: int = 0
    """Accepted requests that could not become rows."""

    damaged_pieces: int = 0
    """Damaged stretches of the log, which are in the quarantine."""

    lost_requests: int = 0
    """Acknowledged ones that the log no longer holds whole, as far as that is known."""

    @property
    def unaccounted(self) -> int:
        """Items received that neither landed nor were set aside; 0 unless there is a fault."""
        aside = sum(self.rejected.values()) + self.quarantined_items
        return self.items - self.landed - aside

    def plus(self, other: "Totals") -> "Totals":
        """Return the sum; it reaches as far as the other totals."""
        sums = {
            name: getattr(self, name) + getattr(other, name)
            for name in (
                "requests",
                "items",
                "landed",
                "unkept",
                "quarantined_requests",
                "quarantined_items",
                "damaged_pieces",
                "lost_requests",
            )
        }
        rejected = dict(Counter(self.rejected) + Counter(other.rejected))
        return replace(self, through_seq=other.through_seq, rejected=rejected, **sums)


class Ledger:
    """The totals of one collector and signal, as its lander keeps them."""

    def __init__(self, state: Path, collector_id: str, signal: Signal, landed_seq: int) -> None:
        """Continue from the totals that match the table's commit (`landed_seq`, 0 for none).

        Raises:
            Fenced: Another collector committed under this id.
        """
        self._path = state / FOLDER / f"{collector_id}-{signal}.json"
        make_folder(self._path.parent)
        newest = max((totals.through_seq for totals in _written(self._path)), default=landed_seq)
        if newest < landed_seq:
            msg = (
                f"another collector landed request {landed_seq} as {collector_id}, and this one "
                f"has landed only {newest}: its state folder is a copy, or older than the lake; "
                f"start it with a state folder of its own"
            )
            raise Fenced(msg)
        self.totals = true_totals(self._path, landed_seq)

    def prepare(self, added: Totals) -> None:
        """Write the totals that will hold once the commit through `added.through_seq` is made."""
        self._prepared = self.totals.plus(added)
        self._write([self.totals, self._prepared])
        self._started = time.monotonic()

    def commit(self) -> None:
        """Adopt the prepared totals: the commit is in the table."""
        self.totals = self._prepared
        secs = time.monotonic() - self._started
        self._write([self.totals], {"committed_ns": time.time_ns(), "commit_secs": secs})

    def _write(self, totals: list[Totals], last: Mapping[str, float] | None = None) -> None:
        content = {"totals": [asdict(each) for each in totals], "last_commit": last or {}}
        write_whole(self._path, json.dumps(content).encode())


def true_totals(path: Path, landed_seq: int) -> Totals:
    """Return the totals that belong to a commit; those of a new ledger if it has none."""
    for totals in _written(path):
        if totals.through_seq == landed_seq:
            return totals
    return Totals(through_seq=landed_seq, since_seq=landed_seq)


def _written(path: Path) -> list[Totals]:
    with suppress(FileNotFoundError):
        return [Totals(**totals) for totals in json.loads(path.read_bytes())["totals"]]
    return []


def landed_seqs(state: Path, signal: str) -> dict[str, int]:
    """Return per collector the last request that has landed, for tables that lack this number.

    The ledger holds the last two states. The one that agrees with the log counts: requests in the
    log have not landed.
    """
    found = {}
    for path in (state / FOLDER).glob(f"*-{signal}.json"):
        collector_id = path.name.removesuffix(f"-{signal}.json")
        folder = WalFolder(state / "wal" / collector_id)
        oldest = next(folder.read_record_headers(), None) if folder.path.is_dir() else None
        through = [totals.through_seq for totals in _written(path)]
        found[collector_id] = max(
            (seq for seq in through if not oldest or seq < oldest.seq), default=0
        )
    return found


class LedgerTotals(NamedTuple):
    """A ledger without its table, for metrics: the totals of the last known commit."""

    totals: Totals
    committed_ns: int
    """When it was made, since 1970; 0 if not known: a commit is under way."""

    commit_secs: float


def ledger_totals(state: Path, collector_id: str, signal: Signal) -> LedgerTotals:
    """Return a ledger's totals without asking the table; all zeros if there is none."""
    try:
        content = json.loads((state / FOLDER / f"{collector_id}-{signal}.json").read_bytes())
    except FileNotFoundError:
        return LedgerTotals(Totals(), 0, 0.0)
    last = content.get("last_commit", {})
    totals = Totals(**content["totals"][0])
    return LedgerTotals(totals, last.get("committed_ns", 0), last.get("commit_secs", 0.0))


class UndecodableCounts:
    """Counts of requests per signal that could not be decoded; each is on the disk when counted.

    Many threads may use it. Threads that wait for the disk share one write.
    """

    def __init__(self, state: Path, collector_id: str) -> None:
        self._path = state / FOLDER / f"{collector_id}-{UNDECODABLE}.json"
        make_folder(self._path.parent)
        self._counts = Counter(_undecodable(self._path))
        self._counting, self._writing = threading.Lock(), threading.Lock()
        self._written = self._counts.total()

    def add(self, signal: Signal) -> None:
        """Count one more request, durably."""
        with self._counting:
            self._counts[signal] += 1
            number = self._counts.total()
        with self._writing:
            if self._written >= number:
                return
            with self._counting:
                counts = dict(self._counts)
            write_whole(self._path, json.dumps(counts).encode())
            self._written = sum(counts.values())


def _undecodable(path: Path) -> dict[str, int]:
    with suppress(FileNotFoundError):
        return dict(json.loads(path.read_bytes()))
    return {}


@dataclass(frozen=True)
class Account:
    """One collector's requests of one signal, all in all."""

    collector_id: str
    signal: Signal
    totals: Totals
    pending_requests: int
    pending_items: int
    """In the log, and not landed yet."""

    undecodable_requests: int
    """Answered 400; in `quarantine/` while there was room."""

    @property
    def received_items(self) -> int:
        """Items of all requests that could be decoded."""
        return self.totals.items + self.pending_items


def read_ledger(state: Path, landed_seq: LandedSeq) -> list[Account]:
    """Return the accounts of all collectors that ever wrote a log here, two each, sorted.

    Args:
        state: The folder that holds logs and ledgers.
        landed_seq: Returns the version of an application's transaction in a table, None if it has
            none: `Lake.transaction_version`, or the same of one version of the table.
    """
    folders = [WalFolder(path) for path in WalFolder.all_in(state)]
    return [_account(state, folder, signal, landed_seq) for folder in folders for signal in Signal]


def _account(state: Path, folder: WalFolder, signal: Signal, landed_seq: LandedSeq) -> Account:
    """Return an account whose parts belong together, though the lander may be at work."""
    path = state / FOLDER / f"{folder.collector_id}-{signal}.json"
    undecodable = _undecodable(path.with_name(f"{folder.collector_id}-{UNDECODABLE}.json"))
    of_table = TABLES[signal], f"{folder.collector_id}/{signal}"
    backoff = Backoff(READ_PATIENCE_SECS)
    while True:
        landed = landed_seq(*of_table) or 0
        totals = true_totals(path, landed)
        pending = _pending(folder, signal, landed)
        if landed == (landed_seq(*of_table) or 0) or not backoff.pause():
            break
    return Account(folder.collector_id, signal, totals, *pending, undecodable.get(signal, 0))


def _pending(folder: WalFolder, signal: Signal, landed_seq: int) -> tuple[int, int]:
    """Return how many requests and items the log holds beyond a number."""
    waiting = [
        header.items
        for header in folder.read_record_headers(readable_only=True)
        if header.seq > landed_seq and header.signal is signal
    ]
    return len(waiting), sum(waiting)
