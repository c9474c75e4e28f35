"""`tracegrade lake delete`: no byte of an erased trace is left, and nothing else is touched."""

import json
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from tests.commands import Ended, tracegrade
from tests.lake.stores import BUCKET
from tests.slow import slow_after
from tests.waiting import wait_until

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.encoding.otlp import Encoding, Signal
from tracegrade_collector.importing.importer import import_files
from tracegrade_collector.log.wal_folder import WalFolder
from tracegrade_collector.maintenance.erasure import LOCK_NAMES, Erasure
from tracegrade_collector.maintenance.repair import repair
from tracegrade_collector.maintenance.verify import verify
from tracegrade_collector.maintenance.wait_until_landed import wait_until_landed
from tracegrade_collector.rows.rows import Record, log_rows
from tracegrade_lake import RAW_LOGS, Column, Lake, Table
from tracegrade_lake.crash_points import ERASING, EXIT_CODE, VARIABLE
from tracegrade_lake.errors import MaintenanceBusy
from tracegrade_lake.locks import FolderLock
from tracegrade_lake.maintenance.compaction import CompactOptions, compact

from .running import COMMAND, Collector, collecting, in_background, landed, trace_request

CANARY = b"heather on the moor"
OTHER = b"bracken in the wood"
TRACE, OTHER_TRACE = 7, 8
TRACE_ID = TRACE.to_bytes(16).hex()
STEPS = Table(
    "steps",
    "one step",
    (
        Column("trajectory_id", pa.string(), "Trace id, '-', span id."),
        Column("content", pa.string(), "What was said."),
        Column("date", pa.date32(), "The partition."),
    ),
)


def delete(lake: Path, *flags: str) -> Ended:
    """Run the command to its end."""
    return tracegrade("lake", "delete", "--lake", lake, *flags)


def deleted(lake: Path, *flags: str) -> dict[str, Any]:
    """Return the summary of a run that went well."""
    done = delete(lake, *flags, "--json")
    assert done.returncode == 0, done.stderr
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary


def spans(*span_ids: int, trace: int, text: bytes, valid: bool = True) -> bytes:
    """Return a request with spans that say a text in every place that holds one."""
    request = trace_request(*span_ids, trace_id=trace)
    for span in request.resource_spans[0].scope_spans[0].spans:
        span.name = text.decode()
        span.attributes.add(key="user.id").value.string_value = text.decode()
        span.events.add(name=text.decode())
        span.status.message = text.decode()
        if not valid:
            span.span_id = b""
    return request.SerializeToString()


def logs(*, trace: int | None, text: bytes) -> bytes:
    """Return a request with a log record that belongs to a trace, or to none."""
    request = ExportLogsServiceRequest()
    record = request.resource_logs.add().scope_logs.add().log_records.add(time_unix_nano=1)
    record.trace_id = trace.to_bytes(16) if trace else b""
    record.body.string_value = text.decode()
    return request.SerializeToString()


def send(collector: Collector, trace: int, text: bytes) -> None:
    """Send all that can happen to a trace: landed, refused, not to be decoded."""
    assert collector.post("/v1/traces", spans(1, 2, trace=trace, text=text)).status == 200
    assert collector.post("/v1/logs", logs(trace=trace, text=text)).status == 200
    refused = spans(3, trace=trace, text=text, valid=False)
    assert collector.post("/v1/traces", refused).status == 200
    garbage = spans(4, trace=trace, text=text) + b"\xff"
    assert collector.post("/v1/traces", garbage).status == 400


def add_built(lake_path: Path, trace: int, text: bytes) -> None:
    """Add a step, as building would."""
    lake, today = Lake.open(lake_path), datetime.now(UTC).date()
    rows = [[f"{trace.to_bytes(16).hex()}-{0:016x}"], [text.decode()], [today]]
    lake.append(STEPS, pa.table(rows, STEPS.arrow()))


