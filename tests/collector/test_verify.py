"""`tracegrade lake verify`: it holds for a healthy lake, and finds each kind of damage."""

import json
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.commands import Ended, tracegrade
from tests.waiting import PATIENCE_SECS, wait_until

from tracegrade_collector.importing.importer import import_files
from tracegrade_collector.log.wal import read_segment
from tracegrade_collector.log.wal_folder import WalFolder
from tracegrade_collector.maintenance import verify as verification
from tracegrade_collector.maintenance.verify import VerificationReport, verify
from tracegrade_lake import RAW_SPANS, Column, Lake, Table, locks

from .running import (
    collecting,
    in_background,
    landed,
    landed_ids,
    log_body,
    trace_body,
    trace_request,
)

OLD = 1_700_000_000


def run(lake: Path, *flags: str) -> Ended:
    """Run the command to its end."""
    return tracegrade("lake", "verify", "--lake", lake, *flags)


def report(lake: Path, *, deep: bool = False) -> VerificationReport:
    """Return what is found in this process."""
    return verify(Lake.open(lake), lambda _: None, deep=deep)


def refused_body(span_id: int) -> bytes:
    """Return a request with one good span and one without an id."""
    request = trace_request(span_id, span_id + 1)
    request.resource_spans[0].scope_spans[0].spans[1].span_id = b""
    return request.SerializeToString()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with two files of spans, one of logs, refused and undecodable requests."""
    lake = tmp_path_factory.mktemp("verify") / "lake"
    with collecting(lake, max_segment_age_secs=0.05, land_every_secs=0.1) as collector:
        collector.post("/v1/traces", trace_body(1, 2))
        wait_until(lambda: landed(lake).num_rows == 2)
        collector.post("/v1/traces", refused_body(3))
        collector.post("/v1/traces", b"\xff")
        collector.post("/v1/logs", log_body("a"))
        assert collector.stop() == 0
    return lake


@pytest.fixture(scope="module")
def pending_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake whose collector was killed with three requests that have not landed."""
    lake = tmp_path_factory.mktemp("killed") / "pending"
    with collecting(lake, max_segment_age_secs=3600) as collector:
        for number in range(3):
            collector.post("/v1/traces", trace_body(number + 1))
        collector.kill()
    return lake


@pytest.fixture
def pending(pending_once: Path, tmp_path: Path) -> Path:
    """A copy of that lake."""
    return Path(shutil.copytree(pending_once, tmp_path / "pending"))


@pytest.fixture
def lake(made: Path, tmp_path: Path) -> Path:
    """A copy of the healthy lake, to be damaged."""
    return Path(shutil.copytree(made, tmp_path / "lake"))


def test_a_healthy_lake_holds(made: Path) -> None:
    """Each item received is in the table or has its reason, and the numbers are printed."""
    done = run(made, "--json")

    assert done.returncode == 0, done.stdout
    found = json.loads(done.stdout)
    spans = next(each for each in found["accounts"] if each["signal"] == "traces")
    counts = ("received", "landed", "rejected", "quarantined", "pending", "unaccounted", "rows")
    assert [spans[name] for name in counts] == [4, 3, 1, 0, 0, 0, 3]
    assert found["holds"] is True
    assert any("could not be decoded" in line for line in found["notes"])


def test_the_account_is_printed_as_a_table(made: Path) -> None:
    """One row per collector and signal, then what was found."""
    done = run(made)

    lines = done.stdout.splitlines()
    assert lines[0].split()[:4] == ["collector", "signal", "received", "landed"]
    assert lines[1].split()[1:] == ["traces", "4", "3", "1", "0", "0", "0", "3", "0"]
    assert lines[-1] == "all checks passed"


def test_what_has_not_landed_is_pending(pending: Path) -> None:
    """Records of the log count as received."""
    (spans, _) = report(pending).lines

    assert (spans.received, spans.pending, spans.unaccounted) == (3, 3, 0)


def first_file(lake: Path) -> Path:
    """Return a file of spans."""
    return Path(Lake.open(lake).files("raw_spans")[0])


def rewrite(change: Callable[[Any], Any]) -> Callable[[Path], None]:
    """Return what changes the rows of a file, but not what the table's log says of it."""

    def damage(lake: Path) -> None:
        file = first_file(lake)
        rows = pq.read_table(file, partitioning=None)
        pq.write_table(change(rows), file)

    return damage


