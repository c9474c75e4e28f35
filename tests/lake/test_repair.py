"""Repair: every torn state of a log, lost logs, and data files that are gone or damaged."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from tests.slow import slow_after
from tests.waiting import wait_until

from tracegrade_collector.maintenance.repair import Repaired, repair
from tracegrade_lake import RAW_LOGS, RAW_SPANS, Column, Lake, Table
from tracegrade_lake.commit import open_table
from tracegrade_lake.errors import LakeDamaged, MaintenanceBusy
from tracegrade_lake.locks import LANDER_LOCK_NAME, FolderLock
from tracegrade_lake.maintenance.compaction import CompactOptions, compact
from tracegrade_lake.maintenance.expiry import expire
from tracegrade_lake.maintenance.removals import removed_rows

from .lake_rows import LONG_AGO, land, live_names, log_record, numbers, read, silent, span, today

NOW = CompactOptions(min_age_secs=0)


@pytest.fixture(scope="module")
def four_landed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with four landed spans, one a commit: versions 1 to 4."""
    lake = Lake.create(tmp_path_factory.mktemp("landed") / "lake")
    for seq in range(1, 5):
        land(lake, [span(seq, seq)])
    return lake.root


@pytest.fixture
def lake(four_landed: Path, tmp_path: Path) -> Lake:
    """A copy of that lake, to be damaged."""
    return Lake.open(shutil.copytree(four_landed, tmp_path / "lake"))


def log_of(lake: Lake, table: Table = RAW_SPANS) -> Path:
    """Return the folder of the table's log."""
    return lake.root / table.name / "_delta_log"


def entry(lake: Lake, version: int) -> Path:
    """Return the file of one commit."""
    return log_of(lake) / f"{version:020d}.json"


def checkpoint(lake: Lake) -> Path:
    """Make a checkpoint, and return its file."""
    DeltaTable(str(lake.root / "raw_spans")).create_checkpoint()
    return max(log_of(lake).glob("*.checkpoint.parquet"))


def removed(lake: Lake) -> dict[str, int]:
    """Return how many spans are counted as removed, by collector."""
    delta = open_table(lake.storage.table("raw_spans"))
    assert delta
    return dict(removed_rows(lake, "raw_spans", delta.transaction_version))


def repaired(lake: Lake, *, rebuild: bool = False) -> Repaired:
    """Repair after a dry run, which must find the same and change nothing."""
    before = {path: path.stat().st_size for path in lake.root.rglob("*") if path.is_file()}
    planned = repair(lake, silent, dry_run=True, rebuild=rebuild)
    after = {path: path.stat().st_size for path in lake.root.rglob("*") if path.is_file()}
    before.setdefault(lake.root / "maintenance.lock", 0)
    assert after.items() <= before.items() | {(lake.root / "wal/c1/lander.lock", 0)}
    done = repair(lake, silent, rebuild=rebuild)
    assert planned == done
    return done


def test_a_whole_lake_needs_nothing(lake: Lake) -> None:
    """Nothing is found and nothing committed."""
    checkpoint(lake)
    version = lake.version("raw_spans")

    assert repaired(lake) == Repaired()
    assert lake.version("raw_spans") == version


TEARS: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "half": lambda content: content[: len(content) // 2],
    "zeros": lambda content: bytes(len(content)),
    "between two lines": lambda content: b"\n".join(content.splitlines()[:-1]),
}


@pytest.mark.parametrize("tear", TEARS.values(), ids=TEARS)
def test_a_torn_newest_entry_is_put_aside(lake: Lake, tear: Callable[[bytes], bytes]) -> None:
    """Its commit was never reported, so its lander makes it again."""
    entry(lake, 4).write_bytes(tear(entry(lake, 4).read_bytes()))

    assert repaired(lake) == Repaired(entries_put_aside=1)
    assert numbers(lake) == [1, 2, 3]
    assert lake.transaction_version("raw_spans", "c1/traces") == 3
    land(lake, [span(4, 4)])
    assert numbers(lake) == [1, 2, 3, 4]


def test_several_torn_entries_are_put_aside(lake: Lake) -> None:
    """Writers that did not wait for each other's sync can leave more than one."""
    entry(lake, 4).write_bytes(b"")
    entry(lake, 3).write_bytes(b"{")

    assert repaired(lake) == Repaired(entries_put_aside=2)
    assert numbers(lake) == [1, 2]


