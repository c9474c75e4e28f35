"""An SQLite database: rows as objects, also of one whose writer was killed."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.harness.parts.environments import execute, opened, template

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.parts.names import key_text

LEDGER = {"ledger": {"from": "ledger.sql", "at": "db/ledger.db", "path_env": "LEDGER"}}
ONLY_SQLITE = {"files": {}, "sqlite": LEDGER}

WRITER = """
import sqlite3, sys, os
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute(f"PRAGMA journal_mode = {sys.argv[2]}")
connection.execute("PRAGMA cache_size = 1")
connection.execute("PRAGMA wal_autocheckpoint = 0")
connection.execute("UPDATE runs SET name = 'committed' WHERE id = 1")
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE runs SET name = 'open' WHERE id = 2")
for number in range(200):
    connection.execute("INSERT INTO notes VALUES (?)", ("x" * 4000,))
print("writing", flush=True)
sys.stdin.read()
"""


def start_writer(database: Path, mode: str) -> "subprocess.Popen[bytes]":
    """Start a process that is in the middle of a transaction when this returns."""
    command = [sys.executable, "-c", WRITER, str(database), mode]
    writer = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert writer.stdout is not None
    assert writer.stdout.readline() == b"writing\n"
    return writer


def kill(writer: "subprocess.Popen[bytes]") -> None:
    """Kill a process and wait until it is gone."""
    with writer:
        writer.send_signal(signal.SIGKILL)


def contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of all files of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_rows_are_objects(tmp_path: Path) -> None:
    """Named by primary key, composite key or rowid; the schema's parts are objects too."""
    with opened(tmp_path, **ONLY_SQLITE) as (environment, trial):
        assert sorted(environment.state()) == [
            "sqlite:ledger",
            "sqlite:ledger/index:by_name",
            "sqlite:ledger/lines",
            "sqlite:ledger/lines/1,a",
            "sqlite:ledger/lines/1,b",
            "sqlite:ledger/lines/2,a",
            "sqlite:ledger/notes",
            "sqlite:ledger/notes/1",
            "sqlite:ledger/notes/2",
            "sqlite:ledger/runs",
            "sqlite:ledger/runs/1",
            "sqlite:ledger/runs/2",
        ]
        assert environment.variables == {"LEDGER": str(trial / "db/ledger.db")}


def test_changes_are_named(tmp_path: Path) -> None:
    """Rows that are new, other or gone; a view, a trigger, a changed table and its version."""
    with opened(tmp_path, **ONLY_SQLITE) as (environment, trial):
        execute(
            trial / "db/ledger.db",
            "INSERT INTO runs VALUES (3, 'third', NULL)",
            "UPDATE lines SET amount = '1.5' WHERE run = 1 AND line = 'a'",
            "DELETE FROM notes WHERE rowid = 2",
            "CREATE VIEW names AS SELECT name FROM runs",
            "CREATE TRIGGER t AFTER DELETE ON runs BEGIN SELECT 1; END",
            "PRAGMA user_version = 7",
        )
        found = environment.difference()

        assert found.added == [
            "sqlite:ledger/runs/3",
            "sqlite:ledger/trigger:t",
            "sqlite:ledger/view:names",
        ]
        assert found.changed == ["sqlite:ledger"]
        assert found.removed == ["sqlite:ledger/notes/2"]


def test_contents_are_columns_and_sql(tmp_path: Path) -> None:
    """Of rows, the columns that no rule hides; of a view its SQL; before a run and now."""
    view = "CREATE VIEW names AS SELECT name FROM runs"
    names = ["runs/1", "notes/2", "view:names", "gone/1"]
    objects = [f"sqlite:ledger/{name}" for name in names]
    ignore = {"ledger": {**LEDGER["ledger"], "ignore": ["runs.started_at"]}}
    frozen = template(tmp_path, files={}, sqlite=ignore)
    with closing(frozen.open(tmp_path / "trial")) as environment:
        execute(tmp_path / "trial/db/ledger.db", "UPDATE runs SET name = 'it''s'", view)

        found = dict(environment.contents(objects, 99))
        assert found.pop("sqlite:ledger/view:names") == view.encode()
        assert {name: json.loads(text) for name, text in found.items()} == {
            "sqlite:ledger/runs/1": {"id": 1, "name": "it's"},
            "sqlite:ledger/notes/2": {"text": "X'00ff'"},
        }
        assert dict(environment.contents(objects, 5)) == {}
        ((_, before),) = frozen.contents(objects[:1], 99)
        assert json.loads(before) == {"id": 1, "name": "first"}


def test_types_tell_values_apart(tmp_path: Path) -> None:
    """The text `1` is not the number 1, and no value is not the text of that name."""
    with opened(tmp_path, **ONLY_SQLITE) as (environment, trial):
        execute(trial / "db/ledger.db", "UPDATE notes SET text = CAST(text AS BLOB)")

        assert environment.difference().changed == ["sqlite:ledger/notes/1"]


