"""Compaction: few sorted files, the same rows, one unmarked row among equals, during any work."""

import json
import os
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.slow import slow_after

from tracegrade_lake import RAW_LOGS, RAW_SPANS, Column, Lake, Table
from tracegrade_lake.errors import LakeDamaged, LakeUnwritable, MaintenanceBusy
from tracegrade_lake.maintenance import compaction
from tracegrade_lake.maintenance.compaction import (
    Compacted,
    CompactOptions,
    LeftAlone,
    compact,
    left_alone,
    plan,
)
from tracegrade_lake.maintenance.maintenance_lock import hold_maintenance_lock
from tracegrade_lake.maintenance.sorting import Sorter, sample_of

from .lake_rows import (
    LONG_AGO,
    land,
    live_names,
    log_record,
    numbers,
    read,
    silent,
    span,
    today,
)

NOW = CompactOptions(min_age_secs=0)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """An empty lake."""
    return Lake.create(tmp_path / "lake")


def comparable(rows: list[dict[str, Any]]) -> Counter[str]:
    """Return the rows without their mark, counted."""
    return Counter(
        json.dumps({key: value for key, value in row.items() if key != "resent"}, default=str)
        for row in rows
    )


def test_a_date_that_is_over_becomes_one_sorted_file(lake: Lake) -> None:
    """All rows are there, unchanged, ordered by trace and then by time."""
    for seq in range(1, 10):
        land(lake, [span(seq * 10 + n, seq) for n in range(9, 0, -1)])
    before = comparable(read(lake))

    done = compact(lake, NOW, silent)

    rows = [(row["trace_id"], row["start_ns"]) for row in read(lake)]
    assert (done.files_before, done.files_after, done.rows) == (9, 1, 81)
    assert comparable(read(lake)) == before
    assert rows == sorted(rows)
    assert lake.transaction_version("raw_spans", "c1/traces") == 9


def test_nothing_to_do_is_no_commit(lake: Lake) -> None:
    """What was compacted is not compacted again, nor is a single file."""
    for seq in (1, 2):
        land(lake, [span(seq, seq)])
    land(lake, [span(3, 3, date=LONG_AGO + timedelta(days=1))])
    compact(lake, NOW, silent)
    version, files = lake.version("raw_spans"), live_names(lake)

    assert compact(lake, NOW, silent) == Compacted()
    assert (lake.version("raw_spans"), live_names(lake)) == (version, files)


def test_files_that_are_left_are_counted_by_reason(lake: Lake) -> None:
    """Those of one date that was compacted are done, a single one is few, new ones are young."""
    for seq in (1, 2):
        land(lake, [span(seq, seq)])
    land(lake, [span(3, 3, date=LONG_AGO + timedelta(days=1))])

    assert left_alone(lake, NOW) == LeftAlone(few=1)
    compact(lake, NOW, silent)

    assert left_alone(lake, NOW) == LeftAlone(few=1, done=1)
    assert left_alone(lake, CompactOptions()) == LeftAlone(young=1, done=1)


def test_a_dry_run_says_what_it_would_do(lake: Lake) -> None:
    """It changes nothing."""
    for seq in (1, 2, 3):
        land(lake, [span(seq, seq)])
    version, lines = lake.version("raw_spans"), list[str]()
    done = compact(lake, NOW, lines.append, dry_run=True)

    assert (done.files_before, done.files_after, done.rows) == (3, 0, 3)
    assert lake.version("raw_spans") == version
    assert f"raw_spans {LONG_AGO}: 3 files" in lines[0]


def test_moving_rows_is_no_change_of_data(lake: Lake) -> None:
    """A reader of changes sees none, unless a row was marked."""
    for seq in (1, 2):
        land(lake, [span(seq, seq)])
    compact(lake, NOW, silent)
    entry = max((lake.root / "raw_spans/_delta_log").glob("*.json")).read_text()

    assert '"dataChange":false' in entry
    assert '"dataChange":true' not in entry