def add_leftovers(lake: Path, trace: int, text: bytes) -> None:
    """Add files that no table names: staged by a crash, compacted away, spilled, a torn log."""
    rows = pa.table({"trace_id": [trace.to_bytes(16).hex()], "name": [text.decode()]})
    for name in (f"_stage/{trace}.parquet", f"date=2026-11-01/{trace}.parquet"):
        path = lake / "raw_spans" / name
        path.parent.mkdir(exist_ok=True)
        pq.write_table(rows, path)
    aside = lake / "_put_aside" / f"steps-{trace}"
    aside.mkdir(parents=True)
    said = {"trajectory_id": [f"{trace.to_bytes(16).hex()}-{0:016x}"], "content": [text.decode()]}
    pq.write_table(pa.table(said), aside / "0.parquet")
    (lake / "_spill").mkdir(exist_ok=True)
    (lake / "_spill" / f"{trace}.tmp").write_bytes(text)
    piece = spans(9, trace=trace, text=text)
    (lake / "quarantine" / f"c-{trace:020}-40.wal").write_bytes(piece[:40])
    (lake / "quarantine" / f"c-{trace:020}-80.wal").write_bytes(piece[40:])


def places(lake: Path, text: bytes) -> set[str]:
    """Return the top folders below which some byte, Parquet decoded, says the text."""
    return {
        path.relative_to(lake).parts[0]
        for path in lake.rglob("*")
        if path.is_file() and text in _content(path)
    }


def _content(path: Path) -> bytes:
    try:
        content = path.read_bytes()
        if path.suffix == ".parquet":
            content += repr(pq.read_table(path, partitioning=None).to_pylist()).encode()
    except FileNotFoundError:
        return b""
    return content


@pytest.fixture(scope="module")
def full_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake that says both texts everywhere, its collector stopped, one request not landed."""
    lake = tmp_path_factory.mktemp("full") / "lake"
    with collecting(lake, max_segment_age_secs=0.05, land_every_secs=0.1) as collector:
        for trace, text in ((TRACE, CANARY), (OTHER_TRACE, OTHER)):
            send(collector, trace, text)
        wait_until(lambda: landed(lake).num_rows == 4 and landed(lake, "raw_logs").num_rows == 2)
        (log,) = map(WalFolder, lake.glob("wal/*/"))
        wait_until(lambda: log.pending_bytes() == 0)
        collector.halt_lander()
        for trace, text in ((TRACE, CANARY), (OTHER_TRACE, OTHER)):
            collector.post("/v1/traces", spans(5, trace=trace, text=text))
        collector.kill()
    for trace, text in ((TRACE, CANARY), (OTHER_TRACE, OTHER)):
        add_built(lake, trace, text)
        add_leftovers(lake, trace, text)
    return lake


@pytest.fixture
def full(full_once: Path, tmp_path: Path) -> Path:
    """A copy of that lake."""
    return Path(shutil.copytree(full_once, tmp_path / "lake"))


TABLES = {"raw_spans", "raw_logs", "steps"}
EVERYWHERE = {*TABLES, "dead_letters", "quarantine", "_spill", "_put_aside", "wal"}


def test_no_byte_of_a_trace_is_left(full: Path) -> None:
    """Tables, built tables, leftovers, log, quarantine, dead letters and spill are clean."""
    assert places(full, CANARY) == EVERYWHERE
    assert places(full, OTHER) == EVERYWHERE

    summary = deleted(full, "--trace", TRACE_ID.upper())

    assert places(full, CANARY) == set()
    assert places(full, TRACE_ID.encode()) == set()
    assert places(full, OTHER) == EVERYWHERE - {"wal", "_spill"}
    assert landed(full).num_rows == 3
    assert summary["tables"] == {
        "raw_logs": {"rows": 1, "files": 1, "old_files": 0},
        "raw_spans": {"rows": 3, "files": 2, "old_files": 2},
        "steps": {"rows": 1, "files": 1, "old_files": 0},
    }
    assert (summary["quarantined_files"], summary["dead_letters"]) == (3, 1)


def test_a_second_delete_finds_nothing(full: Path) -> None:
    """What is erased is erased."""
    deleted(full, "--trace", TRACE_ID)
    again = deleted(full, "--trace", TRACE_ID)
    assert {again[name] for name in ("rows", "old_files", "quarantined_files")} == {0}
    assert landed(full).num_rows == 3


def test_a_dry_run_touches_nothing(full: Path) -> None:
    """It says what would go, what has not landed included."""
    before = {path: path.stat().st_mtime_ns for path in full.rglob("*") if path.is_file()}

    summary = deleted(full, "--trace", TRACE_ID, "--dry-run")

    after = {path: path.stat().st_mtime_ns for path in full.rglob("*") if path.is_file()}
    assert after == before
    assert summary["dry_run"] is True
    assert (summary["rows"], summary["pending_requests"], summary["dead_letters"]) == (4, 1, 1)
    assert summary["quarantined_files"] == 3


@pytest.mark.parametrize("point", slow_after(1, sorted(ERASING, reverse=True)))
def test_a_killed_delete_is_finished_by_the_next(full: Path, point: str) -> None:
    """For each kill point, even if the next one has another trace."""
    killed = subprocess.run(
        [COMMAND[0], "lake", "delete", "--lake", str(full), "--trace", TRACE_ID],
        env=os.environ | {VARIABLE: point},
        stderr=subprocess.DEVNULL,
        check=False,
    )
    assert killed.returncode == EXIT_CODE
    assert findings(full) == []

    deleted(full, "--trace", "f" * 32)

    assert places(full, CANARY) == set()
    assert landed(full).num_rows == 3
    assert findings(full) == []


def findings(lake: Path) -> list[str]:
    """Return what `lake verify` finds wrong, apart from the modes of the test's own files."""
    for path in lake.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return verify(Lake.open(lake), lambda _: None).wrong