def test_keys_are_unambiguous() -> None:
    """Texts that look like numbers, blobs or several values differ from these."""
    keys = [(1,), ("1",), (1.0,), (b"\x01",), ("x'01'",), ("a,b",), ("a", "b"), ("a/b",)]
    keys += [("",), (), ("''",), (None,), ("None",), ("inf",), (float("inf"),), ("a\\x2fb",)]
    keys += [("x" * 1000,), ("x" * 1001,), ("\udcff",), ("\n",)]
    names = [key_text(key) for key in keys if key]

    assert len(set(names)) == len(names)
    assert max(map(len, names)) < 300
    assert "\n".join(names).encode().count(b"\n") == len(names) - 1


def test_ignored_tables_and_columns_are_left_out_and_counted(tmp_path: Path) -> None:
    """A column that is ignored hides no change of the others in its row."""
    ignoring = {"ledger": LEDGER["ledger"] | {"ignore": ["runs.started_at", "notes"]}}
    with opened(tmp_path, files={}, sqlite=ignoring) as (environment, trial):
        execute(
            trial / "db/ledger.db",
            "UPDATE runs SET started_at = 'now'",
            "UPDATE runs SET name = 'other' WHERE id = 2",
            "INSERT INTO notes VALUES ('two')",
        )

        assert environment.difference().names == ["sqlite:ledger/runs/2"]
        assert environment.ignored_changes() == {"notes": 1, "runs.started_at": 2}
        assert environment.ignored()["sqlite:ledger/runs/1/started_at"] == "runs.started_at"


def test_a_counter_that_only_sqlite_keeps_is_no_leftover(tmp_path: Path) -> None:
    """A row that was inserted and deleted moves `sqlite_sequence` on, and nothing else."""
    (tmp_path / "uploads").mkdir()
    script = "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO t VALUES (1);"
    (tmp_path / "ledger.sql").write_text(script)
    with opened(tmp_path, **ONLY_SQLITE) as (environment, trial):
        execute(trial / "db/ledger.db", "INSERT INTO t VALUES (2)", "DELETE FROM t WHERE id = 2")

        assert environment.difference().names == []
        assert environment.ignored_changes() == {"sqlite_*": 1}


@pytest.mark.parametrize(("mode", "note"), [("DELETE", "hot_journal"), ("WAL", "left_wal")])
def test_a_killed_writer_leaves_what_it_had_committed(
    tmp_path: Path, mode: str, note: str
) -> None:
    """Reading rolls back in a copy: the files stay as they are, for the recovery to meet."""
    with opened(tmp_path, **ONLY_SQLITE) as (environment, trial):
        database = trial / "db/ledger.db"
        kill(start_writer(database, mode))
        before = contents(database.parent)
        found = environment.difference()

        assert found.names == ["sqlite:ledger/runs/1"]
        assert environment.notes() == {"sqlite:ledger": note}
        assert contents(database.parent) == before
        assert environment.held() == []
        clone = environment.clone(tmp_path / "clone")
        assert clone.state() == environment.state()
        assert clone.notes() == environment.notes()


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="this system does not tell locks")
@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_an_open_transaction_is_held_until_its_process_is_dead(tmp_path: Path, mode: str) -> None:
    """What it wrote is not there before it commits."""
    with opened(tmp_path, **ONLY_SQLITE) as (environment, trial):
        writer = start_writer(trial / "db/ledger.db", mode)
        held, names = environment.held(), environment.difference().names
        kill(writer)

        assert held == ["sqlite:ledger (write lock)"]
        assert names == ["sqlite:ledger/runs/1"]
        assert environment.held() == []


@pytest.mark.parametrize(
    "content", [b"not a database at all, but long enough to be read as one" * 20, b"short"]
)
def test_what_is_no_database_any_more_is_told_so(tmp_path: Path, content: bytes) -> None:
    """All rows are gone, and one object says why."""
    with opened(tmp_path, **ONLY_SQLITE) as (environment, trial):
        (trial / "db/ledger.db").write_bytes(content)

        assert environment.state() == {"sqlite:ledger": "unreadable: file is not a database"}


def test_a_damaged_database_is_told_so(tmp_path: Path) -> None:
    """The first page is whole, the others are not."""
    with opened(tmp_path, **ONLY_SQLITE) as (environment, trial):
        with (trial / "db/ledger.db").open("r+b") as file:
            file.seek(4096)
            file.write(os.urandom(8192))

        (digest,) = environment.state().values()
        assert digest.startswith("unreadable: ")


def point_all_children(file: bytearray, page: int, target: int) -> None:
    """Make all pointers of an inner page of a table lead to one page (fileformat2.html)."""
    start = (page - 1) * 512
    assert file[start] == 5
    cells = [start + 8]
    for at in range(start + 12, start + 12 + 2 * int.from_bytes(file[start + 3 : start + 5]), 2):
        cells.append(start + int.from_bytes(file[at : at + 2]))
    for cell in cells:
        file[cell : cell + 4] = target.to_bytes(4)