def test_of_equal_spans_the_first_received_is_not_resent(lake: Lake) -> None:
    """For any collector that received it, and any order of landing."""
    land(lake, [span(1, 5, received_ns=200), span(2, 5, received_ns=200)])
    land(lake, [span(1, 9, collector_id="c2", received_ns=100)])
    land(lake, [span(2, 6, received_ns=300)])

    done = compact(lake, NOW, silent)

    marks = {(r["span_id"][-1], r["collector_id"], r["wal_seq"]): r["resent"] for r in read(lake)}
    assert done.marked_resent == 2
    assert marks == {
        ("1", "c1", 5): True,
        ("1", "c2", 9): False,
        ("2", "c1", 5): False,
        ("2", "c1", 6): True,
    }


def test_a_mark_is_never_taken_back(lake: Lake) -> None:
    """The copy that counts may stand on another date, which this compaction does not see."""
    land(lake, [span(1, 1, resent=True)])
    land(lake, [span(1, 2, resent=True)])
    compact(lake, NOW, silent)

    assert [row["resent"] for row in read(lake)] == [True, True]


def test_equal_log_records_of_one_request_are_two_events(lake: Lake) -> None:
    """Those of another request are the same ones, sent again."""
    land(lake, [log_record(1, 1), log_record(1, 1)], RAW_LOGS)
    land(lake, [log_record(1, 2), log_record(1, 2), log_record(2, 2)], RAW_LOGS)

    assert compact(lake, NOW, silent).marked_resent == 2
    unmarked = [(r["body"], r["wal_seq"]) for r in read(lake, RAW_LOGS) if not r["resent"]]
    assert sorted(unmarked) == [("log 1", 1), ("log 1", 1), ("log 2", 2)]


@st.composite
def files_of_spans(draw: st.DrawFn) -> list[list[dict[str, Any]]]:
    """Some files of spans; some of these were sent several times."""
    sizes = draw(st.lists(st.integers(1, 8), min_size=2, max_size=6))
    return [
        [
            span(
                draw(st.integers(0, 9)),
                seq,
                collector_id=draw(st.sampled_from(["c1", "c2"])) if size == 1 else "c1",
                received_ns=draw(st.integers(0, 5)),
            )
            for _ in range(size)
        ]
        for seq, size in enumerate(sizes, start=1)
    ]


@settings(max_examples=5)
@given(files=files_of_spans(), target=st.sampled_from([1, 1 << 20]))
def test_any_rows_stay_and_one_of_equal_ones_is_unmarked(
    tmp_path_factory: pytest.TempPathFactory, files: list[list[dict[str, Any]]], target: int
) -> None:
    """The multiset of rows is kept; the unmarked row of an identity is its first."""
    lake = Lake.create(tmp_path_factory.mktemp("lake"))
    for rows in files:
        land(lake, rows)
    before = read(lake)
    compact(lake, CompactOptions(target_bytes=target, min_age_secs=0), silent)
    after = read(lake)

    assert comparable(after) == comparable(before)
    unmarked = [row for row in after if not row["resent"]]
    assert Counter(row["span_id"] for row in unmarked) == Counter(
        {row["span_id"]: 1 for row in before}
    )
    for row in unmarked:
        same = [each for each in before if each["span_id"] == row["span_id"]]
        keys = [(each["received_ns"], each["collector_id"], each["wal_seq"]) for each in same]
        assert (row["received_ns"], row["collector_id"], row["wal_seq"]) == min(keys)


def sorted_apart(rows: pa.Table, folder: Path, chunk_bytes: int) -> list[pa.Table]:
    """Sort rows by trace and number, a hundred at a time in memory."""
    sorter = Sorter(["trace", "number"], ["tie"], folder, chunk_bytes)
    batches = iter([rows.slice(at, 100) for at in range(0, rows.num_rows, 100)])
    sample = sample_of(rows, ["trace", "number"], 0, 10)
    return list(sorter.sort(batches, sample, rows.num_rows))


