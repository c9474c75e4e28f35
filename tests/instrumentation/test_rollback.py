"""`run.rollback` and `tracegrade rollback`: real files, real kills, real journals."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import tomllib
from contextlib import suppress
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tracegrade
from tracegrade import cli
from tracegrade.journal import append, parse
from tracegrade.undo import undo_fault

PATIENCE_SECS = 240
JOURNAL = Path(".tracegrade/rollback.jsonl")
FOLDER_BEFORE = {"orders.csv": "1", "customers.csv": "2"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with two files."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRACEGRADE_JOURNAL", raising=False)
    for name, text in FOLDER_BEFORE.items():
        Path(name).write_text(text)
    return tmp_path


def files() -> dict[str, str]:
    """Return the text of each file, but for what is ours."""
    paths = (path for path in Path().rglob("*") if path.is_file())
    return {str(path): path.read_text() for path in paths if JOURNAL.parent not in path.parents}


def left() -> list[str]:
    """Return the objects that the journal says are not undone, the newest first."""
    return [entry.object for entry in parse(JOURNAL.read_bytes()).left()]


def rollback(*arguments: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run `tracegrade rollback` as the project declares it, and return its exit code."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    declared = project["project"]["entry-points"]["tracegrade.commands"]["rollback"]
    entry = EntryPoint("rollback", declared, cli.GROUP)  # also where it is not installed yet
    monkeypatch.setattr(cli, "_find", lambda _: entry)
    with pytest.raises(SystemExit) as ended:
        cli.main(["rollback", *arguments])
    assert isinstance(ended.value.code, int)
    return ended.value.code


class Broken(Exception):
    """What an agent raises."""


# The SDK.


def test_entry_is_on_the_disk_before_the_write() -> None:
    """Whoever is killed after the call has said how to undo what it was about to do."""
    with tracegrade.agent_run("a") as run:
        run.rollback("files:data/new.csv", undo={"delete": "new.csv"})
        (entry,) = parse(JOURNAL.read_bytes()).entries.values()

    assert entry.object == "files:data/new.csv"
    assert entry.undo == {"delete": "new.csv"}
    assert entry.folder == os.getcwd()
    assert left() == []


def test_run_that_fails_undoes_its_writes_the_newest_first() -> None:
    """What was changed is as before, what was made is gone, folders after what is in them."""
    with suppress(Broken), tracegrade.agent_run("a") as run:
        run.rollback("clean", undo={"delete": "clean"})
        Path("clean").mkdir()
        run.rollback("clean/a.csv", undo={"delete": "clean/a.csv"})
        Path("clean/a.csv").write_text("new")
        run.rollback("orders.csv", undo={"restore": "orders.csv"})
        Path("orders.csv").write_text("changed")
        raise Broken

    assert files() == FOLDER_BEFORE
    assert not Path("clean").exists()
    assert left() == []
    assert [path.name for path in JOURNAL.parent.iterdir()] == [JOURNAL.name]


def test_run_that_ends_well_keeps_its_writes_and_no_copies() -> None:
    """All is done, so there is nothing to undo and nothing to undo it with."""
    with tracegrade.agent_run("a") as run:
        run.rollback("orders.csv", undo={"restore": "orders.csv"})
        Path("orders.csv").write_text("changed")

    assert files() == {**FOLDER_BEFORE, "orders.csv": "changed"}
    assert left() == []
    assert [path.name for path in JOURNAL.parent.iterdir()] == [JOURNAL.name]


def test_block_ends_before_its_run() -> None:
    """A block that failed is undone though the run goes on; one that did not stays."""
    with tracegrade.agent_run("a") as run:
        with run.rollback("x", undo={"delete": "x"}):
            Path("x").write_text("kept")
        with suppress(Broken), run.rollback("y", undo={"delete": "y"}):
            Path("y").write_text("lost")
            raise Broken

        assert left() == []

    assert files() == {**FOLDER_BEFORE, "x": "kept"}


async def _write_and_fail(run: tracegrade.AgentRun) -> None:
    async with run.rollback("x", undo={"delete": "x"}):
        Path("x").write_text("lost")
        raise Broken


def test_async_block_is_undone() -> None:
    """As any other."""
    with tracegrade.agent_run("a") as run, pytest.raises(Broken):
        _write_and_fail(run).send(None)

    assert files() == FOLDER_BEFORE


def test_delete_never_deletes_what_was_there_before() -> None:
    """The undo of a write to an existing file is to restore it, whatever the agent says."""
    with suppress(Broken), tracegrade.agent_run("a") as run:
        run.rollback("orders.csv", undo={"delete": "orders.csv"})
        Path("orders.csv").write_text("changed")
        raise Broken

    assert files() == FOLDER_BEFORE


def test_folder_that_was_there_before_is_left_to_a_human() -> None:
    """Nothing deletes it, and no copy of all in it is kept."""
    Path("clean").mkdir()
    Path("clean/old.csv").write_text("3")
    with suppress(Broken), tracegrade.agent_run("a") as run:
        run.rollback("clean", undo={"delete": "clean"})
        raise Broken

    assert files() == {**FOLDER_BEFORE, "clean/old.csv": "3"}
    (entry,) = parse(JOURNAL.read_bytes()).left()
    assert list(entry.undo) == ["manual"]


def test_restore_of_what_was_not_there_deletes() -> None:
    """As it was before means that it was not."""
    with suppress(Broken), tracegrade.agent_run("a") as run:
        run.rollback("x", undo={"restore": "x"})
        Path("x").write_text("new")
        raise Broken

    assert files() == FOLDER_BEFORE


def test_restore_through_a_link_restores_what_it_leads_to() -> None:
    """A write to a link changes the file behind it."""
    Path("current").symlink_to("orders.csv")
    with suppress(Broken), tracegrade.agent_run("a") as run:
        run.rollback("current", undo={"restore": "current"})
        Path("current").write_text("changed")
        raise Broken

    assert Path("orders.csv").read_text() == "1"
    assert Path("current").is_symlink()


def test_mode_of_a_restored_file_is_as_before() -> None:
    """A state is more than content."""
    Path("orders.csv").chmod(0o640)
    with suppress(Broken), tracegrade.agent_run("a") as run:
        run.rollback("orders.csv", undo={"restore": "orders.csv"})
        Path("orders.csv").unlink()
        raise Broken

    assert Path("orders.csv").stat().st_mode & 0o777 == 0o640


def test_what_is_no_file_stays_in_the_journal(caplog: pytest.LogCaptureFixture) -> None:
    """Statements and commands are the recovery's; the program learns of it."""
    with suppress(Broken), tracegrade.agent_run("a") as run:
        run.rollback("sqlite:shop/orders/7", undo={"sql": "DELETE FROM orders", "at": "shop.db"})
        raise Broken

    assert left() == ["sqlite:shop/orders/7"]
    assert "see: tracegrade rollback" in caplog.text