@pytest.mark.parametrize("tear", [*TEARS.values(), None], ids=[*TEARS, "missing"])
def test_a_torn_entry_with_others_after_it_is_told_from_the_files(
    lake: Lake, tear: Callable[[bytes], bytes] | None
) -> None:
    """Taking it out would leave a gap; the log is made again, with its rows."""
    if tear:
        entry(lake, 2).write_bytes(tear(entry(lake, 2).read_bytes()))
    else:
        entry(lake, 2).unlink()

    assert repaired(lake) == Repaired(logs_rebuilt=1)
    assert numbers(lake) == [1, 2, 3, 4]
    assert lake.transaction_version("raw_spans", "c1/traces") == 4


def test_a_missing_newest_entry_is_the_version_before(lake: Lake) -> None:
    """There is nothing to repair; the file that it named is a leftover until it lands again."""
    entry(lake, 4).unlink()

    assert repaired(lake) == Repaired()
    assert numbers(lake) == [1, 2, 3]


@pytest.mark.parametrize("content", [b"", b"PAR1 torn", None], ids=["empty", "torn", "missing"])
def test_an_unreadable_checkpoint_is_put_aside(lake: Lake, content: bytes | None) -> None:
    """Its pointer goes with it, and the entries before it still hold everything (F18)."""
    file = checkpoint(lake)
    if content is None:
        file.unlink()
    else:
        file.write_bytes(content)
    with pytest.raises(LakeDamaged):
        lake.files("raw_spans")

    assert repaired(lake).entries_put_aside == 2 - (content is None)
    assert numbers(lake) == [1, 2, 3, 4]


def test_a_writer_mends_a_missing_checkpoint_itself(lake: Lake) -> None:
    """A collector that starts after a power cut needs no manual repair."""
    checkpoint(lake).unlink()
    land(lake, [span(5, 5)])

    assert numbers(lake) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("tear", slow_after(1, [None, *TEARS.values()]), ids=["missing", *TEARS])
def test_a_checkpoint_of_a_torn_commit_is_put_aside(
    lake: Lake, tear: Callable[[bytes], bytes] | None
) -> None:
    """It was written right after the entry and is whole; no commit could follow it."""
    checkpoint(lake)
    if tear:
        entry(lake, 4).write_bytes(tear(entry(lake, 4).read_bytes()))
    else:
        entry(lake, 4).unlink()
    land(lake, [span(4, 4)])

    assert numbers(lake) == [1, 2, 3, 4]
    assert repaired(lake) == Repaired()


@pytest.mark.parametrize("content", slow_after(1, [b"{", b"", b"null"]))
def test_a_torn_pointer_is_no_harm(lake: Lake, content: bytes) -> None:
    """`_last_checkpoint` only saves a listing (F18)."""
    checkpoint(lake)
    (log_of(lake) / "_last_checkpoint").write_bytes(content)

    assert repaired(lake) == Repaired()
    assert numbers(lake) == [1, 2, 3, 4]


def test_a_torn_checkpoint_without_the_entries_before_it_is_told_from_the_files(
    lake: Lake,
) -> None:
    """Entries are cleaned up after a day; then the checkpoint is all there was."""
    file = checkpoint(lake)
    land(lake, [span(5, 5)])
    for version in range(5):
        entry(lake, version).unlink()
    file.write_bytes(b"")

    assert repaired(lake).logs_rebuilt == 1
    assert numbers(lake) == [1, 2, 3, 4, 5]


def test_unfinished_entries_are_removed_when_old(lake: Lake) -> None:
    """A killed writer leaves `N.json#1`; a young one may be under way."""
    for name, age in (("9.json#1", 7200), ("9.json#2", 0)):
        (log_of(lake) / name).touch()
        os.utime(log_of(lake) / name, (time.time() - age,) * 2)

    assert repaired(lake) == Repaired(entries_put_aside=1)
    assert [file.name for file in log_of(lake).glob("*#*")] == ["9.json#2"]


def test_a_missing_data_file_leaves_the_table(lake: Lake) -> None:
    """It is named, its rows are counted as lost, and the others can be read again."""
    gone = Path(lake.files("raw_spans")[1])
    gone.unlink()
    lines = list[str]()

    assert repair(lake, lines.append) == Repaired(files_missing=1, rows_lost=1)
    assert gone.name in lines[0]
    assert numbers(lake) == [1, 3, 4]
    assert removed(lake) == {"c1": 1}


@pytest.mark.parametrize("damage", slow_after(1, [b"PAR1", b"", b"no parquet at all"]))
def test_a_data_file_that_is_none_leaves_the_table(lake: Lake, damage: bytes) -> None:
    """It stays on the disk for inspection."""
    file = Path(lake.files("raw_spans")[0])
    file.write_bytes(damage)

    assert repaired(lake) == Repaired(files_damaged=1, rows_lost=1)
    assert numbers(lake) == [2, 3, 4]
    assert file.exists()
    assert repaired(lake) == Repaired()


