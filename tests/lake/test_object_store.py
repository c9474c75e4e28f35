"""A lake on an object store: each commit counts once, for any response of the store."""

import contextlib
import gc
import hashlib
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from tests.slow import slow_after

from tracegrade_lake import Column, Lake, Table
from tracegrade_lake.errors import (
    BadLakePath,
    FilesReplaced,
    LakeMissing,
    LakeUnreachable,
    StoreUnfit,
)
from tracegrade_lake.job_lake import JobLake, lake_for_work
from tracegrade_lake.lake_root import state_folder
from tracegrade_lake.storage import STAGE_FOLDER

from .stores import SECRET, Reply, Store
from .test_lake import NOTES, notes

DATA = r"/notes/date"
LOG = r"/notes/_delta_log/\d{20}\.json$"
SLOW_DOWN = Reply(503, "SlowDown")
CONFLICT = Reply(409, "ConditionalRequestConflict")
EXISTS = "what the store says of an object that is there"
INTERNAL = Reply(500, "InternalError")


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The folder of what a lake on the store keeps on this machine."""
    monkeypatch.setenv("TRACEGRADE_STATE", str(tmp_path / "state"))


@pytest.fixture
def lake(store: Store, request: pytest.FixtureRequest, tmp_path: Path) -> Lake:
    """A lake with one note, under a prefix of its own."""
    prefix = hashlib.sha256(request.node.name.encode()).hexdigest()[:12]
    lake = Lake.create(store.url(f"{prefix}/lake"), tmp_path / "state")
    land(lake, 1, 1)
    return lake


def land(lake: Lake, version: int, *seqs: int) -> bool:
    """Commit notes as a collector would."""
    staged = lake.stage(NOTES, notes(*seqs), f"c1-{version}")
    return lake.add_files(NOTES, staged, "c1/notes", version)


def seqs(lake: Lake) -> list[int]:
    """Return the numbers of the notes, sorted, from the live objects."""
    files = [lake.open_parquet("notes", file.path) for file in lake.live_files("notes")]
    return sorted(seq for file in files for seq in file.read(["wal_seq"])["wal_seq"].to_pylist())


def staged_files(lake: Lake) -> list[Path]:
    """Return what waits on this machine."""
    return [path for path in (lake.state / STAGE_FOLDER).rglob("*") if path.is_file()]


def test_a_version_is_committed_once(lake: Lake) -> None:
    """As in a folder: the version counts, not what comes with it."""
    assert land(lake, 2, 2)
    assert not land(lake, 2, 3)

    assert seqs(lake) == [1, 2]
    assert lake.transaction_version("notes", "c1/notes") == 2
    assert staged_files(lake) == []


FAULTS: dict[str, dict[str, Any]] = {
    "answer lost after it was applied": {"applied": True},
    "500 after it was applied": {"applied": True, "reply": INTERNAL},
    "503 after it was applied": {"applied": True, "reply": SLOW_DOWN},
    "refused after it was applied": {"applied": True, "reply": EXISTS},
    "409 after it was applied": {"applied": True, "reply": CONFLICT},
    "connection cut before": {},
    "500 before": {"reply": INTERNAL, "times": 2},
    "503 SlowDown before": {"reply": SLOW_DOWN, "times": 3},
    "409 before": {"reply": CONFLICT},
}


@pytest.mark.parametrize("path", slow_after(1, [LOG, DATA]), ids=["commit", "data"])
def test_a_put_counts_once_whatever_is_answered(lake: Lake, store: Store, path: str) -> None:
    """A PUT may be applied though it seems to fail, or not; its rows are there once."""
    for version, (name, how) in enumerate(FAULTS.items(), 2):
        reply = store.exists if how.get("reply") == EXISTS else how.get("reply")
        fault = store.fault("PUT", path, **{**how, "reply": reply})
        assert land(lake, version, version), name
        assert fault.hits == fault.times, name
        assert lake.transaction_version("notes", "c1/notes") == version, name
        assert staged_files(lake) == [], name
    assert seqs(lake) == [*range(1, len(FAULTS) + 2)]


def test_a_commit_without_transaction_counts_once_too(lake: Lake, store: Store) -> None:
    """Its new files tell that it landed, though the answer was lost and the retry refused."""
    store.fault("PUT", LOG, applied=True, reply=INTERNAL)
    lake.append(NOTES, notes(2))

    assert seqs(lake) == [1, 2]
    assert lake.version("notes") == 2


def test_a_swap_counts_once_too(lake: Lake, store: Store) -> None:
    """The replaced file is missing after the first attempt; the second is not refused for that."""
    (old,) = lake.live_files("notes")
    store.fault("PUT", LOG, applied=True, reply=INTERNAL)
    lake.replace_files(NOTES, [old.path], lake.stage(NOTES, notes(5), "new"), data_change=False)

    assert seqs(lake) == [5]
    with pytest.raises(FilesReplaced):
        lake.replace_files(NOTES, [old.path], lake.stage(NOTES, notes(6), "newer"))
    assert seqs(lake) == [5]


def test_another_object_of_the_name_is_not_overwritten(lake: Lake) -> None:
    """Rows of an interrupted round may be about to be committed by who put them."""
    storage = lake.storage.table("notes")
    first = lake.stage(NOTES, notes(2), "c1-2")
    (taken,) = storage.publish(first).values()
    assert land(lake, 2, 2, 3)

    assert seqs(lake) == [1, 2, 3]
    assert taken in {file.path for file in lake.stored_files("notes")}
    assert taken not in {file.path for file in lake.live_files("notes")}


def test_an_equal_object_of_the_name_is_used(lake: Lake) -> None:
    """An earlier try put it; nothing is put twice."""
    storage = lake.storage.table("notes")
    first = lake.stage(NOTES, notes(2, 3), "c1-2")
    (put,) = storage.publish(first).values()
    assert land(lake, 2, 2, 3)

    assert put in {file.path for file in lake.live_files("notes")}
    assert len(lake.stored_files("notes")) == 2


def test_another_commit_in_between_is_no_loss(lake: Lake, store: Store) -> None:
    """The version is taken when ours comes: it becomes the next one."""
    other = Lake.create(lake.location, lake.state.parent / "other")
    store.fault("PUT", LOG, reply=store.exists, then=lambda: other.append(NOTES, notes(9)))
    assert land(lake, 2, 2)

    assert seqs(lake) == [1, 2, 9]
    assert lake.version("notes") == 3


@pytest.mark.parametrize("path", [r"\d\.json", "list-type|comp=list", r"\.parquet"])
def test_a_truncated_answer_is_never_taken_for_a_whole_one(
    lake: Lake, store: Store, path: str
) -> None:
    """It is read again, or said; the next try finds everything."""
    fault = store.fault("GET", path, truncated=True)
    with contextlib.suppress(LakeUnreachable):
        assert seqs(lake) == [1]

    assert fault.hits == 1
    assert seqs(lake) == [1]


BROKEN = {
    "bad gateway": (Reply(502, "BadGateway"), "BadGateway"),
    "expired": (
        Reply(400, "ExpiredToken", f"The token {SECRET} expired."),
        "ExpiredToken .*renew",
    ),
    "wrong key": (Reply(403, "InvalidAccessKeyId"), "InvalidAccessKeyId .*renew the credentials"),
    "no rights": (Reply(403, "AccessDenied"), "AccessDenied .*renew the credentials"),
    "clock skew": (Reply(403, "RequestTimeTooSkewed"), "TooSkewed .*set this machine's clock"),
    "no bucket": (Reply(404, "NoSuchBucket"), "NoSuchBucket .*create the bucket"),
}


@pytest.mark.parametrize("method", slow_after(1, ["GET", "PUT"]))
def test_what_the_store_refuses_is_said_in_one_line(
    lake: Lake, store: Store, method: str, no_patience: None
) -> None:
    """Fact, value and way out; a secret that the store's answer repeats is not shown."""
    for reply, says in BROKEN.values():
        store.fault(method, "/", reply=reply, times=1000)
        with pytest.raises(LakeUnreachable, match=says) as raised:
            land(lake, 2, 2)
        store.heal()
        text = str(raised.value)
        assert lake.location in text
        assert len(text.splitlines()) == 1
        assert SECRET not in text
        assert "AKIA" not in text
    assert land(lake, 2, 2)
    assert seqs(lake) == [1, 2]


