"""Expiry: whole dates leave, counted exactly; files go once no reader needs them, not before."""

import json
import os
import shutil
import time
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.collector.running import in_background

from tracegrade_lake import RAW_LOGS, RAW_SPANS, Column, Lake, Table, commit
from tracegrade_lake.commit import open_table
from tracegrade_lake.maintenance.compaction import CompactOptions, compact
from tracegrade_lake.maintenance.expiry import Expired, clean, expire
from tracegrade_lake.maintenance.removals import removed_rows

from .lake_rows import (
    LONG_AGO,
    age_log,
    land,
    log_record,
    make_old,
    numbers,
    read,
    silent,
    span,
    today,
)
from .stores import Store

BUILT = Table("steps", "", (Column("step_index", pa.int32(), ""), Column("date", pa.date32(), "")))
DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def of_four_dates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with rows of long ago, of 30 and 31 days ago, and of today."""
    lake = Lake.create(tmp_path_factory.mktemp("dates") / "lake")
    dates = [LONG_AGO, today() - 31 * DAY, today() - 30 * DAY, today()]
    for seq, date in enumerate(dates, start=1):
        land(lake, [span(seq * 10, seq, date=date), span(seq * 10 + 1, seq, date=date)])
        land(lake, [log_record(seq, seq, date=date)], RAW_LOGS)
        made = pa.Table.from_pylist([{"step_index": seq, "date": date}], schema=BUILT.arrow())
        lake.append(BUILT, made)
    return lake.root


@pytest.fixture
def lake(of_four_dates: Path, tmp_path: Path) -> Lake:
    """A copy of that lake, to be changed."""
    return Lake.open(shutil.copytree(of_four_dates, tmp_path / "lake"))


def removed(lake: Lake, table: Table = RAW_SPANS) -> dict[str, int]:
    """Return how many rows are counted as removed, by collector."""
    delta = open_table(lake.storage.table(table.name))
    assert delta
    return dict(removed_rows(lake, table.name, delta.transaction_version))


def stored(lake: Lake, table: Table = RAW_SPANS) -> set[str]:
    """Return the names of all Parquet files below a table's folder."""
    return {file.name for file in (lake.root / table.name).rglob("*.parquet") if file.stat()} - {
        file.name for file in (lake.root / table.name / "_delta_log").iterdir()
    }


def test_dates_before_the_limit_leave_all_tables(lake: Lake) -> None:
    """A date leaves when all of it is older; what is built of it goes too."""
    done = expire(lake, 30, silent)

    assert (done.dates, done.rows, done.files) == (6, 8, 6)
    assert numbers(lake) == [30, 31, 40, 41]
    assert len(read(lake, RAW_LOGS)) == 2
    assert sorted(row["step_index"] for row in read(lake, BUILT)) == [3, 4]
    assert expire(lake, 30, silent) == Expired()


def test_what_is_built_can_be_kept(lake: Lake) -> None:
    """Steps and scores outlive their traces if that is asked for."""
    expire(lake, 30, silent, keep_built=True)

    assert len(read(lake, BUILT)) == 4
    assert numbers(lake) == [30, 31, 40, 41]


def test_removed_rows_are_counted_exactly(lake: Lake) -> None:
    """By the collector that received them; a second one adds its own."""
    land(lake, [span(90, 1, collector_id="c2")])
    expire(lake, 31, silent)
    assert removed(lake) == {"c1": 2, "c2": 1}
    expire(lake, 30, silent)

    assert removed(lake) == {"c1": 4, "c2": 1}
    assert removed(lake, RAW_LOGS) == {"c1": 2}


def test_a_dry_run_expires_nothing(lake: Lake) -> None:
    """It says the same numbers and changes no file."""
    lines = list[str]()
    before = {path: path.stat().st_size for path in lake.root.rglob("*") if path.is_file()}
    planned = expire(lake, 30, lines.append, dry_run=True)
    after = {path: path.stat().st_size for path in lake.root.rglob("*") if path.is_file()}

    assert after.items() - before.items() == {(lake.root / "maintenance.lock", 0)}
    assert f"raw_spans {LONG_AGO}: 2 rows would leave the table" in lines
    assert planned == expire(lake, 30, silent)