def test_of_a_file_with_a_flipped_bit_the_rest_is_kept(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each page has a checksum; only the row group of that page is lost."""
    monkeypatch.setattr("tracegrade_lake.staging.ROW_GROUP_ROWS", 500)
    many = [span(n, 5 + n // 100, name=os.urandom(100).hex()) for n in range(5, 605)]
    land(lake, many)
    file = max(map(Path, lake.files("raw_spans")), key=lambda path: path.stat().st_size)
    content = bytearray(file.read_bytes())
    content[1000] ^= 1
    file.write_bytes(content)

    assert repaired(lake) == Repaired(files_damaged=1, rows_lost=500)
    assert len(numbers(lake)) == 4 + 100
    assert removed(lake) == {"c1": 500}
    assert repaired(lake) == Repaired()


def lose_log(lake: Lake, table: Table = RAW_SPANS) -> None:
    """Remove a table's whole log."""
    shutil.rmtree(log_of(lake, table))


def test_a_lost_log_is_made_again_from_the_files(lake: Lake) -> None:
    """Rows, transactions, columns, settings: a lander lands nothing twice and goes on."""
    land(lake, [log_record(1, 2)], RAW_LOGS)
    land(lake, [span(10, 3, collector_id="c2")])
    land(lake, [span(11, 1, collector_id="import")])
    lose_log(lake)
    lose_log(lake, RAW_LOGS)

    assert repaired(lake).logs_rebuilt == 2
    assert numbers(lake) == [1, 2, 3, 4, 10, 11]
    assert len(read(lake, RAW_LOGS)) == 1
    seqs = {id_: lake.transaction_version("raw_spans", f"{id_}/traces") for id_ in ("c1", "c2")}
    assert seqs == {"c1": 4, "c2": 3}
    assert lake.transaction_version("raw_logs", "c1/logs") == 2
    settings = DeltaTable(str(lake.root / "raw_spans")).metadata().configuration
    assert settings["delta.checkpointInterval"] == "100"
    land(lake, [span(5, 5)])
    assert 5 in numbers(lake)


def test_a_made_log_counts_compacted_rows_once(lake: Lake) -> None:
    """What was replaced is still on the disk, generations of it."""
    compact(lake, NOW, silent)
    for seq in range(5, 9):
        land(lake, [span(seq, seq)])
    compact(lake, NOW, silent)
    land(lake, [span(9, 9)])
    names = live_names(lake)
    lose_log(lake)
    repaired(lake)

    assert live_names(lake) == names
    assert numbers(lake) == list(range(1, 10))


@pytest.mark.parametrize("survivors", slow_after(1, ["last", "all", "none"]))
def test_a_made_log_counts_old_generations_that_were_removed_in_part(
    lake: Lake, survivors: str
) -> None:
    """Of two compactions after each other any file may be gone already, but for the live ones."""
    compact(lake, NOW, silent)
    (first,) = lake.files("raw_spans")
    for seq in range(5, 9):
        land(lake, [span(seq, seq)])
    compact(lake, NOW, silent)
    if survivors != "all":
        Path(first).unlink()
    if survivors == "none":
        for file in (lake.root / "raw_spans").rglob("c1-*.parquet"):
            file.unlink()
    lose_log(lake)
    repaired(lake)

    assert numbers(lake) == list(range(1, 9))


def compacted_but_not_committed(lake: Lake) -> list[Path]:
    """Leave the files of a compaction that was killed before its commit."""
    program = (
        "import os; import tracegrade_lake.lake as module\n"
        "from tracegrade_lake import Lake\n"
        "from tracegrade_lake.maintenance.compaction import CompactOptions, compact\n"
        "module.commit = lambda *_: os._exit(9)\n"
        f"compact(Lake.open({str(lake.root)!r}), CompactOptions(min_age_secs=0), print)\n"
    )
    killed = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)
    assert killed.returncode == 9, killed.stderr
    return sorted((lake.root / "raw_spans").rglob("compacted-*.parquet"))


def test_a_compaction_without_its_commit_counts_once(lake: Lake) -> None:
    """It holds the same rows as what it was to replace, and later compactions hold them too."""
    assert compacted_but_not_committed(lake)
    land(lake, [span(5, 5)])
    compact(lake, NOW, silent)
    lose_log(lake)
    repaired(lake)

    assert numbers(lake) == [1, 2, 3, 4, 5]