def test_a_running_collector_loses_nothing(tmp_path: Path) -> None:
    """Others' traces that arrive during the delete all land, and the trace is gone."""
    lake, acknowledged = tmp_path / "lake", [10]

    def work() -> None:
        body = spans(acknowledged[-1] + 1, trace=OTHER_TRACE, text=OTHER)
        if collector.post("/v1/traces", body).status == 200:
            acknowledged.append(acknowledged[-1] + 1)

    with collecting(lake, max_segment_age_secs=0.05, land_every_secs=0.1) as collector:
        send(collector, TRACE, CANARY)
        with in_background(work) as end_soon:
            wait_until(lambda: OTHER_TRACE in landed_traces(lake))
            end_soon()
            summary = deleted(lake, "--trace", TRACE_ID)
        assert collector.stop() == 0

    assert places(lake, CANARY) == set()
    assert summary["rows"] == 3
    rows = landed(lake)
    assert set(rows["trace_id"].to_pylist()) == {OTHER_TRACE.to_bytes(16).hex()}
    assert sorted(int(each, 16) for each in rows["span_id"].to_pylist()) == acknowledged[1:]
    assert findings(lake) == []


def test_segment_that_lands_while_it_is_listed_is_not_waited_for(tmp_path: Path) -> None:
    """A running collector's log has its name, and the file is gone."""
    lake, notes = Lake.create(tmp_path), list[str]()
    with closing(WalFolder.claim(lake.state)) as log:
        (log.path / f"{1:020}.wal").symlink_to("gone")
        wait_until_landed(lake, CollectorConfig(), notes.append)

    assert notes == []


def landed_traces(lake: Path) -> set[int]:
    """Return the traces in `raw_spans` as numbers."""
    return {int(trace_id, 16) for trace_id in landed(lake)["trace_id"].to_pylist()}


@pytest.mark.slow
def test_compaction_beside_it_brings_nothing_back(tmp_path: Path) -> None:
    """They take turns, again and again; other traces keep all their rows."""
    path = tmp_path / "lake"
    with collecting(path, max_segment_age_secs=0.05, land_every_secs=0.05) as collector:
        for number in range(10, 40):
            collector.post("/v1/traces", spans(number, trace=TRACE + number % 2, text=CANARY))
        collector.stop()
    lake = Lake.open(path)

    def work() -> None:
        with suppress(MaintenanceBusy):
            compact(lake, CompactOptions(min_age_secs=0.0), lambda _: None)

    with in_background(work):
        summary = deleted(path, "--trace", TRACE_ID)

    assert summary["rows"] == 15
    assert landed(path)["trace_id"].to_pylist() == [OTHER_TRACE.to_bytes(16).hex()] * 15
    assert not [each for each in path.rglob("*.parquet") if TRACE_ID in repr(rows_of(each))]