def test_same_object_twice_leads_back_to_the_first_state() -> None:
    """A second write to a file must not make the half-written state the one to go back to."""
    with suppress(Broken), tracegrade.agent_run("a") as run:
        run.rollback("orders.csv", undo={"restore": "orders.csv"})
        Path("orders.csv").write_text("first")
        with suppress(Broken), run.rollback("orders.csv", undo={"restore": "orders.csv"}):
            Path("orders.csv").write_text("second")
            raise Broken
        between = Path("orders.csv").read_text()
        raise Broken

    assert between == "first"
    assert files() == FOLDER_BEFORE
    assert left() == []


def test_run_after_a_killed_one_goes_back_to_where_that_began() -> None:
    """A journal that still holds an object keeps its first undo."""
    Path("orders.csv").write_text("half-written")
    Path("kept").write_text("1")
    append(JOURNAL, {"object": "orders.csv", "undo": {"restore": "orders.csv", "from": "kept"}})
    with suppress(Broken), tracegrade.agent_run("a") as run:
        run.rollback("orders.csv", undo={"restore": "orders.csv"})
        Path("orders.csv").write_text("again")
        raise Broken

    assert Path("orders.csv").read_text() == "1"
    assert left() == []


def test_absolute_paths_are_written_relative_to_the_folder(folder: Path) -> None:
    """So that they hold in a copy of the folder, too."""
    with tracegrade.agent_run("a") as run:
        run.rollback("x", undo={"delete": str(folder / "clean" / "x")})

    assert parse(JOURNAL.read_bytes()).entries["x"].undo == {"delete": "clean/x"}