def test_an_incomplete_compaction_counts_for_nothing(lake: Lake) -> None:
    """If one of its files is lost, those that it was made of count, while they are there."""
    rows = [span(n, 5, name=os.urandom(400).hex()) for n in range(100, 700)]
    land(lake, rows)
    compact(lake, CompactOptions(target_bytes=1, min_age_secs=0), silent)
    parts = sorted((lake.root / "raw_spans").rglob("compacted-*.parquet"))
    lose_log(lake)
    footer = json.loads(pq.read_metadata(parts[-1]).metadata[b"tracegrade.replaces"])
    assert footer["is_last"]
    parts[-1].write_bytes(b"")
    repair(lake, silent)

    assert numbers(lake) == [1, 2, 3, 4, *range(100, 700)]


def test_a_landing_that_was_repeated_counts_once(lake: Lake) -> None:
    """A file of the first try, under another name, holds rows that the second try landed."""
    folder = lake.root / f"raw_spans/date={LONG_AGO}"
    land(lake, [span(5, 5), span(6, 6), span(7, 7)])
    orphan = pa.Table.from_pylist([span(6, 6), span(7, 7)], RAW_SPANS.arrow())
    pq.write_table(orphan.drop_columns(["date"]), folder / "c1-00000000000000000006.parquet")
    old = time.time() - 60
    os.utime(folder / "c1-00000000000000000006.parquet", (old, old))
    lose_log(lake)
    repaired(lake)

    assert numbers(lake) == [1, 2, 3, 4, 5, 6, 7]


def test_a_made_log_does_not_bring_back_what_expired(lake: Lake) -> None:
    """Files stay on the disk for readers, but the date is over."""
    land(lake, [span(5, 5, date=today())])
    expire(lake, 30, silent)
    lose_log(lake)
    repaired(lake)

    assert numbers(lake) == [5]
    assert lake.transaction_version("raw_spans", "c1/traces") == 5
    assert removed(lake) == {"c1": 4}


def test_no_log_is_made_while_a_collector_lands(lake: Lake) -> None:
    """It would commit to the log that is being replaced."""
    (lake.root / "wal/c1").mkdir(parents=True)
    lock = FolderLock(lake.root / "wal/c1" / LANDER_LOCK_NAME)
    lock.acquire()
    lose_log(lake)

    with pytest.raises(MaintenanceBusy, match="c1 is landing; stop it"):
        repair(lake, silent)
    lock.close()
    assert repair(lake, silent).logs_rebuilt == 1


def test_a_healthy_log_is_made_again_on_request(lake: Lake) -> None:
    """The old one is kept aside."""
    compact(lake, NOW, silent)
    before = live_names(lake)

    assert repaired(lake, rebuild=True) == Repaired(logs_rebuilt=1)
    assert live_names(lake) == before
    assert list((lake.root / "raw_spans/_quarantine").glob("log-*"))


BUILT = Table("steps", "", (Column("step_index", pa.int32(), ""), Column("date", pa.date32(), "")))


def test_a_built_table_without_its_log_is_put_aside(lake: Lake) -> None:
    """Which of its files count is unknown; a build makes the table again."""
    for index in (1, 2):
        rows = [{"step_index": index, "date": LONG_AGO}]
        made = pa.Table.from_pylist(rows, schema=BUILT.arrow())
        lake.replace_dates(BUILT, made, [str(LONG_AGO)])
    max(log_of(lake, BUILT).glob("*0.json")).write_bytes(b"{")

    assert repaired(lake) == Repaired(tables_put_aside=1)
    assert lake.tables() == ["raw_spans"]
    assert len(list((lake.root / "_put_aside").rglob("*.parquet"))) == 2


def test_a_lake_copied_while_it_is_written_is_one_version(lake: Lake, tmp_path: Path) -> None:
    """The log copied first, then the files: all of them are there for that version (F22)."""
    writer = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"import itertools, sys; sys.path[:0] = [{str(Path(__file__).parents[2])!r}]\n"
            "from tests.lake.lake_rows import Lake, land, span\n"
            f"lake = Lake.open({str(lake.root)!r})\n"
            "for seq in itertools.count(5): land(lake, [span(seq, seq)])\n",
        ]
    )
    wait_until(lambda: len(live_names(lake)) > 4)
    for number in range(2):
        compact(lake, NOW, silent)
        copied = tmp_path / f"copy{number}"
        source, target = lake.root / "raw_spans", copied / "raw_spans"
        shutil.copytree(source / "_delta_log", target / "_delta_log", copy_function=copy_if_there)
        for date in source.glob("date=*"):
            shutil.copytree(date, target / date.name)
        seen = numbers(Lake.open(copied))
        assert seen == list(range(1, len(seen) + 1))
    assert writer.poll() is None
    writer.kill()
    writer.wait()


def copy_if_there(source: str, target: str) -> None:
    """Copy a file, unless it was an unfinished one and is gone."""
    with suppress(FileNotFoundError):
        shutil.copy2(source, target)
