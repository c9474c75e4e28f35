"""What was acknowledged lands exactly once, however the collector ended."""

import contextlib
import http.client
import itertools
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
from dataclasses import asdict
from pathlib import Path

import pytest
from tests.collector.running import (
    COMMAND,
    Collector,
    collecting,
    is_gone,
    landed,
    landed_ids,
    log_body,
    trace_body,
)
from tests.slow import slow_after
from tests.waiting import PATIENCE_SECS, wait_until

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.log.wal import read_segment, segment_name
from tracegrade_collector.log.wal_folder import WalFolder
from tracegrade_collector.maintenance.verify import verify
from tracegrade_collector.receive.lander_process import DRAIN
from tracegrade_lake import Lake

NEVER = 3600.0
only_linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc or prlimit")


def segments(lake: Path) -> list[Path]:
    """Return all segments of all collectors."""
    return sorted(lake.glob("wal/*/*.wal"))


def kill_with_backlog(lake: Path, *span_ids: int) -> Path:
    """Let a collector acknowledge spans and die before it seals; return its open segment."""
    with collecting(lake, max_segment_age_secs=NEVER) as collector:
        for span_id in span_ids:
            assert collector.post("/v1/traces", trace_body(span_id)).status == 200
        collector.kill()
    return max((file for file in segments(lake) if file.stat().st_size), key=lambda f: f.name)


