"""The lake's tables: exactly-once commits, durable files, and what a crash or power cut leaves."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from deltalake import DeltaTable

from tracegrade_lake import Column, Lake, Owner, Table
from tracegrade_lake.errors import BadLakePath, Fenced, LakeDamaged, LakeMissing, SchemaDiffers

CHECKOUT = str(Path(__file__).parents[2])
NOTES = Table(
    "notes",
    "one note",
    (
        Column("wal_seq", pa.int64(), "Order."),
        Column("text", pa.map_(pa.string(), pa.string()), "What it says."),
        Column("date", pa.date32(), "The partition."),
    ),
)
FRIDAY, SATURDAY = "2026-11-20", "2026-11-21"
DAY_NUMBER = {FRIDAY: 20777, SATURDAY: 20778}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """An empty lake."""
    return Lake.create(tmp_path / "lake")


def notes(*seqs: int, date: str = SATURDAY) -> pa.Table:
    """Return one note per number."""
    days = pa.array([DAY_NUMBER[date] for _ in seqs], pa.int32()).cast(pa.date32())
    texts = [[("a", str(seq)), ("b", None)] for seq in seqs]
    return pa.table([pa.array(seqs), pa.array(texts, NOTES.arrow()[1].type), days], NOTES.arrow())


def land(lake: Lake, version: int, *seqs: int) -> bool:
    """Commit notes as a collector would."""
    staged = lake.stage(NOTES, notes(*seqs), f"c1-{version}")
    return lake.add_files(NOTES, staged, "c1/notes", version)


def seqs(lake: Lake) -> list[int]:
    """Return the numbers of the notes, as DuckDB reads the live files."""
    query = "SELECT wal_seq FROM read_parquet($files, union_by_name = true) ORDER BY 1"
    files = lake.files("notes")
    return [seq for (seq,) in duckdb.execute(query, {"files": files}).fetchall()] if files else []


def newest_log_entry(lake: Lake) -> Path:
    """Return the newest commit's file."""
    return max((lake.root / "notes/_delta_log").glob("*.json"))


def test_a_version_is_committed_once(lake: Lake) -> None:
    """A repeated version of an application adds nothing and leaves its first file alone."""
    assert land(lake, 7, 1, 2)
    first = Path(lake.files("notes")[0]).read_bytes()

    assert not land(lake, 7, 3)
    assert not land(lake, 6, 4)

    assert seqs(lake) == [1, 2]
    assert Path(lake.files("notes")[0]).read_bytes() == first
    assert lake.transaction_version("notes", "c1/notes") == 7


def test_version_zero_is_committed_once(lake: Lake) -> None:
    """Zero is a version like others."""
    assert land(lake, 0, 1)

    assert not land(lake, 0, 1)


def test_two_handles_commit_after_each_other(lake: Lake) -> None:
    """A handle that was opened before another one's commit can commit, too."""
    other = Lake.open(lake.root)
    land(lake, 1, 1)
    other.add_files(NOTES, other.stage(NOTES, notes(2), "c2-1"), "c2/notes", 1)
    land(lake, 2, 3)

    assert seqs(lake) == [1, 2, 3]


def test_what_is_missing_is_said(lake: Lake, tmp_path: Path) -> None:
    """A missing lake or table is distinguished from an empty one."""
    with pytest.raises(LakeMissing, match="there is no lake at"):
        Lake.open(tmp_path / "nowhere")

    assert lake.version("notes") is None
    assert lake.files("notes") == []
    assert lake.transaction_version("notes", "c1/notes") is None


def test_a_file_in_the_place_of_a_lake_is_called_one(tmp_path: Path) -> None:
    """Nothing would create a lake there, so no command is proposed."""
    (tmp_path / "lake").write_text("no folder")

    with pytest.raises(BadLakePath, match="lake is a file; choose another path"):
        Lake.open(tmp_path / "lake")


