"""Replaced files of tables that can be computed again leave the disk after a day, no others do."""

import json
import re
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import obstore
import pyarrow as pa
import pytest
from tests.collector.running import in_background

from tracegrade_lake import RAW_SPANS, Column, Lake, Table
from tracegrade_lake.errors import LakeDamaged
from tracegrade_lake.job_files import small_files
from tracegrade_lake.maintenance.maintenance_lock import hold_maintenance_lock
from tracegrade_lake.maintenance.replaced_files import (
    KEEP_HOURS,
    NOTE_NAME,
    NOTHING_REMOVED,
    PAUSE_HOURS,
    RemovedFiles,
    remove_replaced_files,
    replaced_files,
)
from tracegrade_lake.object_store import ObjectStore

from .lake_rows import age_log, land, span, today
from .stores import Store

STEPS = Table("steps", "", (Column("step_index", pa.int32(), ""), Column("date", pa.date32(), "")))
DAY = date(2026, 11, 21)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """A lake whose steps were replaced twice, 25 hours ago, and spans replaced at that time."""
    lake = Lake.create(tmp_path / "lake")
    for number in range(3):
        put(lake, number)
    land(lake, [span(1, 1)])
    lake.replace_dates(RAW_SPANS, RAW_SPANS.arrow().empty_table(), [str(today())])
    age_log(lake, days=1.1, table="*")
    (lake.root / NOTE_NAME).write_text('{"looked_at": 0}')
    return lake


def put(lake: Lake, number: int) -> None:
    """Let a row be all that the steps consist of."""
    rows = pa.Table.from_pylist([{"step_index": number, "date": DAY}], schema=STEPS.arrow())
    lake.replace(STEPS, rows)


def name_removed(lake: Lake, path: str) -> None:
    """Let the log of the steps name a file as removed long ago, as a hostile writer could."""
    entry = max((lake.root / "steps/_delta_log").glob("*.json"))
    removal = {"path": path, "deletionTimestamp": 1, "dataChange": True, "size": 1}
    entry.write_text(entry.read_text() + json.dumps({"remove": removal}) + "\n")


def stored(lake: Lake, table: str = "steps") -> set[str]:
    """Return the paths of all Parquet files of a table."""
    return {file.path for file in lake.stored_files(table)}


def live(lake: Lake) -> set[str]:
    """Return the paths of the files that the steps consist of."""
    return {file.path for file in lake.live_files("steps")}


def remove(lake: Lake, keep_hours: float = KEEP_HOURS) -> RemovedFiles:
    """Remove what left the steps, or a table that the lake does not have."""
    return remove_replaced_files(lake, {"steps", "decisions"}, keep_hours)


def test_replaced_files_leave_after_a_day(lake: Lake) -> None:
    """Live ones stay, and so do those that were replaced since, and all files of spans."""
    old, spans = stored(lake) - live(lake), stored(lake, "raw_spans")
    put(lake, 4)
    kept = stored(lake) - old
    removed = remove(lake)

    assert (removed.files, removed.size > 0) == (2, True)
    assert stored(lake) == kept > live(lake)
    assert stored(lake, "raw_spans") == spans


def test_files_that_the_log_does_not_name_stay(lake: Lake) -> None:
    """Another writer may be about to commit them, or they were staged."""
    other = lake.root / f"steps/date={DAY}/other.parquet"
    other.write_bytes(b"PAR1")
    rows = pa.Table.from_pylist([{"step_index": 9, "date": DAY}], schema=STEPS.arrow())
    (staged,) = lake.stage(STEPS, rows, "staged")
    remove(lake)

    assert other.exists()
    assert staged.path.exists()


def test_a_file_that_came_back_stays(lake: Lake) -> None:
    """A file of the table is never removed, even if its log also names it as removed."""
    (path,) = live(lake)
    first = min((lake.root / "steps/_delta_log").glob("*.json"))
    removal = {"path": path, "deletionTimestamp": 1, "dataChange": True, "size": 1}
    first.write_text(first.read_text() + json.dumps({"remove": removal}) + "\n")
    remove(lake)

    assert stored(lake) == live(lake) == {path}


def test_nothing_is_removed_through_a_link(lake: Lake, tmp_path: Path) -> None:
    """A folder below the table may lead elsewhere, and so may a path in the log."""
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in ("a.parquet", "b.parquet"):
        (outside / name).write_bytes(b"PAR1")
    (lake.root / "steps/date=2026-11-22").symlink_to(outside)
    name_removed(lake, "date=2026-11-22/a.parquet")
    name_removed(lake, "../../outside/b.parquet")
    remove(lake)

    assert {file.name for file in outside.iterdir()} == {"a.parquet", "b.parquet"}


