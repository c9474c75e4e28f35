"""Collector processes are killed at random moments under traffic, again and again.

Each acknowledged item must be in the lake exactly once. Two clients send at the same time: one
never sends a request twice, the other sends each request until it is answered. Some requests are
refused or garbage, and every item is accounted for after each kill. The lake is compacted all the
time, and in the end `lake verify` must find no fault.

`KILLS=1000` kills so often (`make chaos`), `KILL_SEED` repeats a run's choices.
"""

import os
import random
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from tests.collector.clients import FIRST_ID_OF_PATIENT, Client, expected_name, own_port
from tests.collector.running import COMMAND, child_pids, landed, landed_ids
from tests.waiting import PATIENCE_SECS, wait_until

from tracegrade_collector.encoding.otlp import Signal
from tracegrade_collector.log.ledger import read_ledger
from tracegrade_collector.maintenance.verify import verify
from tracegrade_lake import Lake
from tracegrade_lake.crash_points import LANDING, POINTS, VARIABLE
from tracegrade_lake.maintenance.compaction import CompactOptions, compact

KILLS = int(os.environ.get("KILLS", "20"))
KILLS_PER_LAKE = 100  # a table of thousands of tiny files would only slow the test down
LAKES = -(-KILLS // KILLS_PER_LAKE)
OFTEN = {"max_segment_age_secs": 0.03, "land_every_secs": 0.03}  # so that kills hit every stage
LONGEST_START_SECS = 0.4
LONGEST_RECEIPT_SECS = 0.3  # after the first answer; the lander is still starting
LONGEST_LANDING_SECS = 0.2  # after the first commit; a few rounds
COMPACT_EVERY_SECS = 1.0
LOGGED_CHARACTERS = 10_000
ARMED_SECS = 1.5  # a point that is not reached by then is left

linux = pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")


class Lives:
    """The collector, one life after the other."""

    def __init__(self, lake: Path, port: int) -> None:
        self.lake = Lake.create(lake)
        self._port = port
        self._log = lake.with_suffix(".log")
        self.processes: subprocess.Popen[bytes] | None = None
        self._read: set[str] = set()

    def start(self, crash_at: str = "") -> None:
        """Start all processes as one group, unless they run."""
        if self.processes and self.processes.poll() is None:
            return
        options = {f"TRACEGRADE_COLLECTOR_{name.upper()}": str(OFTEN[name]) for name in OFTEN}
        flags = [f"--lake={self.lake.root}", f"--http=127.0.0.1:{self._port}", "--grpc=off"]
        with self._log.open("ab") as log:
            self.processes = subprocess.Popen(
                [*COMMAND, *flags],
                env=os.environ | options | {VARIABLE: crash_at},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Return as soon as the condition holds; fail with what was logged if it never does."""
        assert self.processes
        deadline = time.monotonic() + PATIENCE_SECS
        while not condition():
            logged = self._log.read_text(errors="replace")[-LOGGED_CHARACTERS:]
            assert self.processes.poll() is None, f"the collector ended by itself: {logged}"
            assert time.monotonic() < deadline, f"waited in vain: {logged}"
            time.sleep(0.02)

    def kill(self) -> None:
        """End all processes without notice."""
        assert self.processes
        os.killpg(self.processes.pid, signal.SIGKILL)
        self.processes.wait()

    def kill_receiver(self) -> None:
        """End the receiver; its lander finishes what it does and ends by itself."""
        assert self.processes
        self.processes.kill()
        self.processes.wait()

    def lander_pids(self) -> list[int]:
        """Return the process ids of running landers: one or none."""
        assert self.processes
        return child_pids(self.processes.pid)

    def has_died(self, landers: list[int]) -> bool:
        """Return whether the receiver, or the lander of some time ago, has ended."""
        assert self.processes
        return self.processes.poll() is not None or self.lander_pids() != landers

    def row_count(self) -> int:
        """Return how many spans have landed."""
        return sum(file.rows for file in self.lake.live_files("raw_spans"))

    def check(self) -> None:
        """Each table is readable, by our reader and by the Delta library; all is accounted for."""
        for table in self.lake.tables():
            if self.lake.version(table) is None:
                continue  # killed between the folder of the log and its first entry
            delta = DeltaTable(str(self.lake.root / table))
            files = self.lake.files(table, delta.version())
            assert sorted(uri.removeprefix("file://") for uri in delta.file_uris()) == files
            for file in set(files) - self._read:
                pq.read_table(file, partitioning=None)
            self._read |= set(files)
        for account in read_ledger(self.lake.state, self.lake.transaction_version):
            assert account.totals.unaccounted == 0, account


@pytest.fixture(scope="module")
def seed() -> int:
    """A new seed for each run, printed for a failed test; set KILL_SEED to repeat one."""
    chosen = int(os.environ.get("KILL_SEED", "0")) or secrets.randbits(32)
    sys.stdout.write(f"KILL_SEED={chosen}\n")
    return chosen


@contextmanager
def compacting(lake: Lake) -> Iterator[Callable[[], bool]]:
    """Compact what landed just now, again and again; give what says if files were replaced."""
    stop, replaced = threading.Event(), threading.Event()

    def run() -> None:
        while not stop.wait(COMPACT_EVERY_SECS):
            if compact(lake, CompactOptions(min_age_secs=0), lambda _: None).files_before:
                replaced.set()

    with ThreadPoolExecutor() as pool:
        work = pool.submit(run)
        try:
            yield lambda: work.done() or replaced.is_set()
        finally:
            stop.set()
    work.result()
    assert replaced.is_set()


def kill_again_and_again(
    lives: Lives, client: Client, moments: random.Random, name: str
) -> Counter[str]:
    """Kill some process at some moment, many times; return how often each was killed where."""
    kills: Counter[str] = Counter()
    while kills.total() < KILLS // LAKES:
        if moments.random() < 1 / 4:
            kills[die_at_a_point(lives, moments)] += 1
        else:
            kills[kill_at_a_moment(lives, client, moments)] += 1
        lives.check()
        if kills.total() % 25 == 0:
            told = len(client.acknowledged)
            sys.stdout.write(f"{name}: {kills.total()} kills, {told} spans acknowledged\n")
    return kills


def die_at_a_point(lives: Lives, moments: random.Random) -> str:
    """Let the receiver or the lander end at one of its points, and all the others after it."""
    if lives.processes and lives.processes.poll() is None:
        lives.kill()
    point = moments.choice(POINTS)
    lives.start(f"{point}:{moments.randint(1, 4)}")
    deadline = time.monotonic() + ARMED_SECS
    landers: list[int] = []
    while not landers and time.monotonic() < deadline and not lives.has_died([]):
        time.sleep(0.01)
    landers = lives.lander_pids()
    while time.monotonic() < deadline and not lives.has_died(landers):
        time.sleep(0.01)
    if lives.processes and lives.processes.poll() is None:
        lives.kill()
    return point


def kill_at_a_moment(lives: Lives, client: Client, moments: random.Random) -> str:
    """Kill one process or all, while they start, receive or land."""
    lives.start()
    stage = moments.choice(["starting", "receiving", "landing", "landing"])
    if stage == "starting":
        time.sleep(moments.uniform(0, LONGEST_START_SECS))
    elif stage == "receiving":
        before = len(client.acknowledged)
        lives.wait_until(lambda: len(client.acknowledged) > before)
        time.sleep(moments.uniform(0, LONGEST_RECEIPT_SECS))
    else:
        rows = lives.row_count()
        lives.wait_until(lambda: lives.row_count() > rows)
        time.sleep(moments.uniform(0, LONGEST_LANDING_SECS))
    victim = moments.choice(["all", "receiver", "lander"])
    landers = lives.lander_pids()
    if victim == "lander" and landers:
        os.kill(landers[0], signal.SIGKILL)
    elif victim == "receiver":
        lives.kill_receiver()
    else:
        lives.kill()
    return f"{victim} while {stage}"


@pytest.fixture
def clients(seed: int) -> Iterator[tuple[Client, Client]]:
    """One that never sends again, and one that does until it is answered; both are sending."""
    port = own_port()
    hasty = Client(port, 1, seed, sends_again=False)
    patient = Client(port, FIRST_ID_OF_PATIENT, seed, sends_again=True)
    for client in (hasty, patient):
        client.start()
    yield hasty, patient
    for client in (hasty, patient):
        client.stopping.set()


@pytest.mark.slow
@linux
@pytest.mark.parametrize("lake", range(1, LAKES + 1))
def test_nothing_acknowledged_is_lost_or_doubled(
    tmp_path: Path, lake: int, seed: int, clients: tuple[Client, Client]
) -> None:
    """One row in `raw_spans` per acknowledged span, one in `spans` if sent again."""
    hasty, patient = clients
    lives = Lives(tmp_path, hasty.port)
    moments = random.Random(seed + lake)  # noqa: S311 - no secret
    name = f"lake {lake} of {LAKES}"
    with compacting(lives.lake) as has_compacted:
        kills = kill_again_and_again(lives, hasty, moments, name)
        lives.start()
        wait_until(has_compacted)  # few kills may leave few files of one size
    wait_until(lambda: all(client.refused and client.garbage for client in clients))
    for client in clients:
        client.stopping.set()
        client.join()
    assert lives.processes
    lives.processes.terminate()

    assert lives.processes.wait(PATIENCE_SECS) == 0
    told = len(hasty.acknowledged) + len(patient.acknowledged)
    places = ", ".join(f"{place} {count}" for place, count in kills.most_common())
    sys.stdout.write(f"{name}: killed: {places}\n")
    check_rows(tmp_path, hasty, patient)
    check_ledger(lives.lake, hasty, patient)
    assert verify(lives.lake, lambda _: None, deep=True).wrong == []
    sys.stdout.write(f"{name}: {told} spans acknowledged to both, each landed once\n")


def check_rows(lake: Path, hasty: Client, patient: Client) -> None:
    """Each acknowledged span has its one row, as it was sent, and nothing else has any."""
    raw = Counter(landed_ids(lake))
    spans = Counter(landed_ids(lake, with_resent=False))
    assert [each for each in hasty.acknowledged if raw[each] != 1] == []
    assert [each for each in hasty.sent if raw[each] > 1] == []
    assert [each for each in patient.acknowledged if spans[each] != 1] == []
    assert set(raw) <= {*hasty.sent, *patient.sent}
    rows = landed(lake).select(["span_id", "name"]).to_pylist()
    assert [row for row in rows if row["name"] != expected_name(int(row["span_id"], 16))] == []


def check_ledger(lake: Lake, hasty: Client, patient: Client) -> None:
    """All received items landed or were set aside, as the clients' responses say."""
    accounts = read_ledger(lake.state, lake.transaction_version)
    traces = [account for account in accounts if account.signal is Signal.TRACES]
    assert sum(account.pending_items for account in accounts) == 0
    assert sum(account.totals.unaccounted for account in accounts) == 0
    assert sum(account.totals.landed for account in traces) == len(landed_ids(lake.root))
    refused = hasty.refused + patient.refused
    assert sum(sum(account.totals.rejected.values()) for account in traces) >= refused > 0
    garbage = hasty.garbage + patient.garbage
    assert sum(account.undecodable_requests for account in traces) >= garbage > 0


def test_points_of_the_lander_are_in_the_order_of_a_round() -> None:
    """All points have a name of their own."""
    assert len(set(POINTS)) == len(POINTS)
    assert set(LANDING) < set(POINTS)