@pytest.mark.parametrize("name", ["a b", "50%#ü?", "[1]*"])
def test_a_lake_may_have_any_name(tmp_path: Path, name: str) -> None:
    """The Delta library takes and gives addresses, in which these characters are escaped."""
    lake = Lake.create(tmp_path / name)
    land(lake, 1, 1)
    land(lake, 2, 2)

    assert [Path(file).parents[2].name for file in lake.files("notes")] == [name, name]
    assert all(map(os.path.exists, lake.files("notes")))


def test_an_escape_in_a_path_is_refused(tmp_path: Path) -> None:
    """The Delta library always takes `%20` for a space."""
    with pytest.raises(BadLakePath, match="%20"):
        Lake.create(tmp_path / "a%20b")


@pytest.mark.parametrize("find", [Lake.create, Lake.open])
def test_empty_path_is_no_lake(find: Callable[[str], Lake]) -> None:
    """`--lake "$UNSET"` means nothing; it does not mean the folder that one stands in."""
    with pytest.raises(BadLakePath, match="path is empty"):
        find("")


def test_a_file_is_no_lake(tmp_path: Path) -> None:
    """The text says which part of the path it is."""
    file = tmp_path / "file"
    file.touch()

    with pytest.raises(BadLakePath, match=f"{file} is a file"):
        Lake.create(file / "lake")


def test_only_its_owner_may_read_a_lake(lake: Lake) -> None:
    """Folders are 0700 and files 0600, those that the Delta library writes included."""
    land(lake, 1, 1)

    modes = {path: path.stat().st_mode & 0o777 for path in [lake.root, *lake.root.rglob("*")]}
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}


@pytest.mark.parametrize(
    "rows",
    [
        notes(1).drop_columns(["text"]),
        notes(1).append_column("more", pa.array([1])),
        notes(1).set_column(0, "wal_seq", pa.array(["1"])),
        notes(1).set_column(2, "date", pa.nulls(1, pa.date32())),
    ],
    ids=["missing", "unknown", "other type", "no date"],
)
def test_rows_of_another_shape_are_refused(lake: Lake, rows: pa.Table) -> None:
    """Delta would take them, and the table would be unreadable."""
    land(lake, 1, 1)

    with pytest.raises(SchemaDiffers):
        lake.append(NOTES, rows)

    assert seqs(lake) == [1]


def test_a_table_gets_the_columns_that_a_newer_version_declares(lake: Lake) -> None:
    """Old rows have NULL there; a column that is no longer known is refused."""
    land(lake, 1, 1)
    newer = Table(NOTES.name, NOTES.grain, (*NOTES.columns, Column("author", pa.string(), "New.")))
    lake.append(newer, notes(2).append_column("author", pa.array(["me"])))

    rows = pl.scan_delta(str(lake.root / "notes")).sort("wal_seq").collect()
    assert rows["author"].to_list() == [None, "me"]
    with pytest.raises(SchemaDiffers, match="author"):
        land(lake, 2, 3)


def test_dates_are_replaced_in_one_commit(lake: Lake) -> None:
    """Other dates stay; rows of a date that was not named are refused."""
    lake.append(NOTES, notes(1, date=FRIDAY), {"build": 5})
    lake.append(NOTES, notes(2, 3))
    before = lake.version("notes")
    lake.replace_dates(NOTES, notes(4), [SATURDAY], {"build": 6})

    assert seqs(lake) == [1, 4]
    assert lake.version("notes") == (before or 0) + 1
    assert lake.transaction_version("notes", "build") == 6
    with pytest.raises(SchemaDiffers, match=FRIDAY):
        lake.replace_dates(NOTES, notes(5, date=FRIDAY), [SATURDAY])


def test_a_date_can_be_emptied(lake: Lake) -> None:
    """No rows for a date remove what it held."""
    lake.append(NOTES, notes(1))
    lake.replace_dates(NOTES, notes(), [SATURDAY])

    assert seqs(lake) == []


def test_a_whole_table_is_replaced(lake: Lake) -> None:
    """Afterwards it holds exactly the new rows, whether it has partitions or not."""
    flat = Table(NOTES.name, NOTES.grain, NOTES.columns, partition_by=())
    lake.replace(flat, notes(1, date=FRIDAY))
    lake.replace(flat, notes(2, 3))

    assert seqs(lake) == [2, 3]