def test_a_store_that_is_not_there_is_said(
    store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, no_patience: None
) -> None:
    """No server listens at the endpoint."""
    monkeypatch.setenv(store.endpoint_variable, "http://127.0.0.1:9")

    with pytest.raises(LakeUnreachable, match=r"[Cc]onnection refused.*try again"):
        Lake.open(store.url("any"), tmp_path)
    with pytest.raises(LakeUnreachable, match=r"[Cc]onnection refused"):
        land(Lake.create(store.url("any"), tmp_path), 1, 1)


def test_a_store_without_conditions_is_refused(s3_store: Store, tmp_path: Path) -> None:
    """It would let two commits of one version overwrite each other.

    Requests to Azure are signed with their condition, so that no proxy can take it away.
    """
    s3_store.ignores_conditions = True
    lake = Lake.create(s3_store.url("unfit"), tmp_path)

    with pytest.raises(StoreUnfit, match="ignores If-None-Match"):
        land(lake, 1, 1)
    assert lake.tables() == []


def test_a_lake_that_is_not_there_is_said(store: Store) -> None:
    """A prefix without an object is most likely a typing error."""
    with pytest.raises(LakeMissing, match=rf"there is no lake at {store.url('nowhere')}"):
        Lake.open(store.url("nowhere"))


