"""Bad disks, bad clocks, stopped processes, other versions: what is acknowledged is not lost.

What a disk does is real where a test can make it (a small file system that is full); errors of
hardware come from `faulty_os/`, inside the collector's own processes.
"""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from tests.collector.running import (
    COMMAND,
    Collector,
    collecting,
    halt,
    landed,
    landed_ids,
    trace_body,
    trace_request,
)
from tests.slow import slow_after
from tests.waiting import PATIENCE_SECS, wait_until

from tracegrade_collector.encoding.otlp import Encoding, Signal
from tracegrade_collector.log.wal import Entry, record_header, segment_name
from tracegrade_collector.log.wal_folder import WalFolder
from tracegrade_collector.log.wal_writer import PAUSE_AFTER_FAILURE_SECS
from tracegrade_collector.receive.receiver import SAME_WISH_SECS
from tracegrade_lake import Lake

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and mounts")
only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a file system")

OFTEN = {"max_segment_age_secs": 0.1, "land_every_secs": 0.1}
DAY_NS = 86_400 * 10**9
HERE = Path(__file__).parent
NEVER = 3600.0

Steer = Callable[..., None]


@pytest.fixture
def faulty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Steer:
    """Say what is wrong with the machine from now on; nothing means that all is well."""
    steering = tmp_path / "faults.json"
    paths = [str(HERE / "faulty_os"), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    monkeypatch.setenv("FAULTY_OS", str(steering))

    def steer(**wrong: float) -> None:
        unfinished = steering.with_suffix(".new")
        unfinished.write_text(json.dumps(wrong))
        unfinished.rename(steering)

    return steer


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """Mount a file system of 4 MiB; yield a file that fills it while it is there."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["/bin/mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", folder], check=True)
    try:
        yield folder / "filler"
    finally:
        subprocess.run(["/bin/umount", "--lazy", folder], check=True)


def fill(filler: Path) -> None:
    """Take all space that is left."""
    with open(filler, "wb", buffering=0) as file:
        for size in (65_536, 4096, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue


def status(collector: Collector, *span_ids: int) -> int:
    """Send spans; return the status of the answer."""
    return collector.post("/v1/traces", trace_body(*span_ids)).status


def has_landed(lake: Path, span_id: int) -> bool:
    """Return whether a span is in the lake."""
    return span_id in landed_ids(lake)


def readiness(collector: Collector) -> int:
    """Return the status of `/readyz`."""
    return collector.request("GET", "/readyz").status


def newest_segment(lake: Path) -> str:
    """Return the name of the segment that is being written."""
    return max(path.name for path in lake.glob("wal/*/*.wal"))


def logged_bytes(lake: Path) -> int:
    """Return how much the log holds."""
    return sum(folder.pending_bytes() for folder in map(WalFolder, lake.glob("wal/*/")))


def metric(collector: Collector, name: str) -> float:
    """Return a number of `/metrics`, without its prefix."""
    text = collector.request("GET", "/metrics").body.decode()
    (line,) = [
        each for each in text.splitlines() if each.startswith(f"tracegrade_collector_{name} ")
    ]
    return float(line.split()[-1])


@pytest.mark.slow
@only_root
def test_full_disk_of_the_log_is_refused_until_there_is_room(tmp_path: Path) -> None:
    """F5: 503 with a wait, red as long as it is full, no part of a record; then it recovers."""
    with (
        small_disk(tmp_path / "lake" / "wal") as filler,
        collecting(tmp_path / "lake", **OFTEN) as collector,
    ):
        accepted = status(collector, 1)
        wait_until(lambda: landed_ids(tmp_path / "lake") == [1])
        wait_until(lambda: logged_bytes(tmp_path / "lake") == 0)  # what goes would make room
        fill(filler)
        refused = collector.post("/v1/traces", trace_body(2))
        time.sleep(1.5 * PAUSE_AFTER_FAILURE_SECS)
        while_full = readiness(collector)
        filler.unlink()
        wait_until(lambda: readiness(collector) == 200)
        again = status(collector, 3)
        exit_code = collector.stop()

    assert (accepted, refused.status, while_full, again) == (200, 503, 503, 200)
    assert 1 <= int(refused.headers["retry-after"]) <= 3
    assert exit_code == 0
    assert landed_ids(tmp_path / "lake") == [1, 3]


@pytest.mark.slow
@only_root
def test_full_disk_of_the_lake_lets_the_log_grow(tmp_path: Path) -> None:
    """F6: answers go on up to the log's limit, the lag tells of it; with room all of it lands."""
    with (
        small_disk(tmp_path / "raw_spans") as filler,
        collecting(tmp_path, max_wal_bytes=1500, **OFTEN) as collector,
    ):
        fill(filler)
        accepted = [status(collector, span_id) for span_id in range(1, 4)]
        wait_until(lambda: metric(collector, "landing_lag_secs") > 1)
        ready = readiness(collector)
        sent = 3
        while readiness(collector) == 200:
            sent += status(collector, sent + 1) == 200
        refused = collector.post("/v1/traces", trace_body(1000))
        filler.unlink()
        wait_until(lambda: readiness(collector) == 200)
        exit_code = collector.stop()
        found = landed_ids(tmp_path)

    assert (accepted, ready) == ([200, 200, 200], 200)
    assert (refused.status, refused.headers["retry-after"]) == (503, "3")
    assert exit_code == 0
    assert found == list(range(1, sent + 1))


@pytest.mark.parametrize(
    ("call", "number"),
    slow_after(
        1,
        [
            ("sync", errno.EIO),
            ("write", errno.EROFS),
            ("sync", errno.ENOSPC),
            ("write", errno.EIO),
            ("write", errno.EACCES),
        ],
    ),
    ids=lambda each: errno.errorcode[each] if isinstance(each, int) else each,
)
def test_failing_disk_is_not_acknowledged(
    tmp_path: Path, faulty: Steer, call: str, number: int
) -> None:
    """F7, F8: red while it fails; afterwards a new segment is used, and no span is doubled."""
    with collecting(tmp_path / "lake", max_segment_age_secs=NEVER) as collector:
        accepted = status(collector, 1)
        before = newest_segment(tmp_path / "lake")
        faulty(**{f"{call}_errno": number})
        refused = status(collector, 2)
        time.sleep(1.5 * PAUSE_AFTER_FAILURE_SECS)
        while_failing = readiness(collector)
        faulty()
        wait_until(lambda: readiness(collector) == 200)
        again = status(collector, 2)
        after = newest_segment(tmp_path / "lake")
        collector.stop()

    assert (accepted, refused, while_failing, again) == (200, 503, 503, 200)
    assert after > before
    assert landed_ids(tmp_path / "lake", with_resent=False) == [1, 2]


@pytest.mark.slow
def test_copied_or_old_state_is_fenced(tmp_path: Path) -> None:
    """F11: it would take the other's commits for its own, so it only keeps its log."""
    with collecting(tmp_path, **OFTEN) as collector:
        status(collector, 1)
        collector.stop()
    for name in ("wal", "ledger"):
        shutil.copytree(tmp_path / name, tmp_path / f"old-{name}")
    with collecting(tmp_path, **OFTEN) as collector:
        status(collector, 2)
        status(collector, 3)
        collector.stop()
    for name in ("wal", "ledger"):
        shutil.rmtree(tmp_path / name)
        (tmp_path / f"old-{name}").rename(tmp_path / name)
    with collecting(tmp_path, **OFTEN) as copy:
        accepted = status(copy, 4)
        exit_code = copy.stop()

    (kept,) = [each for each in tmp_path.glob("wal/*/*.wal") if each.stat().st_size]
    assert (accepted, exit_code) == (200, 3)
    assert landed_ids(tmp_path) == [1, 2, 3]
    assert b"span 4" in kept.read_bytes()


def test_jumping_clock_changes_no_identity(tmp_path: Path, faulty: Steer) -> None:
    """F13: a day back and two forth; numbers rise, and each row is in the day it came in."""
    offsets = [0, -DAY_NS, 2 * DAY_NS, 0]
    with collecting(tmp_path / "lake", **OFTEN) as collector:
        for span_id, offset in enumerate(offsets, start=1):
            faulty(clock_ns=offset)
            assert status(collector, span_id) == 200
            wait_until(partial(has_landed, tmp_path / "lake", span_id))
        collector.stop()

    rows = landed(tmp_path / "lake").sort_by("wal_seq").to_pylist()
    days = {path.parent.name for path in tmp_path.glob("lake/raw_spans/date=*/*.parquet")}
    expected = {
        datetime.fromtimestamp(row["received_ns"] / 1e9, UTC).strftime("date=%Y-%m-%d")
        for row in rows
    }
    assert [int(row["span_id"], 16) for row in rows] == [1, 2, 3, 4]
    assert days == expected
    assert len(days) >= 3


@pytest.mark.slow
def test_stopped_receiver_answers_when_it_goes_on(tmp_path: Path) -> None:
    """F14: a request that came meanwhile waits, and is taken in once."""
    with collecting(tmp_path, **OFTEN) as collector, ThreadPoolExecutor(1) as pool:
        halt(collector.process.pid)
        waiting = pool.submit(status, collector, 1)
        time.sleep(0.2)
        answered_early = waiting.done()
        os.kill(collector.process.pid, signal.SIGCONT)
        accepted = waiting.result(PATIENCE_SECS)
        collector.stop()

    assert (answered_early, accepted) == (False, 200)
    assert landed_ids(tmp_path) == [1]


def test_second_signal_does_not_wait_for_landing(tmp_path: Path) -> None:
    """F14: the collector ends with an error at once; what it acknowledged lands the next time."""
    with collecting(tmp_path, **OFTEN) as collector:
        collector.halt_lander()
        status(collector, 1)
        collector.process.terminate()
        wait_until(lambda: not collector.is_listening)
        time.sleep(1.5 * SAME_WISH_SECS)
        still_draining = collector.is_running
        exit_code = collector.stop()
    with collecting(tmp_path) as collector:
        collector.stop()

    assert (still_draining, exit_code) == (True, 3)
    assert landed_ids(tmp_path) == [1]


@pytest.mark.slow
def test_many_large_requests_are_refused_before_memory_is_gone(tmp_path: Path) -> None:
    """F15: 24 requests of 8 MB at once; none is lost, what does not fit comes again."""
    limits = {"max_request_bytes": 10_000_000, "max_in_flight_bytes": 24_000_000}
    request = trace_request(1)
    span = request.resource_spans[0].scope_spans[0].spans[0]
    span.attributes.add(key="text").value.string_value = "x" * 8_000_000

    def send(span_id: int) -> tuple[int, int]:
        body = request.SerializeToString().replace(bytes(7) + b"\1", span_id.to_bytes(8))
        try:
            return span_id, collector.post("/v1/traces", body).status
        except ConnectionError:  # refused before all of it was sent, and the answer not waited for
            return span_id, 503

    with collecting(tmp_path, **limits) as collector, ThreadPoolExecutor(24) as pool:
        before = peak_bytes(collector.process.pid)
        with collector.busy_with(9_000_000), collector.busy_with(9_000_000):
            wait_until(lambda: metric(collector, "in_flight_bytes") == 18_000_000)
            _, full = send(100)
        answers = list(pool.map(send, range(101, 125)))
        grown = peak_bytes(collector.process.pid) - before
        collector.stop()

    accepted = [span_id for span_id, code in answers if code == 200]
    assert full == 503
    assert {code for _, code in answers} <= {200, 503}
    assert landed_ids(tmp_path) == sorted(accepted) != []
    assert grown < 200_000_000


def peak_bytes(pid: int) -> int:
    """Return the most memory that a process ever held."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (peak,) = [line for line in lines if line.startswith("VmHWM")]
    return int(peak.split()[1]) * 1024


def test_slow_disk_is_shared_by_all_that_wait(tmp_path: Path, faulty: Steer) -> None:
    """F16: with a second per sync, 60 requests take a few syncs, not 60, or are refused."""
    with collecting(tmp_path / "lake", max_segment_age_secs=NEVER) as collector:
        faulty(sync_secs=1)
        started = time.monotonic()
        with ThreadPoolExecutor(60) as pool:
            codes = list(pool.map(lambda span_id: status(collector, span_id), range(1, 61)))
        secs = time.monotonic() - started
        faulty()
        collector.stop()

    assert set(codes) <= {200, 503}
    assert len(landed_ids(tmp_path / "lake")) == codes.count(200) > 0
    assert secs < 40


def test_log_of_a_later_version_is_refused(tmp_path: Path) -> None:
    """F17: the collector does not start, says why in one line, and leaves the file as it is."""
    folder = tmp_path / "wal" / "0123456789ab"
    folder.mkdir(parents=True)
    content = b"TGr9" + bytes(range(200))
    (folder / segment_name(1)).write_bytes(content)
    ended = subprocess.run(
        [*COMMAND, f"--lake={tmp_path}", "--http=127.0.0.1:0", "--grpc=off"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECS,
        check=False,
    )

    (line,) = [line for line in ended.stderr.splitlines() if line.startswith("tracegrade:")]
    assert ended.returncode == 3
    assert "another version (TGr9)" in line
    assert (folder / segment_name(1)).read_bytes() == content


@pytest.mark.slow
def test_table_of_a_later_version_is_left_alone(tmp_path: Path) -> None:
    """F17: requests are accepted and kept; nothing is written to what we do not understand."""
    with collecting(tmp_path, **OFTEN) as collector:
        status(collector, 1)
        collector.stop()
    version = Lake.open(tmp_path).version("raw_spans")
    assert version is not None
    entry = tmp_path / "raw_spans" / "_delta_log" / f"{version + 1:020d}.json"
    entry.write_text('{"protocol":{"minReaderVersion":99,"minWriterVersion":99}}\n')
    with collecting(tmp_path, **OFTEN) as collector:
        accepted = status(collector, 2)
        exit_code = collector.stop()
    entries = sorted(path.name for path in entry.parent.glob("*.json"))
    entry.unlink()
    with collecting(tmp_path) as collector:
        collector.stop()

    assert (accepted, exit_code) == (200, 3)
    assert entries[-1] == entry.name
    assert landed_ids(tmp_path) == [1, 2]


def write_backlog(lake: Path, segments: int, requests: int) -> int:
    """Leave a log of so many segments and requests of 512 spans each; return its bytes."""
    folder = lake / "wal" / "0123456789ab"
    folder.mkdir(parents=True)
    request = trace_request(*range(1, 513))
    for span in request.resource_spans[0].scope_spans[0].spans:
        span.attributes.add(key="text").value.string_value = "x" * 700
    body = request.SerializeToString()
    entry = Entry(time.time_ns(), Signal.TRACES, Encoding.PROTOBUF, "", False, body, 512)
    for segment in range(segments):
        first = 1 + segment * requests
        with open(folder / segment_name(first), "wb") as file:
            for seq in range(first, first + requests):
                file.write(record_header(entry, seq) + body)
    return sum(path.stat().st_size for path in folder.iterdir())


@pytest.mark.parametrize(
    ("segments", "requests"), slow_after(0, [(32, 25), (2, 400)]), ids=["many", "huge"]
)
def test_backlog_does_not_delay_the_first_answer(
    tmp_path: Path, segments: int, requests: int
) -> None:
    """F19: 300 MB of log, also in huge segments: it answers first, and lands in little memory."""
    size = write_backlog(tmp_path, segments, requests)
    with collecting(tmp_path, max_round_bytes=64 << 20) as collector:
        lander = collector.halt_lander()
        accepted = status(collector, 1)
        os.kill(lander, signal.SIGCONT)
        wait_until(lambda: metric(collector, 'landed_requests_total{signal="traces"}') > 0)
        peaks = peak_bytes(collector.process.pid), peak_bytes(lander)
        collector.kill()

    assert size > 300_000_000
    assert accepted == 200
    assert max(peaks) < 400_000_000  # 250 MB, as with a log of 1 GB