def test_a_table_without_partitions_grows(lake: Lake) -> None:
    """Rows are added to it as to any other."""
    flat = Table(NOTES.name, NOTES.grain, NOTES.columns, partition_by=())
    lake.append(flat, notes(1, date=FRIDAY))
    lake.append(flat, notes(2))

    assert seqs(lake) == [1, 2]


def test_an_old_version_keeps_its_files(lake: Lake) -> None:
    """A reader that pinned a version still finds what it saw."""
    land(lake, 1, 1)
    pinned, files = lake.version("notes"), lake.files("notes")
    lake.replace(NOTES, notes(2))

    assert lake.files("notes", pinned) == files
    assert all(map(os.path.exists, files))


def test_engines_count_the_same_after_a_compaction(lake: Lake) -> None:
    """DuckDB over the live files and Polars over the log agree, with old files still there."""
    for version in range(1, 6):
        land(lake, version, version * 10, version * 10 + 1)
    DeltaTable(str(lake.root / "notes")).optimize.compact()
    land(lake, 6, 60)

    scanned = pl.scan_delta(str(lake.root / "notes"))
    assert len(seqs(lake)) == 11
    assert scanned.select(pl.len()).collect().item() == 11
    assert scanned.filter(pl.col("wal_seq") >= 50).select(pl.len()).collect().item() == 3
    assert lake.transaction_version("notes", "c1/notes") == 6


def test_the_log_knows_each_files_range(lake: Lake) -> None:
    """Engines skip files by it."""
    land(lake, 1, 5, 9)

    added = pa.table(DeltaTable(str(lake.root / "notes")).get_add_actions(flatten=True))
    assert added["num_records"].to_pylist() == [2]
    assert (added["min.wal_seq"][0].as_py(), added["max.wal_seq"][0].as_py()) == (5, 9)