def test_today_never_expires(lake: Lake) -> None:
    """Yesterday does not, either, with any options."""
    expire(lake, 0, silent)

    assert numbers(lake) == [40, 41]


def test_expired_files_stay_for_their_retention(lake: Lake) -> None:
    """A reader that began before keeps its snapshot for seven days, for any date (F12)."""
    files = lake.files("raw_spans")
    expire(lake, 30, silent)
    make_old(lake, days=400)
    age_log(lake, days=6.9)

    assert clean(lake, silent) == Expired()
    assert all(map(os.path.exists, files))


def test_files_are_removed_when_their_retention_is_over(lake: Lake) -> None:
    """Expired ones and compacted ones; those that are live never."""
    land(lake, [span(1, 9)])
    compact(lake, CompactOptions(min_age_secs=0), silent)
    expire(lake, 30, silent)
    make_old(lake, days=400)
    age_log(lake, days=7.1)
    gone = len(stored(lake)) - len(lake.files("raw_spans"))
    planned = clean(lake, silent, dry_run=True)
    done = clean(lake, silent)

    assert planned == done
    assert (done.removed_files, done.removed_bytes > 0) == (gone, True)
    assert stored(lake) == {Path(file).name for file in lake.files("raw_spans")}
    assert numbers(lake) == [30, 31, 40, 41]


def test_files_are_removed_when_the_log_has_forgotten_them(lake: Lake) -> None:
    """A checkpoint drops removals that are older than the retention."""
    expire(lake, 30, silent)
    age_log(lake, days=8)
    delta = open_table(lake.storage.table("raw_spans"))
    assert delta
    delta.create_checkpoint()
    for entry in (lake.root / "raw_spans/_delta_log").glob("*.json"):
        if int(entry.stem) < delta.version():
            entry.unlink()
    make_old(lake, days=9)

    assert clean(lake, silent).removed_files == 2
    assert numbers(lake) == [30, 31, 40, 41]


def test_leftovers_of_a_crash_are_removed_after_a_day(lake: Lake) -> None:
    """Younger ones may belong to a landing that is under way: staged, or not yet committed."""
    rows = pa.Table.from_pylist([span(7, 9)], schema=RAW_SPANS.arrow())
    lake.stage(RAW_SPANS, rows, "c1-9")
    folder = lake.root / f"raw_spans/date={LONG_AGO}"
    pq.write_table(rows.drop_columns(["date"]), folder / "c1-00000000000000000010.parquet")

    assert clean(lake, silent) == Expired()
    make_old(lake, days=0.9)
    assert clean(lake, silent) == Expired()
    make_old(lake, days=1.1)
    assert clean(lake, silent).removed_files == 2
    assert len(numbers(lake)) == 8


def test_a_staged_file_that_is_committed_meanwhile_stays(lake: Lake) -> None:
    """The store is listed before the log is read."""
    rows = pa.Table.from_pylist([span(7, 9)], schema=RAW_SPANS.arrow())
    staged = lake.stage(RAW_SPANS, rows, "c1-00000000000000000009")
    make_old(lake, days=3)
    lake.add_files(RAW_SPANS, staged, "c1/traces", 9)
    clean(lake, silent)

    assert 7 in numbers(lake)


def test_files_are_listed_while_others_come_and_go(lake: Lake) -> None:
    """What a lander has staged may be gone when it is looked at."""
    stage = lake.storage.table("raw_spans").stage_folder
    stage.mkdir(exist_ok=True)

    def churn() -> None:
        for number in range(20):
            (stage / f"{number}.parquet").touch()
        for number in range(20):
            (stage / f"{number}.parquet").unlink()

    live = {file.path for file in lake.live_files("raw_spans")}
    with in_background(churn):
        found = [{file.path for file in lake.stored_files("raw_spans")} for _ in range(200)]

    assert all(live <= paths for paths in found)


