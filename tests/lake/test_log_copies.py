"""Logs of tables on a store are copied to this machine, each object once."""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from deltalake import DeltaTable
from tests.lake.stores import Store
from tests.lake.test_lake import NOTES, land, notes
from tests.lake.test_object_store import seqs

from tracegrade_lake import Lake
from tracegrade_lake.crash_points import EXIT_CODE, VARIABLE
from tracegrade_lake.log_copies import COPIES_FOLDER

ENTRY = r"_delta_log/\d{20}\.json$"
CHECKPOINT = r"_delta_log/\d{20}\.checkpoint\.parquet$"
WRITER = """
import sys
from tests.lake.test_lake import land
from tracegrade_lake import Lake
land(Lake.create(sys.argv[1], sys.argv[2]), int(sys.argv[3]), int(sys.argv[3]))
"""


@pytest.fixture
def url(store: Store, request: pytest.FixtureRequest) -> str:
    """The URL of a lake of the test's own."""
    return store.url(re.sub(r"\W", "-", request.node.name))


@pytest.fixture
def lake(url: str, tmp_path: Path) -> Lake:
    """A lake on a store, with fifteen notes of fifteen commits."""
    lake = Lake.create(url, tmp_path / "state")
    for number in range(1, 16):
        land(lake, number, number)
    return lake


def requests_of(store: Store, first: int) -> Counter[str]:
    """Return the number of requests since the first, by method and object of the log."""
    kinds = {ENTRY: "entry", CHECKPOINT: "checkpoint", "list-type|comp=list": "list"}
    found = [(method, path) for _, method, path in store.requests[first:]]
    return Counter(
        f"{method} {next((kind for form, kind in kinds.items() if re.search(form, path)), '-')}"
        for method, path in found
    )


def test_what_is_not_new_is_not_fetched(lake: Lake, store: Store) -> None:
    """One listing shows that nothing is new."""
    first = len(store.requests)
    assert lake.version("notes") == lake.version("notes") == 15

    assert requests_of(store, first) == {"GET list": 2}


def test_another_machine_reads_a_checkpoint_and_the_entries_after_it(
    lake: Lake, url: str, store: Store, tmp_path: Path
) -> None:
    """Each once, and only what is new at its second opening."""
    other = Lake.create(url, tmp_path / "other")
    first = len(store.requests)
    assert other.version("notes") == 15
    opened = requests_of(store, first)
    land(lake, 16, 16)
    second = len(store.requests)

    assert opened["GET checkpoint"] == 1
    assert opened["GET entry"] <= 10
    assert other.transaction_version("notes", "c1/notes") == 16
    assert requests_of(store, second) == {"GET list": 1, "GET entry": 1}
    assert seqs(other) == list(range(1, 17))


def test_the_log_on_the_store_is_what_any_reader_opens(lake: Lake) -> None:
    """Entries, checkpoints and the pointer: the Delta library reads the same table."""
    storage = lake.storage.table("notes")
    delta = DeltaTable(storage.uri, storage_options=storage.options)

    assert delta.version() == 15
    assert sorted(delta.file_uris()) == lake.files("notes")
    assert len(lake.files("notes")) == 15
    assert lake.transaction_version("notes", "c1/notes") == delta.transaction_version("c1/notes")


def test_a_table_that_was_made_again_is_not_mixed_with_its_copy(
    lake: Lake, url: str, tmp_path: Path
) -> None:
    """Its entries have the same names and other tags."""
    other = Lake.create(url, tmp_path / "other")
    assert other.version("notes") == 15
    lake.drop("notes")
    assert other.version("notes") is None
    for number in range(1, 16):
        land(lake, number, 100 + number)

    assert seqs(other) == seqs(lake) == list(range(101, 116))


@pytest.mark.parametrize("damage", [b"", b"{", b"\0" * 900])
def test_a_damaged_copy_is_fetched_again(lake: Lake, damage: bytes) -> None:
    """Whether its size shows it or the library does."""
    for copy in (lake.state / COPIES_FOLDER / "notes").iterdir():
        if copy.is_file():
            size = copy.stat().st_size
            copy.unlink()
            copy.write_bytes(damage[:1] * size if len(damage) > 1 else damage)

    assert seqs(lake) == list(range(1, 16))


def test_a_log_that_came_from_a_folder_gets_a_checkpoint_with_the_next_commit(
    store: Store, tmp_path: Path
) -> None:
    """Its own interval is that of a folder."""
    folder = Lake.create(tmp_path / "lake")
    for number in range(1, 41):
        land(folder, number, number)
    url = store.url("copied")
    lake = Lake.create(url, tmp_path / "state")
    client = lake.storage.client  # type: ignore[attr-defined]
    for path in folder.root.rglob("*"):
        if path.is_file():
            client.put(path.relative_to(folder.root).as_posix(), path.read_bytes())
    land(lake, 41, 41)
    other = Lake.create(url, tmp_path / "other")
    first = len(store.requests)

    assert seqs(other) == list(range(1, 42))
    assert requests_of(store, first)["GET entry"] <= 10


@pytest.mark.parametrize(
    ("point", "counts"), [("commit_in_copy", False), ("entry_put", True), ("checkpoint_put", True)]
)
def test_a_kill_leaves_a_commit_whole_or_absent(
    url: str, store: Store, tmp_path: Path, point: str, counts: bool
) -> None:
    """And the next writer commits, on the same machine as on another."""
    lake = Lake.create(url, tmp_path / "state")
    for number in range(1, 10):
        land(lake, number, number)
    killed = subprocess.run(
        [sys.executable, "-c", WRITER, url, str(lake.state), "10"],
        env=os.environ | store.environment | {VARIABLE: point},
        check=False,
    )
    assert killed.returncode == EXIT_CODE
    assert seqs(lake) == list(range(1, 11 if counts else 10))

    assert land(lake, 10, 10) is not counts
    assert land(Lake.create(url, tmp_path / "other"), 11, 11)
    assert seqs(lake) == list(range(1, 12))


def test_two_machines_that_swap_the_same_files_do_not_both_succeed(
    lake: Lake, url: str, tmp_path: Path
) -> None:
    """The second finds its files replaced, however new its copy of the log is."""
    other = Lake.create(url, tmp_path / "other")
    replaced = [file.path for file in other.live_files("notes")]
    lake.replace_files(NOTES, replaced, lake.stage(NOTES, notes(50), "one"))

    with pytest.raises(Exception, match="replaced by another writer"):
        other.replace_files(NOTES, replaced, other.stage(NOTES, notes(51), "two"))

    assert seqs(other) == seqs(lake) == [50]


def test_an_earlier_version_is_opened_from_copies_if_they_are_there(
    lake: Lake, url: str, store: Store, tmp_path: Path
) -> None:
    """No request at all; else the Delta library reads the log."""
    assert lake.version("notes") == 15
    first = len(store.requests)
    assert len(lake.live_files("notes", 13)) == 13
    assert requests_of(store, first) == {}

    assert len(Lake.create(url, tmp_path / "other").live_files("notes", 13)) == 13
    assert len(lake.live_files("notes", 4)) == 4


def test_copies_that_no_opening_needs_are_removed(lake: Lake) -> None:
    """Those before the last checkpoint, and each handle's folder with the handle."""
    for number in range(16, 32):
        land(lake, number, number)
    assert lake.version("notes") == 31

    left = sorted(path.name[:20] for path in (lake.state / COPIES_FOLDER / "notes").iterdir())
    assert left == sorted([f"{version:020d}" for version in (30, 30, 31)])
