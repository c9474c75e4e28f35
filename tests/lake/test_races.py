"""Concurrent writers: each commit counts once, and none gives up while there is time."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from tests.waiting import PATIENCE_SECS

from tracegrade_lake import Column, Lake, Owner, Table, commit, locks
from tracegrade_lake.errors import CommitFailed, Fenced
from tracegrade_lake.folder import TableFolder
from tracegrade_lake.lake import _publish

NOTES = Table("notes", "one note", (Column("number", pa.int64(), "Order."),), partition_by=())
SHORT_PAUSE_SECS = 0.02
MILLION = 1_000_000


@dataclass(frozen=True)
class Raced(TableFolder):
    """A table's folder where another writer commits just before each of our writes.

    It is on another machine: it does not wait for its turn.
    """

    rival: Callable[[], object] = lambda: None

    def in_turn(self) -> AbstractContextManager[None]:
        """Let everybody through at once."""
        return nullcontext()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Let the other one write first."""
        self.rival()
        with super().writing():
            yield


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    """A lake with one note, whose writers pause shortly."""
    monkeypatch.setattr("tracegrade_lake.backoff.LONGEST_PAUSE_SECS", SHORT_PAUSE_SECS)
    lake = Lake.create(tmp_path / "lake")
    lake.append(NOTES, note(0))
    return lake


def note(number: int, table: Table = NOTES) -> pa.Table:
    """Return a row."""
    return pa.Table.from_pylist([{"number": number}], schema=table.arrow())


def numbers(lake: Lake) -> list[int]:
    """Return the numbers of all notes."""
    found = duckdb.execute("SELECT number FROM read_parquet($f)", {"f": lake.files("notes")})
    return sorted(number for (number,) in found.fetchall())


def rival(lake: Lake, commits: int, table: Table = NOTES) -> Callable[[], None]:
    """Return a writer of so many notes, one at each call."""
    left = iter(range(1, commits + 1))

    def write() -> None:
        for number in left:
            Lake.open(lake.root).append(table, note(number, table))
            break

    return write


LATE = commit.TableChange(transactions={"late/notes": 7}, leaves=lambda _: False)
"""A change for which files are looked up, so that each lost race opens the table afresh."""

APP = "late/notes"


def test_a_writer_that_is_second_twelve_times_commits_in_the_end(lake: Lake) -> None:
    """What counts is for how long others are first, not how often."""
    storage = Raced(lake.root / "notes", rival=rival(lake, commits=12))

    assert commit.commit_once(storage, NOTES, LATE)
    assert numbers(lake) == list(range(13))
    assert lake.transaction_version("notes", "late/notes") == 7


def test_a_writer_that_is_always_second_gives_up_by_time(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says for how long it tried; nothing of its commit is visible."""
    monkeypatch.setattr(commit, "COMMIT_PATIENCE_SECS", 1.0)
    storage = Raced(lake.root / "notes", rival=rival(lake, commits=MILLION))
    started = time.monotonic()

    with pytest.raises(CommitFailed, match="been first to commit to table notes for 1 s; try"):
        commit.commit_once(storage, NOTES, LATE)

    assert time.monotonic() - started >= 1
    assert lake.transaction_version("notes", "late/notes") is None


def test_a_lost_race_costs_an_addition_one_more_try(lake: Lake) -> None:
    """What others commit cannot matter to it, so it takes the next version at once."""
    storage = Raced(lake.root / "notes", rival=rival(lake, commits=MILLION))

    assert commit.commit_once(storage, NOTES, replace(LATE, leaves=None))
    assert lake.transaction_version("notes", APP) == 7
    assert numbers(lake) == [0, 1]


def test_an_addition_that_another_commits_first_counts_once(lake: Lake) -> None:
    """The other one is an earlier try of ours whose answer was lost, or a copy of us."""
    first, second = (lake.stage(NOTES, note(number), f"note-{number}") for number in (7, 8))
    storage = Raced(lake.root / "notes", rival=lambda: lake.add_files(NOTES, first, APP, 7))
    lost = commit.TableChange(transactions={APP: 7}, adds=_publish(storage, second))

    commit.commit_once(storage, NOTES, lost)

    assert numbers(lake) == [0, 7]
    assert lake.version("notes") == 2


def test_a_copy_that_commits_first_fences_an_addition(lake: Lake) -> None:
    """It is noticed though the copy starts between our look at the table and our commit."""
    staged = lake.stage(NOTES, note(7), "copy-7")
    copy = Owner("late/owner", (5, 9))
    storage = Raced(
        lake.root / "notes",
        rival=lambda: lake.add_files(NOTES, staged, APP, 7, copy),
    )
    ours = commit.TableChange(transactions={APP: 8}, owner=Owner("late/owner", (5,)))

    with pytest.raises(Fenced):
        commit.commit_once(storage, NOTES, ours)
    assert numbers(lake) == [0, 7]


@pytest.mark.parametrize("added_before", [("text",), ("text", "place")])
def test_new_columns_are_added_beside_a_writer_who_adds_them(
    lake: Lake, added_before: tuple[str, ...]
) -> None:
    """Two collectors of a new version start at once on an old lake: both go on."""
    new = {name: Column(name, pa.string(), "New.") for name in ("text", "place")}
    theirs = replace(NOTES, columns=(*NOTES.columns, *(new[name] for name in added_before)))
    ours = replace(NOTES, columns=(*NOTES.columns, *new.values()))
    storage = Raced(lake.root / "notes", rival=rival(lake, commits=1, table=theirs))

    assert commit.commit_once(storage, ours, LATE)
    assert {*(lake.columns("notes") or ())} == {"number", "text", "place"}
    assert numbers(lake) == [0, 1]


def test_writers_of_a_folder_take_turns(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """None of them loses a race, though each would give up at the second one."""
    monkeypatch.setattr(locks, "TURN_SECS", PATIENCE_SECS)
    monkeypatch.setattr(commit, "COMMIT_PATIENCE_SECS", 0.0)

    def write(writer: int) -> None:
        for number in range(8):
            change = replace(LATE, transactions={f"writer{writer}/notes": number})
            commit.commit(lake.storage.table("notes"), NOTES, change)

    with ThreadPoolExecutor(4) as writers:
        list(writers.map(write, range(4)))
    assert lake.version("notes") == 1 + 4 * 8


def test_a_writer_that_is_stopped_in_its_turn_holds_up_nobody_for_long(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Turns are a courtesy: commits are kept apart without."""
    monkeypatch.setattr(locks, "TURN_SECS", SHORT_PAUSE_SECS)

    with lake.storage.table("notes").in_turn():
        lake.append(NOTES, note(1))
    assert numbers(lake) == [0, 1]