def test_journal_that_cannot_be_written_is_said_once_and_breaks_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The agent goes on, and an exception still undoes."""
    monkeypatch.setenv("TRACEGRADE_JOURNAL", "orders.csv/journal")
    with suppress(Broken), tracegrade.agent_run("a") as run:
        for name in ("x", "y"):
            run.rollback(name, undo={"delete": name})
            Path(name).write_text("new")
        raise Broken

    assert files() == FOLDER_BEFORE
    assert sum("set TRACEGRADE_JOURNAL" in line for line in caplog.messages) == 1
    assert tracegrade.failures()["journal"] > 1


@pytest.mark.parametrize("undo", [{}, {"deletee": "x"}, "delete", None, {"delete": 7}])
def test_undo_that_is_none_is_said_and_breaks_nothing(
    undo: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """The agent's own exception is the one that leaves the block."""
    with tracegrade.agent_run("a") as run, suppress(Broken), run.rollback("x", undo=undo):
        Path("x").write_text("kept")
        raise Broken

    assert "the undo of 'x' cannot be carried out" in caplog.text
    assert files() == {**FOLDER_BEFORE, "x": "kept"}


# The recovery.

FILES_UNDONE = ["undone orders.csv", "undone clean/a.csv"]

KILLED = """
import os, signal
from pathlib import Path
import tracegrade
with tracegrade.agent_run("a") as run:
    run.rollback("clean", undo={"delete": "clean"})
    Path("clean").mkdir()
    run.rollback("clean/a.csv", undo={"delete": "clean/a.csv"})
    Path("clean/a.csv").write_text("new")
    with run.rollback("orders.csv", undo={"restore": "orders.csv"}):
        with open("orders.csv", "w") as file:
            file.write("half")
            file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
"""


def killed_run() -> None:
    """Run an agent that is killed in the middle of a write."""
    ended = subprocess.run([sys.executable, "-c", KILLED], timeout=PATIENCE_SECS, check=False)
    assert ended.returncode == -signal.SIGKILL


def test_killed_run_is_undone_by_its_journal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The folder is as before; one line an entry; a second run finds nothing to do."""
    killed_run()
    assert files() == {**FOLDER_BEFORE, "orders.csv": "half", "clean/a.csv": "new"}

    code = rollback(str(JOURNAL), monkeypatch=monkeypatch)
    said = capsys.readouterr().out.splitlines()

    assert code == 0
    assert files() == FOLDER_BEFORE
    assert not Path("clean").exists()
    assert [line.partition(":")[0] for line in said[0::2]] == FILES_UNDONE
    assert len(said) == 4
    assert [path.name for path in JOURNAL.parent.iterdir()] == [JOURNAL.name]
    before = JOURNAL.read_bytes()
    assert rollback(str(JOURNAL), monkeypatch=monkeypatch) == 0
    assert capsys.readouterr().out == "nothing to undo\n"
    assert JOURNAL.read_bytes() == before


def test_dry_run_undoes_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says what would be undone."""
    killed_run()
    before = (files(), JOURNAL.read_bytes())

    assert rollback(str(JOURNAL), "--dry-run", monkeypatch=monkeypatch) == 0
    assert (files(), JOURNAL.read_bytes()) == before
    assert 'would undo clean/a.csv: {"delete": "clean/a.csv"}' in capsys.readouterr().out


STOPS = """
import sys
from pathlib import Path
from tracegrade import rollback_cli
stop_after = int(sys.argv[1])
import os, signal
count = 0
def trace(event, args):
    global count
    if event in ("os.rename", "os.remove", "os.rmdir", "shutil.rmtree", "open"):
        count += 1
        if count == stop_after:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(trace)
try:
    rollback_cli.rollback(Path(".tracegrade/rollback.jsonl"))
finally:
    print(count, flush=True)
"""