def test_a_link_in_the_place_of_a_file_leaves_its_target(lake: Lake, tmp_path: Path) -> None:
    """Only the name inside of the table goes."""
    target = tmp_path / "target.parquet"
    target.write_bytes(b"PAR1")
    (lake.root / f"steps/date={DAY}/linked.parquet").symlink_to(target)
    name_removed(lake, f"date={DAY}/linked.parquet")
    remove(lake)

    assert target.exists()


def test_a_look_follows_a_look_after_hours(lake: Lake) -> None:
    """So that a follower does not list the lake again and again."""
    assert remove(lake).files == 2
    put(lake, 5)
    age_log(lake, days=1.1, table="*")
    assert remove(lake) == NOTHING_REMOVED
    note = {"looked_at": time.time() - PAUSE_HOURS * 3600 - 1}
    (lake.root / NOTE_NAME).write_text(json.dumps(note))
    assert remove(lake).files == 1


def test_a_note_of_the_future_does_not_hold_for_ever(lake: Lake) -> None:
    """A clock was wrong; the note is, or it cannot be read."""
    (lake.root / NOTE_NAME).write_text(json.dumps({"looked_at": time.time() + 9e9}))
    assert remove(lake).files == 2


@pytest.mark.parametrize("note", ["", "[]", '{"looked_at": null}'])
def test_an_unreadable_note_is_written_again(lake: Lake, note: str) -> None:
    """The files go with the next look, as in a lake that was never looked at."""
    (lake.root / NOTE_NAME).write_text(note)

    assert remove(lake) == NOTHING_REMOVED
    assert time.time() - json.loads((lake.root / NOTE_NAME).read_text())["looked_at"] < 600


def test_files_stay_as_long_as_wanted(lake: Lake) -> None:
    """At least an hour, since queries read what they have listed."""
    assert remove(lake, keep_hours=48) == NOTHING_REMOVED
    put(lake, 6)
    (lake.root / NOTE_NAME).write_text('{"looked_at": 0}')
    assert remove(lake, keep_hours=0).files == 2
    assert len(stored(lake)) == 2


def test_maintenance_under_way_is_left_alone(lake: Lake) -> None:
    """An erasure looks at the same files; the next scoring run looks again."""
    with hold_maintenance_lock(lake.state):
        assert remove(lake) == NOTHING_REMOVED
    assert remove(lake).files == 2


def test_a_damaged_log_removes_nothing(lake: Lake) -> None:
    """What it says is not known, so every file may be needed."""
    before = stored(lake)
    min((lake.root / "steps/_delta_log").glob("*.json")).unlink()
    with pytest.raises(LakeDamaged):
        remove(lake)

    assert stored(lake) == before


def test_commits_go_on_meanwhile(lake: Lake) -> None:
    """Each reader finds all files of the newest version, before and after."""

    def commits() -> None:
        for number in range(20):
            put(lake, 100 + number)

    with in_background(commits):
        for _ in range(10):
            (lake.root / NOTE_NAME).write_text('{"looked_at": 0}')
            remove(lake, keep_hours=1)
            assert (found := lake.dataset("steps")) is not None
            assert found.count_rows() == 1
    assert live(lake) <= stored(lake)


def test_a_store_is_cleaned_alike(store: Store, tmp_path: Path) -> None:
    """The note of the last look is in the store, for the next machine; logs are read as copies."""
    lake = Lake.create(store.url("replaced"), tmp_path)
    for number in range(3):
        put(lake, number)
    assert remove(lake) == NOTHING_REMOVED
    age_objects(lake)
    small_files(lake).write(NOTE_NAME, b'{"looked_at": 0}')
    other = Lake.create(store.url("replaced"), tmp_path / "other")

    assert remove(other).files == 2
    assert stored(other) == live(other)
    assert remove(lake) == NOTHING_REMOVED
    other.version("steps")
    assert entries_read(store, lambda: [*replaced_files(other, "steps", KEEP_HOURS)]) == 0


def entries_read(store: Store, work: Callable[[], object]) -> int:
    """Return how many objects of logs some work fetches."""
    before = len(store.requests)
    work()
    made = store.requests[before:]
    return sum(method == "GET" and "_delta_log/0" in path for _, method, path in made)


def age_objects(lake: Lake) -> None:
    """Let every removal in the log of the steps have happened a day ago, on a store."""
    assert isinstance(lake.storage, ObjectStore)
    client = lake.storage.client
    found = [
        entry["path"] for batch in obstore.list(client, "steps/_delta_log") for entry in batch
    ]
    for path in found:
        entry = bytes(obstore.get(client, path).bytes()).decode()
        aged = re.sub(r'("deletionTimestamp":)\d+', r"\g<1>1", entry)
        obstore.put(client, path, aged.encode())
