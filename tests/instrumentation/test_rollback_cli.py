"""`tracegrade rollback`: real kills, real journals."""

import os
import signal
import sqlite3
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from tracegrade import cli
from tracegrade.rollback.journal import append

from .journaled import FOLDER_BEFORE, JOURNAL, files, left

PATIENCE_SECS = 240


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with two files."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRACEGRADE_JOURNAL", raising=False)
    for name, text in FOLDER_BEFORE.items():
        Path(name).write_text(text)
    return tmp_path


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
    """It prints the writes to undo."""
    killed_run()
    before = (files(), JOURNAL.read_bytes())

    assert rollback(str(JOURNAL), "--dry-run", monkeypatch=monkeypatch) == 0
    assert (files(), JOURNAL.read_bytes()) == before
    assert 'would undo clean/a.csv: {"delete": "clean/a.csv"}' in capsys.readouterr().out


STOPS = """
import sys
from pathlib import Path
from tracegrade.rollback import cli as rollback_cli
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
