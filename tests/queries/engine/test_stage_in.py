"""Work on a bucket reads local copies of what lies on an object store, and leaves none behind."""

from pathlib import Path

import pytest
from tests.lake.stores import Store
from tests.queries.traces import agent, land, request_of

from tracegrade_lake import RAW_SPANS, Lake
from tracegrade_lake.errors import LakeDamaged
from tracegrade_queries.engine import stage_in
from tracegrade_queries.engine.pinned import PinnedLake, pin
from tracegrade_queries.engine.stage_in import SCRATCH_FOLDER, copied_locally


@pytest.fixture
def pinned(either_store: Store, tmp_path: Path) -> PinnedLake:
    """Two files on a store."""
    lake = Lake.create(either_store.url(tmp_path.name), tmp_path / "state")
    for day in range(2):
        land(lake, request_of([agent(1, trace=day + 1)]), seq=day + 1, day=day)
    return pin(lake, [RAW_SPANS.name])


def copies(pinned: PinnedLake) -> list[Path]:
    """Return the copies of Parquet files on this machine."""
    return sorted(Path(pinned.state, SCRATCH_FOLDER).rglob("*.parquet"))


def test_copies_are_the_files_themselves(pinned: PinnedLake) -> None:
    """They are read as a local lake's, in the layout of the lake."""
    with copied_locally(pinned) as local:
        lake = local.open()
        paths = lake.paths(RAW_SPANS.name, local.tables[RAW_SPANS.name].files)

        assert lake.is_local
        assert sorted(map(Path, paths)) == copies(pinned)
        assert [path.parent.name for path in copies(pinned)] == [
            "date=2026-09-21",
            "date=2026-09-22",
        ]
        sizes = [file.size for file in pinned.tables[RAW_SPANS.name].files]
        assert sorted(path.stat().st_size for path in copies(pinned)) == sorted(sizes)


def test_a_file_is_fetched_once_for_all_buckets(pinned: PinnedLake, either_store: Store) -> None:
    """Also for the next one, which begins when the first has ended."""
    with copied_locally(pinned):
        fetched = read_of_files(either_store)
        with copied_locally(pinned):
            assert read_of_files(either_store) == fetched
    with copied_locally(pinned):
        assert read_of_files(either_store) == fetched > 0


def read_of_files(store: Store) -> int:
    """Return how many requests have read files, the logs of tables left out."""
    return sum(method == "GET" and path.endswith(".parquet") for _, method, path in store.requests)


def test_no_more_is_kept_than_there_is_room_for(
    pinned: PinnedLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files in use stay in any case."""
    monkeypatch.setattr(stage_in, "CACHE_BYTES", 0)
    with copied_locally(pinned):
        with copied_locally(pinned.only({RAW_SPANS.name: lambda file: file.date == "2026-09-21"})):
            assert len(copies(pinned)) == 2
        assert len(copies(pinned)) == 2

    assert copies(pinned) == []


def test_copies_of_a_process_that_was_killed_are_removed(pinned: PinnedLake) -> None:
    """By the next one that needs files of the lake; no process holds the lock of their folder."""
    left = Path(pinned.state, SCRATCH_FOLDER, "killed", RAW_SPANS.name, "left.parquet")
    left.parent.mkdir(parents=True)
    left.touch()
    with copied_locally(pinned):
        assert left not in copies(pinned)
        assert len(copies(pinned)) == 2


def test_a_file_that_is_gone_is_named(pinned: PinnedLake) -> None:
    """An erasure removes objects at once; the query ends even if other files were fetched."""
    gone = pinned.tables[RAW_SPANS.name].files[0].path
    pinned.open().remove_files(RAW_SPANS.name, [gone])

    with (
        pytest.raises(LakeDamaged, match=f"{gone} is gone; run this again"),
        copied_locally(pinned),
    ):
        pass