@pytest.mark.parametrize("name", slow_after(1, reversed(LOCK_NAMES)))
def test_who_would_write_the_rows_again_ends_first(full: Path, name: str) -> None:
    """A compaction that is killed meanwhile would leave a file with rows that it read before."""
    lake, notes = Lake.open(full), list[str]()
    erasure = Erasure(lake, CollectorConfig(), notes.append)
    with ThreadPoolExecutor() as pool:
        with closing(FolderLock(full / name)) as lock:
            lock.acquire()
            erased = pool.submit(erasure.erase, [TRACE_ID])
            wait_until(lambda: f"waiting for {name} to be released" in notes)
            assert TRACE_ID in landed(full)["trace_id"].to_pylist()
        assert erased.result().rows > 0

    assert TRACE_ID not in landed(full)["trace_id"].to_pylist()


@pytest.mark.usefixtures("store")
def test_a_lake_on_an_object_store_is_erased_too(tmp_path: Path) -> None:
    """No object that is left, staged or old, holds a row of the trace; the others are there."""
    for number, trace in enumerate((TRACE, OTHER_TRACE)):
        body = spans(1, 2, trace=trace, text=CANARY)
        (tmp_path / f"{number}.pb").write_bytes(body)
    lake = Lake.create(f"s3://{BUCKET}/erased", tmp_path / "state")
    import_files(lake, [tmp_path / "0.pb", tmp_path / "1.pb"], lambda _: None)
    assert len(lake.live_files("raw_spans")) == 1

    erased = Erasure(lake, CollectorConfig(), lambda _: None).erase([TRACE_ID])

    stored = lake.stored_files("raw_spans")
    (left,) = [lake.open_parquet("raw_spans", each.path).read() for each in stored]
    found = verify(lake, lambda _: None, deep=True)

    assert erased.rows == 2
    assert left["trace_id"].to_pylist() == [OTHER_TRACE.to_bytes(16).hex()] * 2
    assert found.wrong == []


def rows_of(file: Path) -> list[dict[str, Any]]:
    """Return the rows of a file, whether a table names it or not."""
    rows: list[dict[str, Any]] = pq.read_table(file, partitioning=None).to_pylist()
    return rows


@pytest.mark.slow
def test_verify_beside_it_raises_no_alarm(tmp_path: Path) -> None:
    """Landing, compaction, deletes and verification at once: the account holds each time."""
    path, number = tmp_path / "lake", [0]

    def work() -> None:
        number[0] += 1
        assert collector.post("/v1/traces", spans(5, trace=number[0], text=OTHER)).status == 200

    def maintain() -> None:
        with suppress(MaintenanceBusy):
            compact(lake, CompactOptions(min_age_secs=0.5), lambda _: None)
        erasure = Erasure(lake, CollectorConfig(), lambda _: None)
        erasure.erase([max(1, number[0] - 5).to_bytes(16).hex()])

    with collecting(path, max_segment_age_secs=0.05, land_every_secs=0.2) as collector:
        lake = Lake.open(path)
        with in_background(work, maintain) as end_soon:
            wait_until((path / "removals.json").exists)
            end_soon()
            found = [verify(lake, lambda _: None).wrong for _ in range(8)]
        assert collector.stop() == 0

    assert found == [[]] * 8
    assert verify(lake, lambda _: None, deep=True).wrong == []


def test_a_damaged_file_is_named(full: Path) -> None:
    """It may hold rows of the trace, so nothing is called erased; exit code 3."""
    file = Path(Lake.open(full).files("raw_spans")[0])
    os.truncate(file, 100)

    done = delete(full, "--trace", TRACE_ID)
    assert done.returncode == 3
    assert str(file) in done.stderr


@pytest.mark.parametrize("flags", slow_after(1, [["--json"], [], ["--dry-run"]]))
def test_a_damaged_file_beside_the_tables_is_not_called_erased(
    full: Path, flags: list[str]
) -> None:
    """All else is erased and counted; exit code 3 until the file is gone."""
    file = full / "raw_spans" / "date=2026-11-01" / "torn.parquet"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(CANARY)
    os.utime(file, (1, 1))

    done = delete(full, "--trace", TRACE_ID, *flags)
    assert done.returncode == 3
    assert f"{file} cannot be read, so it may hold these traces" in done.stderr
    assert "1 files outside the tables cannot be read" in done.stderr.splitlines()[-1]
    if "--json" in flags:
        assert json.loads(done.stdout)["unreadable_files"] == 1
    file.unlink()
    assert places(full, CANARY) == (EVERYWHERE if "--dry-run" in flags else set())
    assert deleted(full, "--trace", TRACE_ID)["unreadable_files"] == 0