def truncate(lake: Path) -> None:
    """Cut a file in half."""
    file = first_file(lake)
    os.truncate(file, file.stat().st_size // 2)


def flip(lake: Path) -> None:
    """Change bytes inside a file's pages."""
    file = first_file(lake)
    content = bytearray(file.read_bytes())
    content[100:200] = bytes(100)
    file.write_bytes(content)


def remove(lake: Path) -> None:
    """Remove a file of the table."""
    first_file(lake).unlink()


def empty(lake: Path) -> None:
    """Leave nothing of a file but its name."""
    os.truncate(first_file(lake), 0)


def tear_log(lake: Path) -> None:
    """Empty the table's newest commit, as a power cut can."""
    os.truncate(max((lake / "raw_spans/_delta_log").glob("*.json")), 0)


def break_log(lake: Path) -> None:
    """Remove a commit from the middle of the log."""
    sorted((lake / "raw_spans/_delta_log").glob("*.json"))[1].unlink()


def open_to_all(lake: Path) -> None:
    """Let everybody read a file."""
    first_file(lake).chmod(0o644)


def drop_letters(lake: Path) -> None:
    """Remove the dead letters."""
    for file in (lake / "dead_letters").iterdir():
        file.unlink()


def cheat(lake: Path) -> None:
    """Let the ledger say that more was received than became of it."""
    (ledger,) = (lake / "ledger").glob("*-traces.json")
    content = json.loads(ledger.read_bytes())
    for totals in content["totals"]:
        totals["items"] += 5
    ledger.write_text(json.dumps(content))


def take_rows(lake: Path) -> None:
    """Take a file out of the table behind the ledger's back."""
    opened = Lake.open(lake)
    opened.replace_files(RAW_SPANS, [opened.live_files("raw_spans")[0].path], [])


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (truncate, "cannot be read"),
        (empty, "cannot be read"),
        (remove, "cannot be read"),
        (rewrite(lambda rows: rows.slice(0, 1)), "rows, the table's log says 2"),
        (rewrite(lambda rows: rows), "bytes, the table's log says"),
        (rewrite(lambda rows: rows.append_column("more", rows["name"])), "not declared"),
        (
            rewrite(lambda rows: rows.set_column(0, "trace_id", rows["flags"])),
            "column 'trace_id' as int64, declared is string",
        ),
        (tear_log, "is torn"),
        (break_log, "lake repair"),
        (open_to_all, "is accessible to other users (0644)"),
        (drop_letters, "1 rejected items were kept and only 0 are in"),
        (cheat, "5 of 9 received items are neither landed nor"),
        (take_rows, "rows, landed less removed are 3"),
    ],
    ids=lambda each: each.__name__ if callable(each) else "",
)
def test_damage_is_found(lake: Path, damage: Callable[[Path], None], said: str) -> None:
    """One line says what it is; everything else is still looked at."""
    damage(lake)

    found = report(lake)
    assert any(said in line for line in found.wrong), found.wrong
    assert len(found.lines) == 2


def test_damage_inside_a_page_needs_a_deep_look(lake: Path) -> None:
    """The footer of the file is whole; its pages cannot be decoded."""
    flip(lake)

    assert report(lake).wrong == []
    assert any(str(first_file(lake)) in line for line in report(lake, deep=True).wrong)


def test_a_failed_check_is_told_by_the_exit_code(lake: Path) -> None:
    """1, after all findings, each on a line."""
    truncate(lake)

    done = run(lake)
    assert done.returncode == 1
    assert str(first_file(lake)) in done.stdout
    assert "checks failed" in done.stderr