@pytest.fixture(scope="module")
def died(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lake of a collector that died with spans 1 to 3 in its open segment; tests copy it."""
    lake = tmp_path_factory.mktemp("died") / "lake"
    kill_with_backlog(lake, 1, 2, 3)
    return lake


@pytest.fixture
def backlog(died: Path, tmp_path: Path) -> Path:
    """The open segment of that collector, in a copy of its lake at `tmp_path`."""
    shutil.copytree(died, tmp_path, dirs_exist_ok=True)
    (segment,) = [file for file in segments(tmp_path) if file.stat().st_size]
    return segment


def land_what_is_left(lake: Path) -> Collector:
    """Start a collector and stop it again; everything has landed then."""
    with collecting(lake) as collector:
        assert collector.stop() == 0
    return collector


def test_graceful_stop_lands_everything(tmp_path: Path) -> None:
    """Both signals are in the lake and the log is empty when the collector has ended with 0."""
    with collecting(tmp_path) as collector:
        collector.post("/v1/traces", trace_body(1, 2))
        collector.post("/v1/logs", log_body("a", "b", "c"))
        exit_code = collector.stop()

    assert exit_code == 0
    assert landed_ids(tmp_path) == [1, 2]
    assert landed(tmp_path, "raw_logs")["body"].to_pylist() == ["a", "b", "c"]
    assert [file.stat().st_size for file in segments(tmp_path)] == [0]


@pytest.mark.parametrize("to_all", slow_after(1, [True, False]))
def test_stop_under_traffic_loses_nothing(tmp_path: Path, to_all: bool) -> None:
    """What was acknowledged until the end has landed; Ctrl-C reaches the lander too."""
    acknowledged: list[int] = []

    def send(collector: Collector) -> None:
        with contextlib.suppress(OSError, http.client.HTTPException):
            for span_id in itertools.count(1):
                if collector.post("/v1/traces", trace_body(span_id)).status == 200:
                    acknowledged.append(span_id)

    with collecting(tmp_path) as collector:
        sender = threading.Thread(target=send, args=[collector])
        sender.start()
        wait_until(lambda: len(acknowledged) > 50)
        if to_all:
            os.killpg(collector.process.pid, signal.SIGINT)
        else:
            collector.process.terminate()
        exit_code = collector.process.wait(PATIENCE_SECS)
        sender.join()

    assert exit_code == 0
    assert set(landed_ids(tmp_path)) - {acknowledged[-1] + 1} == set(acknowledged)


@pytest.mark.slow
def test_spans_land_while_the_collector_runs(tmp_path: Path) -> None:
    """They are visible without stopping it."""
    with collecting(tmp_path, max_segment_age_secs=0.1, land_every_secs=0.1) as collector:
        collector.post("/v1/traces", trace_body(1))
        wait_until(lambda: landed_ids(tmp_path) == [1])
        collector.post("/v1/traces", trace_body(2))
        wait_until(lambda: landed_ids(tmp_path) == [1, 2])


@pytest.mark.usefixtures("backlog")
def test_backlog_of_a_killed_collector_lands(tmp_path: Path) -> None:
    """The next one takes its id and its log over, and numbers go on."""
    before = {folder.name for folder in (tmp_path / "wal").iterdir()}
    with collecting(tmp_path) as collector:
        collector.post("/v1/traces", trace_body(4))
        collector.stop()

    rows = landed(tmp_path)
    assert landed_ids(tmp_path) == [1, 2, 3, 4]
    assert sorted(rows["wal_seq"].to_pylist()) == [1, 2, 3, 4]
    assert set(rows["collector_id"].to_pylist()) == before


@pytest.mark.slow
def test_torn_tail_is_cut(backlog: Path, tmp_path: Path) -> None:
    """A record that was half written when the collector died does not hide those before it."""
    with open(backlog, "rb+") as file:
        first, *_ = read_segment(file)
        file.seek(0)
        unfinished = file.read(first.end - 10)
        file.seek(0, os.SEEK_END)
        file.write(unfinished)
    land_what_is_left(tmp_path)

    assert landed_ids(tmp_path) == [1, 2, 3]
    assert list((tmp_path / "quarantine").iterdir()) == []


def test_corrupt_record_is_set_aside(backlog: Path, tmp_path: Path) -> None:
    """One flipped bit in the middle of the log costs one record; its bytes are kept."""
    content = bytearray(backlog.read_bytes())
    content[content.index(b"span 2")] ^= 1
    backlog.write_bytes(content)
    land_what_is_left(tmp_path)

    (kept,) = (tmp_path / "quarantine").iterdir()
    assert landed_ids(tmp_path) == [1, 3]
    assert b"pan 2" in kept.read_bytes()


@pytest.mark.slow
def test_segment_that_landed_is_not_landed_again(backlog: Path, tmp_path: Path) -> None:
    """A collector that died after the commit and before the trim finds out from the table."""
    content = backlog.read_bytes()
    land_what_is_left(tmp_path)
    backlog.write_bytes(content)
    land_what_is_left(tmp_path)

    assert landed_ids(tmp_path) == [1, 2, 3]
    assert len(list(tmp_path.glob("raw_spans/*/*.parquet"))) == 1


def test_request_that_is_sent_again_is_marked(tmp_path: Path) -> None:
    """All rows stay, one of each not `resent`: in one round, in later ones, after a restart."""
    with collecting(tmp_path, max_segment_age_secs=0.1, land_every_secs=0.1) as collector:
        for _ in range(2):
            collector.post("/v1/traces", trace_body(1, 2))
        wait_until(lambda: landed_ids(tmp_path) == [1, 1, 2, 2])
        collector.post("/v1/traces", trace_body(2, 3))
        collector.stop()
    with collecting(tmp_path) as collector:
        collector.post("/v1/traces", trace_body(3, 4))
        collector.stop()

    assert landed_ids(tmp_path) == [1, 1, 2, 2, 2, 3, 3, 4]
    assert landed_ids(tmp_path, with_resent=False) == [1, 2, 3, 4]


@pytest.mark.slow
def test_other_requests_are_not_sent_again(tmp_path: Path) -> None:
    """Only rows of another request that are equal in everything; a log record has no id."""
    with collecting(tmp_path) as collector:
        for _ in range(2):
            collector.post("/v1/logs", log_body("a", "a"))
        for trace_id in (1, 2):
            collector.post("/v1/traces", trace_body(1, trace_id=trace_id))
        collector.stop()

    assert landed(tmp_path, "raw_logs")["resent"].to_pylist() == [False, False, True, True]
    assert landed_ids(tmp_path, with_resent=False) == [1, 1]


@pytest.mark.slow
def test_two_collectors_share_a_lake(tmp_path: Path) -> None:
    """The second one gets an id of its own, and both land."""
    with collecting(tmp_path) as first, collecting(tmp_path) as second:
        first.post("/v1/traces", trace_body(1))
        second.post("/v1/traces", trace_body(2))
        exit_codes = [first.stop(), second.stop()]

    assert exit_codes == [0, 0]
    assert landed_ids(tmp_path) == [1, 2]
    assert len(set(landed(tmp_path)["collector_id"].to_pylist())) == 2


@pytest.mark.slow
def test_log_of_a_collector_that_never_returns_lands(tmp_path: Path) -> None:
    """Two died; the one that is started next lands what both left."""
    with (
        collecting(tmp_path, max_segment_age_secs=NEVER) as first,
        collecting(tmp_path, max_segment_age_secs=NEVER) as second,
    ):
        first.post("/v1/traces", trace_body(1))
        second.post("/v1/traces", trace_body(2))
        first.kill()
        second.kill()
    land_what_is_left(tmp_path)

    assert landed_ids(tmp_path) == [1, 2]


def test_log_that_cannot_be_claimed_lands_later(
    died: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A log that the system refuses at the start is tried again, for any tenant."""
    tenant = Path(shutil.copytree(died, tmp_path / "tenants" / "acme"))
    (lock,) = tenant.glob("wal/*/lock")
    lock.unlink()
    lock.mkdir()
    with collecting(tmp_path) as collector:
        wait_until(lambda: "cannot land the log left" in capfd.readouterr().err)
        lock.rmdir()

        wait_until(lambda: landed_ids(tenant) == [1, 2, 3])
        assert collector.stop() == 0


@pytest.mark.slow
@only_linux
def test_killed_lander_is_started_again(tmp_path: Path) -> None:
    """The receiver goes on meanwhile, and nothing lands twice."""
    with collecting(tmp_path, max_segment_age_secs=0.1, land_every_secs=0.1) as collector:
        os.kill(collector.lander_pid(), signal.SIGKILL)
        collector.post("/v1/traces", trace_body(1))
        wait_until(lambda: landed_ids(tmp_path) == [1])
        collector.stop()

    assert landed_ids(tmp_path) == [1]


@only_linux
def test_lander_ends_with_its_receiver(tmp_path: Path) -> None:
    """Nothing keeps running when only the receiver is killed."""
    with collecting(tmp_path) as collector:
        lander = collector.lander_pid()
        collector.process.kill()
        collector.process.wait()
        wait_until(lambda: is_gone(lander))


@pytest.mark.slow
@only_linux
def test_failed_write_is_not_acknowledged(tmp_path: Path) -> None:
    """While the disk takes no more the answer is 503; afterwards it works, and no span is torn."""
    with collecting(tmp_path, max_segment_age_secs=NEVER) as collector:
        accepted = collector.post("/v1/traces", trace_body(1)).status
        full = (segments(tmp_path)[0].stat().st_size + 20, resource.RLIM_INFINITY)
        resource.prlimit(collector.process.pid, resource.RLIMIT_FSIZE, full)
        refused = collector.post("/v1/traces", trace_body(2))
        unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        resource.prlimit(collector.process.pid, resource.RLIMIT_FSIZE, unlimited)
        wait_until(lambda: collector.request("GET", "/readyz").status == 200)
        again = collector.post("/v1/traces", trace_body(3)).status
        collector.stop()

    assert (accepted, refused.status, again) == (200, 503, 200)
    assert refused.headers["retry-after"] == "1"
    assert landed_ids(tmp_path) == [1, 3]
    assert list((tmp_path / "quarantine").iterdir()) == []


@only_linux
def test_numbers_of_a_failed_write_are_not_missed(tmp_path: Path) -> None:
    """Its segment goes, the log begins behind it, and `lake verify` finds nothing lost."""
    with collecting(tmp_path, max_segment_age_secs=0.1, land_every_secs=0.1) as collector:
        collector.post("/v1/traces", trace_body(1))
        wait_until(lambda: landed_ids(tmp_path) == [1])
        limit = resource.prlimit(collector.process.pid, resource.RLIMIT_FSIZE, (20, -1))
        refused = collector.post("/v1/traces", trace_body(2))
        resource.prlimit(collector.process.pid, resource.RLIMIT_FSIZE, limit)
        wait_until(lambda: [each.name for each in segments(tmp_path)] == [segment_name(3)])
        found = verify(Lake.open(tmp_path), lambda _: None)

    assert refused.status == 503
    assert found.wrong == []


@only_linux
def test_full_log_is_refused_until_it_has_landed(tmp_path: Path) -> None:
    """The log has a limit, and readiness says so; when landing has caught up it is ready again."""
    with collecting(
        tmp_path, max_wal_bytes=100, max_segment_age_secs=0.1, land_every_secs=0.1
    ) as collector:
        lander = collector.halt_lander()
        collector.post("/v1/traces", trace_body(1, 2))
        wait_until(lambda: collector.request("GET", "/readyz").status == 503)
        refused = collector.post("/v1/traces", trace_body(3))
        os.kill(lander, signal.SIGCONT)
        wait_until(lambda: collector.request("GET", "/readyz").status == 200)

    assert (refused.status, refused.headers["retry-after"]) == (503, "3")


def is_removed(folder: Path) -> bool:
    """Remove a folder, and return whether it is gone: another process may write into it."""
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


@only_linux
def test_removed_log_is_not_acknowledged(tmp_path: Path) -> None:
    """Bytes in a file without a name would be lost: the answer is 503, and the end an error."""
    with collecting(tmp_path / "lake") as collector:
        wait_until(lambda: list(tmp_path.glob("lake/wal/*/lander.lock")))
        wait_until(lambda: is_removed(tmp_path / "lake"))
        refused = collector.post("/v1/traces", trace_body(1)).status
        exit_code = collector.stop()

    assert (refused, exit_code) == (503, 3)


@only_linux
@pytest.mark.usefixtures("backlog")
def test_full_disk_stops_the_lander_with_one_line(tmp_path: Path) -> None:
    """It names the lake and has no traceback; what was acknowledged lands at the next start."""
    (folder,) = WalFolder.claim_orphans(tmp_path)
    folder.close()
    lander = [sys.executable, "-m", "tracegrade_collector.land.lander_main"]
    place = {"lake": str(tmp_path), "state": str(tmp_path), "collector_id": folder.collector_id}
    ended = subprocess.run(
        [*lander, json.dumps(asdict(CollectorConfig()))],
        input=json.dumps({"land": place}).encode() + b"\n" + DRAIN,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY)),
        check=False,
    )
    land_what_is_left(tmp_path)

    (line,) = ended.stderr.decode().splitlines()
    assert ended.returncode == 3
    assert f"cannot write to the lake {tmp_path}" in line
    assert landed_ids(tmp_path) == [1, 2, 3]


