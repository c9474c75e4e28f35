"""Many collectors on one table, all at once: every commit counts, and no caller gets an error."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
from tests.slow import slow_after

from tracegrade_lake import Lake, StagedFile, commit
from tracegrade_lake.errors import CommitFailed, LakeUnwritable
from tracegrade_lake.folder import Folder

from .stores import Store
from .test_races import Raced
from .writers import NOTES, write

LOG = r"/notes/_delta_log/\d{20}\.json$"


def numbers(lake: Lake) -> list[int]:
    """Return the numbers of the notes in the live files, sorted."""
    files = [lake.open_parquet("notes", file.path) for file in lake.live_files("notes")]
    return sorted(number for file in files for number in file.read()["number"].to_pylist())


def note(number: int) -> pa.Table:
    """Return a row."""
    return pa.table({"number": pa.array([number], pa.int64())})


@pytest.mark.slow
def test_sixteen_writers_of_a_folder_get_no_error(tmp_path: Path) -> None:
    """128 commits; none waits for another collector's interval."""
    lake = Lake.create(tmp_path / "lake")
    written = write(lake.location, tmp_path, writers=16, commits=8)

    assert written.errors == []
    assert numbers(lake) == [writer * 1000 + n for writer in range(16) for n in range(8)]
    assert lake.version("notes") == 128


def test_writers_of_a_store_get_no_error(store: Store, tmp_path: Path) -> None:
    """Each lost race costs them requests, and no more than that."""
    lake = Lake.create(store.url("many"), tmp_path / "reader")
    written = write(lake.location, tmp_path, writers=2, commits=4)

    assert written.errors == []
    assert numbers(lake) == [writer * 1000 + n for writer in range(2) for n in range(4)]
    assert not [path for path in tmp_path.rglob("*.parquet") if path.is_file()]


Commit = Callable[[Lake, list[StagedFile]], object]
COMMITS: dict[str, Commit] = {
    "add_files": lambda lake, staged: lake.add_files(NOTES, staged, "late/notes", 1),
    "put_files": lambda lake, staged: lake.put_files(NOTES, staged, (), {}),
    "replace_files": lambda lake, staged: lake.replace_files(NOTES, [], staged),
}


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer that gives up when it was second twice."""
    monkeypatch.setattr(commit, "COMMIT_PATIENCE_SECS", 0.0)
    monkeypatch.setattr(commit, "RACES", 0)


@dataclass(frozen=True)
class RacedFolder(Folder):
    """A lake's folder where another writer commits before each of our writes, while it may."""

    commits_left: list[int]

    def table(self, name: str) -> Raced:
        """Return the folder of a raced table."""
        return Raced(self.root / name, rival=self._commit)

    def _commit(self) -> None:
        if self.commits_left:
            Lake.open(self.root).append(NOTES, note(self.commits_left.pop()))


@pytest.mark.parametrize("call", COMMITS.values(), ids=COMMITS.keys())
def test_a_failed_commit_to_a_folder_is_called_again_with_the_same_files(
    call: Commit, tmp_path: Path, impatient: None
) -> None:
    """They are in the table's folder already, invisible to readers."""
    Lake.create(tmp_path).append(NOTES, note(0))
    storage = RacedFolder(tmp_path, list(range(50, 1, -1)))
    lake = Lake(storage, tmp_path)
    staged = lake.stage(NOTES, note(1), "late-1")
    with pytest.raises(CommitFailed):
        call(lake, staged)
    storage.commits_left.clear()
    assert 1 not in numbers(lake)
    call(lake, staged)

    assert numbers(lake) == [0, 1, *range(2, numbers(lake)[-1] + 1)]
    assert not [file for file in lake.stored_files("notes") if "_stage" in file.path]


def test_a_file_of_the_name_with_another_size_is_not_taken_for_the_staged_one(
    tmp_path: Path,
) -> None:
    """What an interrupted try left must not stand for rows that are gone."""
    lake = Lake.create(tmp_path)
    many = pa.table({"number": pa.array(range(500), pa.int64())})
    lake.storage.table("notes").publish(lake.stage(NOTES, many, "late-1"))
    staged = lake.stage(NOTES, note(1), "late-1")
    staged[0].path.unlink()

    with pytest.raises(LakeUnwritable, match="No such file"):
        lake.add_files(NOTES, staged, "late/notes", 1)


@pytest.mark.parametrize("call", COMMITS.values(), ids=COMMITS.keys())
@pytest.mark.parametrize(
    "of_its_name", slow_after(1, [1, 0]), ids=["its name is taken", "its name is free"]
)
def test_a_failed_commit_to_a_store_is_called_again_with_the_same_files(
    call: Commit, of_its_name: int, store: Store, tmp_path: Path, impatient: None
) -> None:
    """No object is put twice, under any name."""
    lake = Lake.create(store.url(tmp_path.name), tmp_path / "state")
    lake.append(NOTES, note(0))
    if of_its_name:
        lake.storage.table("notes").publish(lake.stage(NOTES, note(9), "late-1"))
    staged = lake.stage(NOTES, note(1), "late-1")
    refused = store.fault("PUT", LOG, reply=store.exists, times=1000)
    for _ in range(2):
        with pytest.raises(CommitFailed):
            call(lake, staged)
    assert refused.hits >= 2
    assert numbers(lake) == [0]
    store.heal()
    call(lake, staged)

    assert numbers(lake) == [0, 1]
    assert len(lake.stored_files("notes")) == 2 + of_its_name
    assert not list(lake.state.rglob("*.parquet"))