def test_recovery_killed_at_any_step_ends_right_when_run_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before each file that it opens, deletes or replaces, until it runs through."""
    for step in range(1, 200, 4):
        for name, text in FOLDER_BEFORE.items():
            Path(name).write_text(text)
        append(JOURNAL, {"object": "kept", "undo": {"delete": "kept"}})
        Path("kept").write_text("1")
        append(JOURNAL, {"object": "o", "undo": {"restore": "orders.csv", "from": "kept"}})
        Path("orders.csv").write_text("half")
        append(JOURNAL, {"object": "c", "undo": {"delete": "clean"}})
        Path("clean").mkdir()
        Path("clean/x").write_text("new")
        ended = subprocess.run(
            [sys.executable, "-c", STOPS, str(step)], capture_output=True, check=False
        )
        assert rollback(str(JOURNAL), monkeypatch=monkeypatch) == 0
        assert files() == FOLDER_BEFORE
        JOURNAL.unlink()
        if ended.returncode == 0:
            break
    else:
        pytest.fail("it never ran through")


def test_statements_and_commands_are_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the folder, without a shell."""
    with sqlite3.connect("shop.db") as con:
        con.execute("CREATE TABLE orders AS SELECT 7 AS id UNION SELECT 8")
    con.close()
    script = "import pathlib; pathlib.Path('done $HOME').touch()"
    append(
        JOURNAL,
        {"object": "row", "undo": {"sql": "DELETE FROM orders WHERE id = 8", "at": "shop.db"}},
        {"object": "mail", "undo": {"command": [sys.executable, "-c", script]}},
    )

    assert rollback(str(JOURNAL), monkeypatch=monkeypatch) == 0
    con = sqlite3.connect("shop.db")
    assert con.execute("SELECT id FROM orders").fetchall() == [(7,)]
    con.close()
    assert Path("done $HOME").exists()


def test_one_that_fails_keeps_no_other_from_being_undone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1; what is left to a human is listed, and both stay in the journal."""
    append(
        JOURNAL,
        {"object": "orders", "undo": {"delete": "orders.csv"}},
        {"object": "lost", "undo": {"restore": "x", "from": "nowhere"}},
        {"object": "bad", "undo": {"command": [sys.executable, "-c", "exit(3)"]}},
        {"object": "two\nlines", "undo": {"manual": "call\nthem"}},
    )

    assert rollback(str(JOURNAL), monkeypatch=monkeypatch) == 1
    said = capsys.readouterr()
    assert said.out.splitlines()[0] == r'by hand "two\nlines": "call\nthem"'
    assert said.out.splitlines()[1] == "failed bad: command ended with 3"
    assert said.out.splitlines()[3].startswith("undone orders:")
    assert len(said.out.splitlines()) == 4
    assert "3 of 4 entries are not undone" in said.err
    assert left() == ["two\nlines", "bad", "lost"]


def test_journal_of_another_folder_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its paths would name other files here; `--folder` says that it is meant so."""
    append(JOURNAL, {"object": "o", "undo": {"delete": "orders.csv"}, "folder": "/elsewhere"})

    assert rollback(str(JOURNAL), monkeypatch=monkeypatch) == 2
    assert files() == FOLDER_BEFORE
    assert "was written in '/elsewhere'" in capsys.readouterr().err
    assert rollback(str(JOURNAL), "--folder", str(folder), monkeypatch=monkeypatch) == 0
    assert "orders.csv" not in files()