def test_rows_of_an_older_version_are_erased_too(full: Path) -> None:
    """A file that lacks a column gets it, with NULL, when it is written anew."""
    lake = Lake.open(full)
    old = lake.live_files("raw_spans")[0]
    rows = lake.open_parquet("raw_spans", old.path).read().slice(0, 1).drop_columns("trace_state")
    other = pa.concat_tables([rows, rows.set_column(0, "trace_id", pa.array(["e" * 32]))])
    pq.write_table(other, full / "raw_spans" / old.path)

    deleted(full, "--trace", rows["trace_id"][0].as_py())

    left = landed(full).filter(pc.field("trace_id") == "e" * 32)
    assert left["trace_state"].to_pylist() == [None]


def test_a_condition_finds_whole_traces(full: Path) -> None:
    """A trace goes with all its rows if one fulfills it; its logs go too."""
    condition = f"attributes['user.id'] = '{CANARY.decode()}' and start_ns < 5"

    summary = deleted(full, "--where", condition)

    assert summary["traces"] == 1
    assert places(full, CANARY) == set()
    assert landed(full).num_rows == 3


def test_a_condition_finds_log_records_without_a_trace(tmp_path: Path) -> None:
    """Of those that belong to no trace, only the ones that fulfill it go."""
    lake = tmp_path / "lake"
    bodies = [logs(trace=None, text=text) for text in (CANARY, OTHER)]
    records = [Record(1, 1, Signal.LOGS, Encoding.PROTOBUF, "", body) for body in bodies]
    Lake.create(lake).append(RAW_LOGS, log_rows(records, "c1"))

    summary = deleted(lake, "--where", f"body = '{CANARY.decode()}'")

    assert (summary["traces"], summary["rows"]) == (0, 1)
    assert landed(lake, "raw_logs")["body"].to_pylist() == [OTHER.decode()]


def test_the_tables_logs_hold_no_content(full: Path) -> None:
    """Their statistics are numbers; deleting leaves none of the ids that a trace has."""
    entries = [path.read_bytes() for path in full.glob("*/_delta_log/*")]

    assert entries
    assert not any(CANARY in entry or TRACE_ID.encode() in entry for entry in entries)


def test_an_old_version_says_that_its_file_is_gone(full: Path) -> None:
    """Time travel to before the delete fails, and tells which file it wants."""
    version = DeltaTable(str(full / "steps")).version()
    deleted(full, "--trace", TRACE_ID)

    old = DeltaTable(str(full / "steps"), version=version)
    with pytest.raises(FileNotFoundError, match="steps"):
        old.to_pyarrow_table()


def test_removed_rows_are_counted_without_ids(full: Path) -> None:
    """`removals.json` has the number of removed rows per collector, and nothing about them."""
    deleted(full, "--trace", TRACE_ID)

    text = (full / "removals.json").read_text()
    removed = json.loads(text)["removed"]
    assert sum(removed["raw_spans"].values()) == 3
    assert removed["steps"] == {"": 1}
    assert TRACE_ID not in text
    assert not (full / "erasing.json").exists()


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ([], "nothing to delete"),
        (["--trace", "12"], "--trace must be 32 hex digits, got '12'"),
        (["--where", "nme = 'x'"], "--where, character 1: expected a column"),
        (["--where", "body = 'x' and kind = 1"], "none of raw_spans and raw_logs has all of"),
    ],
    ids=["nothing", "no id", "no column", "no table"],
)
def test_what_means_nothing_is_refused(full: Path, flags: list[str], said: str) -> None:
    """Exit code 2, one line, and nothing is erased."""
    done = delete(full, *flags)

    assert done.returncode == 2
    assert said in done.stderr
    assert places(full, CANARY) == EVERYWHERE


def test_a_log_made_anew_forgets_nothing(full: Path) -> None:
    """Not even when all rows are erased: the ledger still knows what landed."""
    deleted(full, "--trace", TRACE_ID, "--trace", OTHER_TRACE.to_bytes(16).hex())
    shutil.rmtree(full / "raw_spans" / "_delta_log")

    repair(Lake.open(full), lambda _: None)

    assert landed(full).num_rows == 0
    assert findings(full) == []