def test_a_database_that_leads_in_circles_is_told_so(tmp_path: Path) -> None:
    """Forged pages that hold more rows than their file has room for are not read to their end."""
    with opened(tmp_path, **ONLY_SQLITE) as (environment, trial):
        database = trial / "db/ledger.db"
        database.unlink()
        rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)"
        fill = " ".join(f"INSERT INTO {t} {rows} SELECT hex(zeroblob(200)) FROM n;" for t in "ab")
        make = (
            "PRAGMA page_size = 512; CREATE TABLE a (t); CREATE TABLE b (t); CREATE TABLE c (t);"
        )
        with closing(sqlite3.connect(database)) as connection:
            connection.executescript(make + fill + f"INSERT INTO c {rows} SELECT 1 FROM n;")
            roots = connection.execute("SELECT rootpage FROM sqlite_master").fetchall()
        file = bytearray(database.read_bytes())
        (a,), (b,), (c,) = roots
        point_all_children(file, a, b)
        point_all_children(file, b, c)
        database.write_bytes(file)

        (digest,) = environment.state().values()
        assert digest == "unreadable: it has more rows than its file has room for"


def test_a_replaced_database_is_never_followed(tmp_path: Path) -> None:
    """A link to another database, a folder and a fifo in its place; then nothing."""
    with opened(tmp_path, **ONLY_SQLITE) as (environment, trial):
        database = trial / "db/ledger.db"
        database.rename(tmp_path / "moved.db")
        told = {"sqlite:ledger": "unreadable: it, or a file next to it, is not a regular file"}

        assert environment.state() == {}
        assert environment.clone(tmp_path / "clone0").state() == {}
        database.symlink_to(tmp_path / "moved.db")
        assert environment.state() == told
        assert environment.clone(tmp_path / "clone1").state() == told
        database.unlink()
        database.mkdir()
        assert environment.state() == told
        database.rmdir()
        os.mkfifo(database)
        assert environment.state() == told


def test_a_journal_cannot_make_sqlite_delete_another_file(tmp_path: Path) -> None:
    """One of a transaction over several databases names a file that SQLite would remove."""
    precious = tmp_path / "precious"
    precious.write_text("stays")
    with opened(tmp_path, **ONLY_SQLITE) as (environment, trial):
        kill(start_writer(trial / "db/ledger.db", "DELETE"))
        name = os.fsencode(precious)
        with (trial / "db/ledger.db-journal").open("ab") as journal:
            lock_page, checksum = (1 << 30) // 4096 + 1, sum(name)
            journal.write(lock_page.to_bytes(4, "big") + name)
            journal.write(len(name).to_bytes(4, "big") + checksum.to_bytes(4, "big"))
            journal.write(bytes.fromhex("d9d505f920a163d7"))

        state = dict(environment.state())

        assert precious.exists()
        assert "several databases" in state.pop("sqlite:ledger")
        assert state == {}


def test_a_database_is_frozen_with_its_journal_mode(tmp_path: Path) -> None:
    """What its last writer left in a WAL is part of the template; the source stays untouched."""
    source = tmp_path / "source"
    source.mkdir()
    execute(source / "x.db", "CREATE TABLE runs (id INTEGER PRIMARY KEY, name)")
    execute(
        source / "x.db", "CREATE TABLE notes (t)", "INSERT INTO runs VALUES (1, 'a'), (2, 'b')"
    )
    kill(start_writer(source / "x.db", "WAL"))
    before = contents(source)
    parts = {"ledger": {"from": "source/x.db", "at": "ledger.db"}}
    with opened(tmp_path, files={}, sqlite=parts) as (environment, trial):
        with closing(sqlite3.connect(trial / "ledger.db")) as connection:
            names = connection.execute("SELECT name FROM runs").fetchall()
            mode = connection.execute("PRAGMA journal_mode").fetchone()

        assert (names, mode) == ([("committed",), ("b",)], ("wal",))
        assert environment.difference().names == []
        assert environment.notes() == {}
        assert contents(source) == before


@pytest.mark.parametrize(
    "statement",
    [
        "ATTACH '{other}' AS other",
        "VACUUM INTO '{other}'",
        "SELECT load_extension('{other}')",
        "no SQL",
    ],
)
def test_a_script_reaches_no_other_file(tmp_path: Path, statement: str) -> None:
    """It fails, with the script's name, and writes nothing beside the template."""
    (tmp_path / "uploads").mkdir()
    (tmp_path / "ledger.sql").write_text(statement.format(other=tmp_path / "other.db"))

    with pytest.raises(EnvironmentFailed, match=r"database '.*ledger.sql': "):
        template(tmp_path, **ONLY_SQLITE)
    assert not (tmp_path / "other.db").exists()
    assert list((tmp_path / "frozen").iterdir()) == []


def test_a_missing_database_cannot_be_frozen(tmp_path: Path) -> None:
    """The message names it."""
    parts = {"ledger": {"from": "none.db", "at": "ledger.db"}}

    with pytest.raises(EnvironmentFailed, match=r"database '.*none.db': "):
        template(tmp_path, files={}, sqlite=parts)