@pytest.mark.parametrize("keys", [1, 3, 10_000])
def test_rows_are_sorted_in_bounded_chunks(tmp_path: Path, keys: int) -> None:
    """Equal keys, and NULL, meet in one chunk however often they occur; nothing is left over."""
    count = 20_000
    traces = [None if n % 11 == 0 else f"{(n * 7919) % keys:05d}" for n in range(count)]
    rows = pa.table(
        {
            "trace": pa.array(traces, pa.string()),
            "number": [n % 5 for n in range(count)],
            "tie": [(n * 31) % count for n in range(count)],
            "more": [[("a", str(n))] for n in range(count)],
        }
    )
    chunks = sorted_apart(rows, tmp_path, chunk_bytes=40_000)
    found = pa.concat_tables(chunks)
    ends = [(chunk["trace"][0].as_py(), chunk["number"][0].as_py()) for chunk in chunks]

    assert found.equals(rows.sort_by([(name, "ascending") for name in ("trace", "number", "tie")]))
    assert len(ends) == len(set(ends))
    assert list(tmp_path.iterdir()) == []
    assert keys < 10_000 or len(chunks) > 20


def test_files_have_about_the_target_size(lake: Lake) -> None:
    """Each trace is in one file, and the log knows each file's range."""
    rows = [span(n, 1, name=os.urandom(400).hex()) for n in range(600)]
    land(lake, rows[:300])
    land(lake, [row | {"wal_seq": 2} for row in rows[300:]])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compaction, "Sorter", partial(Sorter, chunk_bytes=60_000))
        done = compact(lake, CompactOptions(target_bytes=60_000, min_age_secs=0), silent)

    files = lake.files("raw_spans")
    traces = [
        set(pq.read_table(file, partitioning=None)["trace_id"].to_pylist()) for file in files
    ]
    assert done.files_after == len(files) > 2
    assert sum(map(len, traces)) <= 7 + len(files)
    assert all(file.ranges["wal_seq"] == (1, 2) for file in lake.live_files("raw_spans")[:2])


def test_todays_files_are_merged_when_they_are_old_enough(lake: Lake) -> None:
    """The newest stay; so do those that are few."""
    later = datetime.now(UTC) + timedelta(hours=1)
    for seq in range(1, 6):
        land(lake, [span(seq, seq, date=later.date())])
    assert compact(lake, CompactOptions(), silent) == Compacted()

    (group,) = plan(lake.live_files("raw_spans"), CompactOptions(), later)

    assert (group.date, len(group.files)) == (str(later.date()), 5)
    assert plan(lake.live_files("raw_spans")[:3], CompactOptions(), later) == []


@pytest.mark.slow
def test_a_row_of_today_is_merged_a_few_times_only(lake: Lake) -> None:
    """A large merged file waits until there is as much again."""
    for seq in range(1, 31):
        land(lake, [span(seq, seq, date=today(), name=os.urandom(2000).hex())])
        compact(lake, NOW, silent)
    written = sum(
        pq.read_metadata(file).num_rows
        for file in (lake.root / "raw_spans").rglob("merged-*.parquet")
    )

    assert numbers(lake) == list(range(1, 31))
    assert len(lake.files("raw_spans")) < 12
    assert written <= 30 * 5


def test_a_few_smaller_files_keep_no_larger_ones_from_being_merged(lake: Lake) -> None:
    """They wait for others of their size; four files of about one size are merged."""
    for seq, count in enumerate([1, 3, 10, 11, 12, 13], start=1):
        land(lake, [span(seq * 100 + n, seq, date=today()) for n in range(count)])

    (group,) = plan(lake.live_files("raw_spans"), NOW, datetime.now(UTC))
    assert [file.rows for file in group.files] == [10, 11, 12, 13]