def test_what_a_repair_put_aside_is_no_leftover(lake: Lake) -> None:
    """It stays until a person has looked at it."""
    aside = lake.root / "raw_spans/_quarantine/00000000000000000009.json"
    aside.parent.mkdir()
    aside.write_text("torn")
    os.utime(aside, (0, 0))
    clean(lake, silent)

    assert aside.exists()


def test_quarantine_and_dead_letters_expire(lake: Lake) -> None:
    """By the age of their files; their lines are counted as removed."""
    for folder in ("quarantine", "dead_letters"):
        (lake.state / folder).mkdir()
        for name, days in (("c1-1.jsonl", 31), ("c1-2.jsonl", 29)):
            file = lake.state / folder / name
            file.write_text("{}\n{}\n")
            then = time.time() - days * 24 * 3600
            os.utime(file, (then, then))

    assert expire(lake, 30, silent).kept_apart_removed == 2
    assert [file.name for file in (lake.state / "dead_letters").iterdir()] == ["c1-2.jsonl"]
    book = json.loads((lake.state / "removals.json").read_bytes())["removed"]
    assert (book["dead_letters"], book["quarantine"]) == ({"c1": 2}, {"c1": 1})


def test_an_empty_lake_has_nothing_to_expire(tmp_path: Path) -> None:
    """No table, no folder, no error."""
    assert expire(Lake.create(tmp_path / "none"), 30, silent) == Expired()


def test_a_table_without_dates_stays(lake: Lake) -> None:
    """Scores of releases have no date of receipt."""
    flat = Table("release_scores", "", BUILT.columns[:1], partition_by=())
    lake.replace(flat, pa.Table.from_pylist([{"step_index": 1}], schema=flat.arrow()))
    expire(lake, 30, silent)

    assert len(lake.files("release_scores")) == 1


def test_a_copy_of_a_lake_is_cleaned_by_the_log_it_has(lake: Lake, tmp_path: Path) -> None:
    """Copied files are new, so nothing is taken for a leftover."""
    expire(lake, 30, silent)
    shutil.copytree(lake.root, tmp_path / "copy")

    assert clean(Lake.open(tmp_path / "copy"), silent) == Expired()


def test_the_log_stays_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries older than six hours go once a checkpoint holds what they said."""
    monkeypatch.setitem(commit.CONFIGURATION, "delta.checkpointInterval", "5")
    monkeypatch.setattr(commit, "CLEANUP_COMMITS", 5)
    lake = Lake.create(tmp_path / "busy")
    log = lake.root / "raw_spans/_delta_log"
    for seq in range(1, 12):
        land(lake, [span(seq, seq)])
    for entry in log.iterdir():
        os.utime(entry, (time.time() - 7 * 3600,) * 2)
    for seq in range(12, 23):
        land(lake, [span(seq, seq)])

    assert len(list(log.glob("*.json"))) < 15
    assert numbers(lake) == list(range(1, 23))
    assert lake.transaction_version("raw_spans", "c1/traces") == 22


def test_what_was_staged_for_a_store_and_forgotten_is_removed(
    store: Store, tmp_path: Path
) -> None:
    """It lies on this machine, below no table's folder; a file of today may yet be committed."""
    lake = Lake.create(store.url("forgotten"), tmp_path)
    rows = pa.Table.from_pylist([span(1, 1)], schema=RAW_SPANS.arrow())
    (old,), (new,) = (lake.stage(RAW_SPANS, rows, name) for name in ("old", "new"))
    os.utime(old.path, (0, 0))

    assert clean(lake, silent, dry_run=True).removed_files == 1
    assert old.path.exists()
    assert clean(lake, silent) == Expired(removed_files=1, removed_bytes=old.size)
    assert not old.path.exists()
    assert new.path.exists()