TEARS = {
    "empty": lambda entry: b"",
    "half": lambda entry: entry[: len(entry) // 2],
    "zeros": lambda entry: bytes(len(entry)),
    "between two lines": lambda entry: b"\n".join(entry.splitlines()[:-1]),
}


@pytest.mark.parametrize("tear", TEARS.values(), ids=TEARS)
def test_a_torn_newest_commit_is_made_again(lake: Lake, tear: object) -> None:
    """A power cut before the log was synced costs only that commit; its repeat counts once."""
    land(lake, 1, 1)
    land(lake, 2, 2, 3)
    entry = newest_log_entry(lake)
    entry.write_bytes(tear(entry.read_bytes()))  # type: ignore[operator]  # a lambda above

    assert land(lake, 2, 2, 3)

    assert seqs(lake) == [1, 2, 3]
    assert lake.transaction_version("notes", "c1/notes") == 2
    assert (lake.root / "notes/_quarantine" / entry.name).exists()


def test_a_reader_says_that_a_log_is_torn(lake: Lake) -> None:
    """Readers change nothing; only writers put torn entries aside."""
    land(lake, 1, 1)
    newest_log_entry(lake).write_bytes(b'{"add":')

    with pytest.raises(LakeDamaged, match="notes"):
        lake.files("notes")


@pytest.mark.parametrize("content", [b"", b"PAR1 torn"])
def test_a_torn_checkpoint_is_put_aside(lake: Lake, content: bytes) -> None:
    """The log entries before it still hold everything."""
    land(lake, 1, 1)
    DeltaTable(str(lake.root / "notes")).create_checkpoint()
    next((lake.root / "notes/_delta_log").glob("*.checkpoint.parquet")).write_bytes(content)
    land(lake, 2, 2)

    assert seqs(lake) == [1, 2]


def crash_at(lake: Lake, point: str) -> Iterator[str]:
    """Yield the lines of a program that lands a note and dies at a function of the lake."""
    yield "import os, sys"
    yield f"sys.path[:0] = {[CHECKOUT]!r}"
    yield "from tracegrade_lake import folder, lake"
    yield f"{point} = lambda *_: os._exit(9)"
    yield "from tests.lake import test_lake"
    yield f"test_lake.land(lake.Lake.open({str(lake.root)!r}), 2, 2)"


@pytest.mark.parametrize("point", ["folder.make_folder", "folder.sync_folder", "lake.commit_once"])
def test_a_crash_before_the_commit_leaves_nothing_that_counts(lake: Lake, point: str) -> None:
    """Staged or renamed, a file belongs to no table before its commit; the repeat replaces it."""
    land(lake, 1, 1)
    program = "\n".join(crash_at(lake, point))
    crashed = subprocess.run([sys.executable, "-c", program], check=False)

    assert crashed.returncode == 9
    assert seqs(lake) == [1]
    assert land(lake, 2, 2)
    assert seqs(lake) == [1, 2]
    assert len(list((lake.root / "notes").rglob("*.parquet"))) == 2


def test_a_commit_is_private_from_its_first_byte(lake: Lake) -> None:
    """A writer that dies before it syncs the log leaves no file that others can read."""
    land(lake, 1, 1)
    program = "\n".join(crash_at(lake, "folder.sync_file"))
    crashed = subprocess.run([sys.executable, "-c", program], check=False, umask=0o022)

    assert crashed.returncode == 9
    assert {file.stat().st_mode & 0o777 for file in lake.root.rglob("*.json")} == {0o600}


WRITER = """
import sys
sys.path[:0] = [{checkout!r}]
from tests.lake.test_lake import NOTES, Lake, notes
lake = Lake.open({root!r})
for version in range(1, 9):
    staged = lake.stage(NOTES, notes({writer} * 100 + version), f"c{writer}-{{version}}")
    lake.add_files(NOTES, staged, "c{writer}/notes", version)
"""


def test_writers_and_a_compaction_go_on_side_by_side(lake: Lake) -> None:
    """Who loses a race for a version tries again; no commit is lost or made twice."""
    land(lake, 1, 1)
    programs = [
        WRITER.format(checkout=CHECKOUT, root=str(lake.root), writer=writer) for writer in (2, 3)
    ]
    writers = [subprocess.Popen([sys.executable, "-c", program]) for program in programs]
    while any(writer.poll() is None for writer in writers):
        DeltaTable(str(lake.root / "notes")).optimize.compact()

    assert [writer.returncode for writer in writers] == [0, 0]
    assert seqs(lake) == [1, *(100 * writer + n for writer in (2, 3) for n in range(1, 9))]


def test_a_copied_collector_is_fenced_and_stays_so(lake: Lake) -> None:
    """A collector that finds a token of the other one never commits again and skips no request."""
    first, restarted = Owner("c1/owner", (5,)), Owner("c1/owner", (5, 3))
    copy = Owner("c1/owner", (5, 9))
    staged = [lake.stage(NOTES, notes(seq), f"c1-{seq}") for seq in (1, 2, 3)]
    lake.add_files(NOTES, staged[0], "c1/notes", 1, first)
    lake.add_files(NOTES, staged[1], "c1/notes", 2, restarted)

    for version in (1, 2, 3):
        with pytest.raises(Fenced, match="another collector writes as c1"):
            lake.add_files(NOTES, staged[2], "c1/notes", version, copy)
    with pytest.raises(Fenced):
        lake.transaction_version("notes", "c1/notes", copy)
    assert lake.transaction_version("notes", "c1/notes", restarted) == 2
    assert seqs(lake) == [1, 2]


def test_the_original_is_fenced_if_its_copy_starts(lake: Lake) -> None:
    """The original cannot be recognized; the one that started last continues."""
    original, copy = Owner("c1/owner", (5,)), Owner("c1/owner", (5, 9))
    lake.add_files(NOTES, lake.stage(NOTES, notes(1), "c1-1"), "c1/notes", 1, original)
    lake.add_files(NOTES, lake.stage(NOTES, notes(2), "c1-2"), "c1/notes", 2, copy)

    with pytest.raises(Fenced):
        lake.add_files(NOTES, lake.stage(NOTES, notes(3), "c1-3"), "c1/notes", 3, original)
    assert lake.add_files(NOTES, lake.stage(NOTES, notes(4), "c1-4"), "c1/notes", 4, copy)
    assert seqs(lake) == [1, 2, 4]