def test_late_files_of_a_date_wait_until_they_are_much(lake: Lake) -> None:
    """A whole date is not sorted again for each small file; a day later it is."""
    for seq in (1, 2):
        land(lake, [span(seq * 100 + n, seq, name=os.urandom(500).hex()) for n in range(50)])
    compact(lake, NOW, silent)
    land(lake, [span(7, 3)])

    assert plan(lake.live_files("raw_spans"), NOW, datetime.now(UTC)) == []
    tomorrow = datetime.now(UTC) + timedelta(days=1, hours=1)
    (group,) = plan(lake.live_files("raw_spans"), NOW, tomorrow)
    assert len(group.files) == 2


def test_old_files_stay_for_readers(lake: Lake) -> None:
    """A reader that listed the files before reads them after."""
    for seq in (1, 2, 3):
        land(lake, [span(seq, seq)])
    files = lake.files("raw_spans")
    compact(lake, NOW, silent)

    found = duckdb.execute("SELECT count(*) FROM read_parquet($f)", {"f": files}).fetchall()
    assert found == [(3,)]
    assert set(files).isdisjoint(lake.files("raw_spans"))


def test_who_changes_the_files_meanwhile_wins(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """The compaction leaves the date as it is now, and nothing of its own."""
    for seq in (1, 2):
        land(lake, [span(seq, seq)])
    original = Lake.replace_files

    def after_another(self: Lake, *args: Any, **kwargs: Any) -> None:
        monkeypatch.setattr(Lake, "replace_files", original)
        gone = self.live_files("raw_spans")[0].path
        self.replace_files(RAW_SPANS, [gone], [])
        self.replace_files(*args, **kwargs)

    monkeypatch.setattr(Lake, "replace_files", after_another)
    done = compact(lake, NOW, silent)

    assert (done.skipped, done.files_after) == (1, 0)
    assert numbers(lake) == [2]
    assert not list((lake.root / "raw_spans").rglob("compacted*"))


def test_two_compactions_do_not_run_at_once(lake: Lake) -> None:
    """The second one says so."""
    with (
        hold_maintenance_lock(lake.state),
        pytest.raises(MaintenanceBusy, match="already running"),
    ):
        compact(lake, NOW, silent)


def test_a_full_disk_changes_nothing(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table stays, no unfinished file remains, and the next time it works."""
    for seq in (1, 2):
        land(lake, [span(seq, seq)])

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("tracegrade_lake.maintenance.rewriting.sync_data", full)
        with pytest.raises(LakeUnwritable, match="No space left"):
            compact(lake, NOW, silent)

    assert not list((lake.root / "raw_spans").rglob("compacted*"))
    assert compact(lake, NOW, silent).files_after == 1
    assert numbers(lake) == [1, 2]


def test_a_date_without_room_is_left(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sorting needs disk; filling it would stop the collector."""
    for seq in (1, 2):
        land(lake, [span(seq, seq)])
    usage = type("Usage", (), {"free": 10})
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)

    assert compact(lake, NOW, silent).skipped == 1
    assert numbers(lake) == [1, 2]


def test_a_damaged_file_keeps_only_its_date_from_compaction(lake: Lake) -> None:
    """It is named, and every other date is compacted all the same."""
    for seq in range(1, 5):
        land(lake, [span(seq, seq, date=LONG_AGO + timedelta(days=seq % 2))])
    damaged = next(file for file in lake.files("raw_spans") if str(LONG_AGO) in file)
    Path(damaged).write_bytes(b"")

    with pytest.raises(LakeDamaged, match=Path(damaged).name):
        compact(lake, NOW, silent)
    assert len(lake.files("raw_spans")) == 3


BUILT = Table(
    "steps",
    "",
    (
        Column("trajectory_id", pa.string(), ""),
        Column("step_index", pa.int32(), ""),
        Column("date", pa.date32(), ""),
    ),
)


def test_built_tables_are_compacted_too(lake: Lake) -> None:
    """Their columns are taken from their log; a build may replace a date beside."""
    for index in (2, 1):
        rows = [{"trajectory_id": "t", "step_index": index, "date": LONG_AGO}]
        lake.append(BUILT, pa.Table.from_pylist(rows, schema=BUILT.arrow()))
    done = compact(lake, NOW, silent)

    assert done.files_after == 1
    assert [row["step_index"] for row in read(lake, BUILT)] == [1, 2]


def test_rows_of_an_older_schema_get_the_new_columns(lake: Lake) -> None:
    """Files from before a column was added are read with NULL there."""
    older = Table(BUILT.name, "", BUILT.columns[1:])
    day = {"date": LONG_AGO}
    lake.append(older, pa.Table.from_pylist([{"step_index": 1, **day}], schema=older.arrow()))
    row = {"trajectory_id": "t", "step_index": 2, **day}
    lake.append(BUILT, pa.Table.from_pylist([row], schema=BUILT.arrow()))
    compact(lake, NOW, silent)

    rows = {row["step_index"]: row["trajectory_id"] for row in read(lake, BUILT)}
    assert rows == {1: None, 2: "t"}


KILLED = """
import os, sys
import tracegrade_lake.{module} as module
from tracegrade_lake import Lake
from tracegrade_lake.maintenance.compaction import CompactOptions, compact
module.{point} = lambda *_, **__: os._exit(9)
compact(Lake.open({root!r}), CompactOptions(min_age_secs=0), print)
"""
POINTS = [
    ("maintenance.rewriting", "sync_data"),
    ("maintenance.rewriting", "sync_folder"),
    ("folder", "sync_folder"),
    ("lake", "commit"),
    ("commit", "_removes"),
]


@pytest.mark.parametrize(("module", "point"), slow_after(2, POINTS))
def test_a_killed_compaction_harms_nothing(lake: Lake, module: str, point: str) -> None:
    """Until its commit nothing counts; the next one does it all and leaves no second copy."""
    for seq in (1, 2, 3):
        land(lake, [span(seq, seq)])
    program = KILLED.format(module=module, point=point, root=str(lake.root))
    killed = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)

    assert killed.returncode == 9, killed.stderr
    assert numbers(lake) == [1, 2, 3]
    assert compact(lake, NOW, silent).files_after == 1
    assert numbers(lake) == [1, 2, 3]
    assert len(list((lake.root / "raw_spans").rglob("compacted*"))) == 1
    assert not (lake.state / "spill").exists()