def test_a_damaged_record_is_found_before_it_lands(pending: Path) -> None:
    """The bytes are named; the records around it still count."""
    (segment,) = (each for each in pending.glob("wal/*/*.wal") if each.stat().st_size)
    content = bytearray(segment.read_bytes())
    content[len(content) // 2] ^= 0xFF
    segment.write_bytes(content)

    assert any("are damaged" in line for line in report(pending).wrong)


def test_an_unfinished_record_at_the_end_is_no_damage(pending: Path) -> None:
    """It was never acknowledged."""
    (segment,) = (each for each in pending.glob("wal/*/*.wal") if each.stat().st_size)
    with open(segment, "rb") as file:
        first, *_ = read_segment(file)
        file.seek(0)
        unfinished = file.read(first.end - 5)
    with open(segment, "ab") as file:
        file.write(unfinished)

    assert report(pending).wrong == []


@pytest.mark.parametrize("lost", [1, 2, 3])
@pytest.mark.parametrize("cut", [0, 1, 20])
def test_an_end_that_was_acknowledged_and_is_gone_is_missed(
    pending: Path, lost: int, cut: int
) -> None:
    """Though what is left looks as a crash leaves it, and even where it ends with a record."""
    (segment,) = (each for each in pending.glob("wal/*/*.wal") if each.stat().st_size)
    with open(segment, "rb") as file:
        ends = [0, *(each.end for each in read_segment(file))]
    os.truncate(segment, ends[3 - lost] + cut)

    assert any(f"{lost} of 3 acknowledged requests" in line for line in report(pending).wrong)


def test_what_is_lost_from_the_log_stays_known_after_it_landed(pending: Path) -> None:
    """The next collector lands the rest, keeps the damaged bytes, and counts what is lost."""
    (segment,) = (each for each in pending.glob("wal/*/*.wal") if each.stat().st_size)
    os.truncate(segment, segment.stat().st_size - 1)
    with collecting(pending) as collector:
        collector.post("/v1/traces", trace_body(4))
        assert collector.stop() == 0

    found = report(pending)
    assert sorted(landed_ids(pending)) == [1, 2, 4]
    assert sorted(landed(pending)["wal_seq"].to_pylist()) == [1, 2, 4]
    assert [line.partition(": ")[2].partition(" since")[0] for line in found.wrong] == [
        "1 acknowledged requests are lost,"
    ]
    assert any("1 damaged pieces of the log are in quarantine" in line for line in found.notes)
    assert len(list((pending / "quarantine").iterdir())) == 1


@pytest.mark.parametrize("note", [b"", b"\0" * 28, b"\xff" * 28, b"x" * 27, None])
def test_without_a_whole_note_an_end_is_taken_for_unfinished(
    pending: Path, note: bytes | None
) -> None:
    """After a power cut it may be behind, torn or absent: that raises no alarm."""
    (path,) = pending.glob("wal/*/acknowledged")
    path.unlink() if note is None else path.write_bytes(note)
    (segment,) = (each for each in pending.glob("wal/*/*.wal") if each.stat().st_size)
    os.truncate(segment, segment.stat().st_size - 5)

    assert report(pending).wrong == []


def test_what_others_put_into_the_log_is_named_and_does_not_stop_it(
    pending: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Foreign files, folders and links with any names are not logs or segments, and stay."""
    log = WalFolder.all_in(pending)[0]
    foreign = [log.parent / "notes.txt", log / "garbage.wal", log / f"{10**19:020d}.wal"]
    for path in foreign:
        path.touch(0o600)
    for path in (log.parent / "lost+found", log / "old", log / f"{4:020d}.wal"):
        path.mkdir(0o700)
        foreign.append(path)
    for path in (log.parent / "linked", log / f"{5:020d}.wal", log / f"{6:020d}.wal"):
        path.symlink_to(foreign[0] if path != log.parent / "linked" else foreign[-1])
        foreign.append(path)

    before = report(pending)
    with collecting(pending) as collector:
        collector.post("/v1/traces", trace_body(4))
        assert collector.stop() == 0
    after, logged = report(pending), capfd.readouterr().err

    assert sorted(landed(pending)["wal_seq"].to_pylist()) == [1, 2, 3, 7]
    assert (before.wrong, after.wrong) == ([], [])
    for path in foreign:
        said = f"{path} is not of the log and is left alone; move it elsewhere"
        assert said in before.notes
        assert said in after.notes
        assert logged.count(said) == 1
        assert path.exists()
    assert foreign[0].read_bytes() == b""


def test_numbers_go_on_after_segments_were_removed_by_hand(pending: Path) -> None:
    """What arrives afterwards is not taken for what had landed; what was removed is missed."""
    for segment in pending.glob("wal/*/*.wal"):
        segment.unlink()
    with collecting(pending, max_segment_age_secs=3600) as collector:
        collector.post("/v1/traces", trace_body(4))
        collector.kill()

    assert any("records 1 to 3 have not landed" in line for line in report(pending).wrong)
    with collecting(pending) as collector:
        assert collector.stop() == 0
    assert landed(pending)["wal_seq"].to_pylist() == [4]


def test_a_record_that_was_cut_out_is_missed(pending: Path) -> None:
    """The numbers around it tell, though each other record is whole."""
    (segment,) = (each for each in pending.glob("wal/*/*.wal") if each.stat().st_size)
    content = segment.read_bytes()
    with open(segment, "rb") as file:
        first, second, _ = read_segment(file)
    segment.write_bytes(content[: first.end] + content[second.end :])

    assert any("records 2 to 2 are missing" in line for line in report(pending).wrong)


def test_a_removed_segment_is_missed(pending: Path) -> None:
    """The missing records were between the landed ones and the beginning of the log."""
    (segment,) = (each for each in pending.glob("wal/*/*.wal") if each.stat().st_size)
    segment.rename(segment.with_name(f"{4:020d}.wal"))
    os.truncate(segment.with_name(f"{4:020d}.wal"), 0)

    assert any("records 1 to 3 have not landed" in line for line in report(pending).wrong)


def test_old_files_of_no_table_are_noted(lake: Path) -> None:
    """They do no harm; files that are being written do not count."""
    file = first_file(lake)
    for name in ("old.parquet", "new.parquet"):
        (file.parent / name).write_bytes(file.read_bytes())
        (file.parent / name).chmod(0o600)
    os.utime(file.parent / "old.parquet", (OLD, OLD))

    found = report(lake)
    assert found.wrong == []
    assert any("1 files" in line and "belong to no version" in line for line in found.notes)


def test_imported_rows_are_accounted_for(tmp_path: Path) -> None:
    """Each import counts what it adds; a file that is taken out of the table is missed."""
    lake = Lake.create(tmp_path / "lake")
    for number in range(2):
        file = tmp_path / f"{number}.pb"
        file.write_bytes(trace_body(2 * number + 1, 2 * number + 2))
        import_files(lake, [file], lambda _: None)

    whole = report(lake.root)
    assert whole.wrong == []
    assert "raw_spans: 4 rows were imported, 0 of them removed" in whole.notes

    take_rows(lake.root)
    (line,) = report(lake.root).wrong
    assert "has 2 imported rows, imported less removed are 4" in line


def test_what_comes_and_goes_meanwhile_raises_no_alarm(lake: Path) -> None:
    """A compaction makes folders for what it sorts, and removes them."""

    def churn() -> None:
        (lake / "spill").mkdir(0o700)
        for number in range(20):
            (lake / "spill" / str(number)).mkdir(0o700)
        shutil.rmtree(lake / "spill")

    with in_background(churn):
        found = [report(lake).wrong for _ in range(20)]

    assert found == [[]] * 20


def test_writers_that_never_pause_wait_for_it(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it would find something moved each time."""
    monkeypatch.setattr(locks, "TURN_SECS", PATIENCE_SECS)
    monkeypatch.setattr(verification, "ATTEMPTS", 3)
    lake = Lake.open(shutil.copytree(made, tmp_path / "lake"))
    notes = Table("notes", "one note", (Column("number", pa.int64(), "Any."),), partition_by=())
    note = pa.Table.from_pylist([{"number": 1}], schema=notes.arrow())
    with in_background(*[lambda: lake.append(notes, note)] * 2):
        wait_until(lambda: lake.version("notes"))
        assert [report(lake.root).wrong for _ in range(3)] == [[], [], []]


def test_a_loaded_collector_raises_no_alarm(tmp_path: Path) -> None:
    """With any changes between two reads, the account is right each time."""
    lake, stop, sent = tmp_path / "lake", threading.Event(), [0]

    def load() -> None:
        while not stop.is_set():
            sent[0] += 1
            body = refused_body(10 * sent[0]) if sent[0] % 5 == 0 else trace_body(10 * sent[0])
            collector.post("/v1/traces", body)
            collector.post("/v1/logs", log_body("a"))

    with collecting(lake, max_segment_age_secs=0.05, land_every_secs=0.1) as collector:
        threads = [threading.Thread(target=load) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            wait_until(lambda: sent[0] > 20)
            found = [report(lake, deep=True) for _ in range(10)]
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        collector.stop()

    assert [each.wrong for each in found] == [[] for _ in found]
    assert report(lake).wrong == []