@only_linux
def test_log_that_cannot_land_does_not_hold_others_up(died: Path, tmp_path: Path) -> None:
    """One lander has two logs; the lake of one is of a later version, the other's rows land."""
    good, bad = tmp_path / "good", tmp_path / "bad"
    orders = b""
    for lake in (bad, good):
        shutil.copytree(died, lake)
        claimed = WalFolder.claim(lake)
        claimed.seal()
        claimed.close()
        place = {"lake": str(lake), "state": str(lake), "collector_id": claimed.collector_id}
        orders += json.dumps({"land": place}).encode() + b"\n"
    log_folder = bad / "raw_spans" / "_delta_log"
    log_folder.mkdir(parents=True)
    (log_folder / f"{0:020d}.json").write_text('{"protocol":{"minReaderVersion":99}}\n')
    lander = [sys.executable, "-m", "tracegrade_collector.land.lander_main"]
    ended = subprocess.run(
        [*lander, json.dumps(asdict(CollectorConfig()))], input=orders + DRAIN, check=False
    )

    assert ended.returncode == 3
    assert landed_ids(good) == [1, 2, 3]
    assert any(segment.stat().st_size for segment in segments(bad))


@pytest.mark.parametrize("protocol", slow_after(1, ["http", "grpc"]))
def test_taken_port_is_an_error(tmp_path: Path, protocol: str) -> None:
    """One line says which address, and nothing is left running."""
    with collecting(tmp_path) as first:
        address = f"127.0.0.1:{first.port}" if protocol == "http" else first.grpc
        free = {"http": "127.0.0.1:0", "grpc": "127.0.0.1:0"} | {protocol: address}
        flags = [f"--{name}={value}" for name, value in free.items()]
        command = [*COMMAND, f"--lake={tmp_path}", *flags]
        second = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE_SECS, check=False
        )

    (line,) = [line for line in second.stderr.splitlines() if line.startswith("tracegrade:")]
    assert (second.returncode, second.stdout) == (3, "")
    assert address in line