LANDING = """
import sys
sys.path[:0] = [{checkout!r}]
from tests.lake.lake_rows import Lake, land, span
lake = Lake.open({root!r})
for seq in range(1, 13):
    first = {writer} * 1000 + seq * 10
    land(lake, [span(first + n, seq, collector_id="c{writer}") for n in (1, 2)])
"""


@pytest.mark.slow
def test_collectors_land_and_a_reader_reads_while_compaction_loops(lake: Lake) -> None:
    """Nothing is lost or doubled; a reader that holds a version reads it to the end (F12)."""
    land(lake, [span(n, 1, collector_id="c0") for n in range(5)])
    held = lake.files("raw_spans")
    checkout = str(Path(__file__).parents[2])
    writers = [
        subprocess.Popen(
            [
                sys.executable,
                "-c",
                LANDING.format(checkout=checkout, root=str(lake.root), writer=writer),
            ]
        )
        for writer in (1, 2)
    ]
    compactions = 0
    while any(writer.poll() is None for writer in writers):
        compactions += compact(lake, NOW, silent).files_after > 0
        seen = numbers(lake)
        assert len(seen) == len(set(seen))
        assert duckdb.execute("SELECT count(*) FROM read_parquet($f)", {"f": held}).fetchall() == [
            (5,)
        ]
    compactions += compact(lake, NOW, silent).files_after > 0

    expected = [1000 * w + seq * 10 + n for w in (1, 2) for seq in range(1, 13) for n in (1, 2)]
    assert [writer.returncode for writer in writers] == [0, 0]
    assert numbers(lake) == [*range(5), *expected]
    assert lake.transaction_version("raw_spans", "c2/traces") == 12
    assert compactions > 0