@pytest.mark.parametrize(
    "place",
    [
        "http://bucket/lake",
        "az://under_score/lake",
        "abfss://lakes/lake",
        "abfss://lakes@account.example.com/lake",
        "abfss://lakes@evil@account.dfs.core.windows.net/lake",
        "s3://",
        "s3://b",
        "s3://lakes/a b",
        "s3://lakes/../x",
        "s3://lakes//x",
        "s3://key:secret@lakes/x",
    ],
)
def test_other_urls_are_refused(place: str) -> None:
    """A lake is at a URL that names a bucket and a prefix, and neither keys nor other hosts."""
    with pytest.raises(BadLakePath, match="s3://BUCKET/PREFIX"):
        Lake.create(place)


def test_the_state_of_a_url_is_a_folder_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lakes with like names do not share it."""
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    monkeypatch.delenv("TRACEGRADE_STATE", raising=False)
    folders = [state_folder("s3://lakes/a-b"), state_folder("s3://lakes/a/b")]

    assert [folder.parent for folder in folders] == [Path("/state/tracegrade")] * 2
    assert folders[0] != folders[1]
    assert state_folder("s3://lakes/a/b/") == folders[1]
    assert state_folder("s3://lakes/a", "here") == Path("here").absolute()
    assert state_folder("/lake", "/elsewhere") == Path("/lake")


def test_a_commit_costs_few_requests(lake: Lake, store: Store) -> None:
    """However many came before: the log is listed, and entries of other writers alone are read."""
    costs = []
    for version in range(2, 14):
        before = len(store.requests)
        land(lake, version, version)
        costs.append(len(store.requests) - before)

    assert max(costs) <= 6
    assert sum(costs) / len(costs) < 4
    assert seqs(lake) == list(range(1, 14))


def test_orphans_are_listed_and_removed(lake: Lake) -> None:
    """Objects are listed whether the table holds them or not, the log apart."""
    storage = lake.storage.table("notes")
    files = lake.stage(NOTES, notes(7), "orphan")
    (orphan,) = storage.publish(files).values()
    stored = {file.path: file for file in lake.stored_files("notes")}
    live = {file.path for file in lake.live_files("notes")}

    assert set(stored) - live == {orphan}
    assert stored[orphan].size == files[0].size
    lake.remove_files("notes", [orphan, orphan])
    assert {file.path for file in lake.stored_files("notes")} == live


def test_a_table_is_dropped_whole(lake: Lake) -> None:
    """Nothing of it stays, and it can be made anew."""
    lake.drop("notes")

    assert lake.tables() == []
    assert lake.stored_files("notes") == []
    assert lake.version("notes") is None
    land(lake, 1, 4)
    assert seqs(lake) == [4]
    assert lake.tables() == ["notes"]


def test_a_dataset_finds_nulls_and_columns_that_came_later(store: Store, tmp_path: Path) -> None:
    """The log's statistics leave most columns out, which says nothing about their NULLs."""
    lake = Lake.create(store.url("datasets"), tmp_path)
    number, day = NOTES.columns[0], NOTES.columns[-1]
    word = Column("word", pa.string(), "May be NULL.")
    row = {"wal_seq": [1], "date": pa.array([20778], pa.int32()).cast(pa.date32())}
    lake.append(Table("words", "one word", (number, day)), pa.table(row))
    words = Table("words", "one word", (number, day, word))
    lake.append(words, pa.table(row | {"word": pa.array([None], pa.string())}))
    lake.append(words, pa.table(row | {"word": ["yes"]}))
    con = duckdb.connect()
    con.register("words", lake.dataset("words"))

    assert con.sql("SELECT count(*) FROM words WHERE word IS NULL").fetchall() == [(2,)]
    assert con.sql("SELECT word FROM words WHERE word IS NOT NULL").fetchall() == [("yes",)]
    assert con.sql("SELECT count(*) FROM words WHERE date > '2026-11-21'").fetchall() == [(0,)]
    assert con.sql("SELECT count(*) FROM words WHERE date = '2026-11-21'").fetchall() == [(3,)]