@pytest.mark.parametrize("journal", ["nowhere", "."])
def test_journal_that_cannot_be_read_is_bad_input(
    journal: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, in one line."""
    assert rollback(journal, monkeypatch=monkeypatch) == 2
    assert capsys.readouterr().err.count("\n") == 1


# The journal itself.


def test_torn_last_line_is_cut_off_by_the_next_entry() -> None:
    """It came before what it was about, so nothing of it happened."""
    append(JOURNAL, {"object": "a", "undo": {"delete": "a"}})
    with JOURNAL.open("ab") as file:
        file.write(b'{"object": "b", "un')
    assert parse(JOURNAL.read_bytes()).is_torn

    append(JOURNAL, {"object": "c", "undo": {"delete": "c"}})

    read = parse(JOURNAL.read_bytes())
    assert list(read.entries) == ["a", "c"]
    assert read.faults == []


def test_last_line_without_its_end_is_whole() -> None:
    """As others write JSON Lines."""
    JOURNAL.parent.mkdir()
    JOURNAL.write_bytes(b'{"object": "a", "undo": {"delete": "a"}}')
    append(JOURNAL, {"object": "c", "undo": {"delete": "c"}})

    assert list(parse(JOURNAL.read_bytes()).entries) == ["a", "c"]


def test_later_line_updates_the_earlier() -> None:
    """`done` keeps the undo, a new undo makes the entry the newest, an invalid line nothing."""
    lines = [
        {"object": "a", "undo": {"delete": "a"}},
        {"object": "b", "undo": {"delete": "b"}},
        {"object": "a", "undo": {"manual": "look"}},
        {"object": "b", "done": True},
        {"object": "a", "undo": {"deletee": "a"}},
    ]
    read = parse(b"\n".join(json.dumps(line).encode() for line in lines) + b"\n")

    assert [entry.object for entry in read.entries.values()] == ["b", "a"]
    assert read.entries["b"].done
    assert read.entries["a"].undo == {"manual": "look"}
    assert [fault.line for fault in read.faults] == [5]


HOSTILE = [
    b"\xff\xfe{}",
    b"[]",
    b"null",
    b"{" * 100_000,
    b'{"object": ' + b"[" * 100_000,
    b'{"object": "a", "undo": {"delete": "a"}, "done": ' + b"9" * 5000 + b"}",
    b'{"object": "", "undo": {"delete": "a"}}',
    b'{"object": ["a"], "undo": {"delete": "a"}}',
    b'{"object": "\\ud800", "undo": {"delete": "a"}}',
    b'{"object": "a", "undo": {"delete": "\\u0000"}}',
    b'{"object": "a", "undo": {"delete": "."}}',
    b'{"object": "a", "undo": {"delete": "/"}}',
    b'{"object": "a", "undo": {"delete": "b/../.."}}',
    b'{"object": "a", "undo": {"delete": "a", "manual": "b"}}',
    b'{"object": "a", "undo": {"command": []}}',
    b'{"object": "a", "undo": {"command": "rm -rf /"}}',
    b'{"object": "a", "undo": {"sql": "DROP TABLE a"}}',
    b'{"object": "a", "undo": {}}',
    b'{"object": "a"}',
    b'{"object": "a", "undo": {"delete": "a"}, "done": "no"}',
    b'{"object": "' + b"a" * 2_000_000 + b'", "undo": {"delete": "a"}}',
]


@pytest.mark.parametrize("line", HOSTILE, ids=range(len(HOSTILE)))
def test_invalid_line_says_nothing_and_spoils_no_other(line: bytes) -> None:
    """It is a fault with its line."""
    good = b'{"object": "good", "undo": {"delete": "x"}}\n'
    read = parse(good + line + b"\n")

    assert list(read.entries) == ["good"]
    assert [fault.line for fault in read.faults] == [2]


@given(st.binary(max_size=400))
def test_any_bytes_can_be_parsed(content: bytes) -> None:
    """None of them raises, and all that comes out is valid."""
    assert all(undo_fault(entry.undo) is None for entry in parse(content).entries.values())


@pytest.mark.parametrize(
    "statement",
    [
        "ATTACH 'x.db' AS x",
        "VACUUM INTO 'x.db'",
        "PRAGMA journal_mode = wal",
        "COMMIT",
        "nonsense",
    ],
)
def test_statement_that_leads_out_of_its_database_is_refused(
    statement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing but the database is written."""
    sqlite3.connect("shop.db").close()
    append(JOURNAL, {"object": "o", "undo": {"sql": statement, "at": "shop.db"}})

    assert rollback(str(JOURNAL), monkeypatch=monkeypatch) == 1
    assert sorted(os.listdir()) == [".tracegrade", "customers.csv", "orders.csv", "shop.db"]