def test_a_small_object_is_fetched_once_however_often_it_is_opened(
    lake: Lake, store: Store
) -> None:
    """By one request that also tells its size; other versions are other objects."""
    before = len(store.requests)
    assert seqs(lake) == seqs(lake) == [1]
    made = [method for _, method, path in store.requests[before:] if ".parquet" in path]
    land(lake, 2, 2)

    assert made == ["GET"]
    assert seqs(lake) == [1, 2]


def test_a_large_object_is_read_in_ranges(
    lake: Lake, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of more than a mebibyte."""
    monkeypatch.setattr("tracegrade_lake.stores.SMALL_BYTES", 10)
    before = len(store.requests)

    assert seqs(lake) == seqs(lake) == [1]
    assert len([path for _, _, path in store.requests[before:] if ".parquet" in path]) > 2


def test_work_in_the_process_of_a_job_shares_what_the_job_has_read(
    lake: Lake, store: Store
) -> None:
    """Work opens the lake by its location; without a job it reads for itself."""
    (file,) = lake.live_files("notes")
    job = JobLake.of(lake)
    before = len(store.requests)
    for _ in range(2):
        lake_for_work(job.location, str(job.state)).open_parquet("notes", file.path)
    assert len(store.requests) == before + 1
    del job
    gc.collect()
    lake_for_work(lake.location, str(lake.state)).open_parquet("notes", file.path)

    assert len(store.requests) == before + 2


def test_small_objects_that_were_read_last_are_kept(
    lake: Lake, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many as fit: one more replaces the one that was not used for longest."""
    land(lake, 2, 2)
    one, other = (file.path for file in lake.live_files("notes"))
    monkeypatch.setattr("tracegrade_lake.stores.MOST_BYTES", 1)
    before = len(store.requests)
    for path in (one, one, other, other, one):
        lake.open_parquet("notes", path)

    assert len([path for _, _, path in store.requests[before:] if ".parquet" in path]) == 5


def test_a_file_that_the_store_refuses_is_no_damage(lake: Lake, store: Store) -> None:
    """The client that reads Parquet says it in other words; the way out is the same."""
    (file,) = lake.live_files("notes")
    store.fault("*", r"\.parquet", reply=Reply(403, "ExpiredToken"), times=1000)

    with pytest.raises(LakeUnreachable, match=r"renew the credentials"):
        lake.open_parquet("notes", file.path)
