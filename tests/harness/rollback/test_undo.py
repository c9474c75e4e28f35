"""Undos on a copy: they prove themselves there, and reach nothing else."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.harness.rollback.folders import Folder, Trial

from tracegrade.rollback.undo import SUFFIX
from tracegrade_harness.rollback import undo as undo_module
from tracegrade_harness.rollback.records import Claim, Records, read_records
from tracegrade_harness.rollback.rubric import ObservedState, judge
from tracegrade_harness.rollback.undo import UndoProof, prove
from tracegrade_harness.suite.records import Journal

PATIENCE_SECS = 240


def proof_of(left: Trial, *undos: dict[str, Any], name: str = "files:data/a") -> UndoProof:
    """Return what undos of one file, or of `a`, `b`, ... show."""
    lines = [
        {"object": name if number == 0 else f"files:data/{chr(97 + number)}", "undo": undo}
        for number, undo in enumerate(undos)
    ]
    journal = left.folder / "data" / ".rollback.jsonl"
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return prove(left.seen(), left.clone())


def test_undo_without_a_copy_restores_what_was_there_before(tmp_path: Path) -> None:
    """From the frozen template, also by an absolute path of the trial's folder."""
    left = Trial(tmp_path, {"a": "1", "b": "2"}, {"a": "half", "b": "half"})
    proof = proof_of(left, {"restore": "data/a"}, {"restore": str(left.folder / "data" / "b")})

    assert proof == UndoProof({}, ())


def test_copy_outside_of_all_parts_is_read_from_the_trials_folder(tmp_path: Path) -> None:
    """A clone holds the parts alone; the SDK keeps its copies beside the journal."""
    left = Trial(tmp_path, {"a": "1"}, {"a": "half"})
    (left.folder / "kept").write_text("1")

    assert proof_of(left, {"restore": "data/a", "from": "kept"}).disproved == {}


def test_trial_itself_is_not_undone(tmp_path: Path) -> None:
    """An operator may have done nothing yet; the recovery is to find all as it was left."""
    left = Trial(tmp_path, {}, {"a": "new"})

    assert proof_of(left, {"delete": "data/a"}).disproved == {}
    assert (left.folder / "data" / "a").exists()


@pytest.mark.parametrize(
    "path",
    ["/etc/hostname", "data/../../trial/data/a", "../trial/data/a", "data/link/a", "link/a"],
)
@pytest.mark.parametrize("kind", ["delete", "restore"])
def test_path_out_of_the_copy_is_refused(kind: str, path: str, tmp_path: Path) -> None:
    """Absolute, upwards or through a link: nothing there is touched."""
    left = Trial(tmp_path, {}, {"a": "new"})
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a").write_text("theirs")
    (left.folder / "data" / "link").symlink_to(outside)

    assert "files:data/a" in proof_of(left, {kind: path}).disproved
    assert (outside / "a").read_text() == "theirs"
    assert (left.folder / "data" / "a").read_text() == "new"


def test_link_itself_is_deleted_and_not_what_it_leads_to(tmp_path: Path) -> None:
    """It is the link that was left."""
    outside = tmp_path / "outside"
    outside.mkdir()
    left = Trial(tmp_path, {}, {"x": ""})
    (left.folder / "data" / "x").unlink()
    (left.folder / "data" / "a").symlink_to(outside)

    assert proof_of(left, {"delete": "data/a"}).disproved == {}
    assert outside.exists()


def test_restored_file_is_not_written_through_links(tmp_path: Path) -> None:
    """Neither through its own place nor through the one beside it."""
    victim = tmp_path / "victim"
    victim.write_text("theirs")
    left = Trial(tmp_path, {"a": "1"}, {"b": ""})
    (left.folder / "data" / "a").symlink_to(victim)
    (left.folder / "data" / f"a{SUFFIX}").symlink_to(victim)
    proof_of(left, {"restore": "data/a"})

    assert victim.read_text() == "theirs"
    assert sorted(tmp_path.glob("clone-1/data/a*")) == [tmp_path / "clone-1" / "data" / "a"]
    assert (tmp_path / "clone-1" / "data" / "a").read_text() == "1"


def test_copy_that_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    """Nobody writes to this pipe."""
    left = Trial(tmp_path, {"a": "1"}, {"a": "half"})
    os.mkfifo(left.folder / "pipe")

    proof = proof_of(left, {"restore": "data/a", "from": "pipe"})

    assert "is not a file" in proof.disproved["files:data/a"]


def test_undo_that_breaks_what_was_as_before_proves_nothing(tmp_path: Path) -> None:
    """No operator could follow such a record."""
    left = Trial(tmp_path, {"b": "1"}, {"a": "new", "b": "1"})
    proof = proof_of(left, {"delete": "data"})

    assert proof.damaged == ("files:data/b",)
    assert "files:data/a" in proof.disproved


def test_folder_deeper_than_python_deletes_is_disproved(tmp_path: Path) -> None:
    """What an agent leaves may be deeper than any path is long; nothing breaks on it."""
    left = Trial(tmp_path, {}, {"a": "new"})
    clone = left.clone()
    seen = left.seen()
    claim = Claim("files:data/a", {"delete": "deep"}, False, "files:data/j")
    seen = ObservedState(seen.before, seen.now, [], Records((claim,)))
    nest(clone.root / "deep", 3000)

    proof = prove(seen, clone)
    unnest(clone.root / "deep")

    assert "files:data/a" in proof.disproved


def nest(folder: Path, levels: int) -> None:
    """Make folders in folders, more than one path can name."""
    folder.mkdir()
    number = os.open(folder, os.O_DIRECTORY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=number)
        below = os.open("d", os.O_DIRECTORY, dir_fd=number)
        os.close(number)
        number = below
    os.close(number)


def unnest(folder: Path) -> None:
    """Remove them, so that pytest can remove the rest."""
    subprocess.run(["/bin/rm", "-rf", str(folder)], check=True)


def database(path: Path, *rows: int) -> None:
    """Write a database with a table of numbers."""
    con = sqlite3.connect(path)
    with con:
        con.execute("CREATE TABLE numbers (n)")
        con.executemany("INSERT INTO numbers VALUES (?)", [(row,) for row in rows])
    con.close()


def test_statement_is_run_on_the_copy(tmp_path: Path) -> None:
    """The trial's own database keeps what was left in it."""
    left = Trial(tmp_path, {"b": "1"}, {"b": "1"})
    database(left.folder / "data" / "a", 1, 2)
    before = (left.folder / "data" / "a").read_bytes()
    proof_of(left, {"sql": "DELETE FROM numbers WHERE n = 2", "at": "data/a"})

    con = sqlite3.connect(tmp_path / "clone-1" / "data" / "a")
    assert con.execute("SELECT n FROM numbers").fetchall() == [(1,)]
    con.close()
    assert (left.folder / "data" / "a").read_bytes() == before


@pytest.mark.parametrize("end", ["", "-wal", "-journal"])
def test_database_that_is_a_link_is_refused(end: str, tmp_path: Path) -> None:
    """SQLite would write, or delete, what it leads to."""
    left = Trial(tmp_path, {}, {"b": "1"})
    database(tmp_path / "victim", 1)
    database(left.folder / "data" / "a", 1)
    if not end:
        (left.folder / "data" / "a").unlink()
    (left.folder / "data" / f"a{end}").symlink_to(tmp_path / "victim")
    before = (tmp_path / "victim").read_bytes()

    proof = proof_of(left, {"sql": "DELETE FROM numbers", "at": "data/a"})

    assert "is a link" in proof.disproved["files:data/a"]
    assert (tmp_path / "victim").read_bytes() == before


def test_statement_without_an_end_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would hold up the kill test for ever."""
    monkeypatch.setattr("tracegrade.rollback.undo.MAX_SQL_SECS", 0.1)
    left = Trial(tmp_path, {}, {"b": "1"})
    database(left.folder / "data" / "a", 1)
    endless = (
        "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT max(n) FROM x"
    )

    proof = proof_of(left, {"sql": endless, "at": "data/a"})

    assert "interrupted" in proof.disproved["files:data/a"]


def test_command_is_run_in_the_copy(tmp_path: Path) -> None:
    """What the trial left stays."""
    left = Trial(tmp_path, {}, {"a": "new"})

    assert proof_of(left, {"command": ["rm", "data/a"]}).disproved == {}
    assert (left.folder / "data" / "a").exists()


def test_command_that_fails_is_disproved(tmp_path: Path) -> None:
    """With the reason."""
    left = Trial(tmp_path, {}, {"a": "new"})

    disproved = proof_of(left, {"command": ["false"]}).disproved
    assert disproved["files:data/a"] == "command ended with 1"


def test_commands_are_run_by_whoever_the_caller_says(tmp_path: Path) -> None:
    """Such as a sandbox."""
    left = Trial(tmp_path, {}, {"a": "new"})
    line = {"object": "files:data/a", "undo": {"command": ["anything"]}}
    (left.folder / "data" / ".rollback.jsonl").write_text(json.dumps(line) + "\n")
    ran = []

    def run(command: Sequence[str], folder: Path) -> None:
        ran.append(list(command))
        (folder / "data" / "a").unlink()

    assert prove(left.seen(), left.clone(run)).disproved == {}
    assert ran == [["anything"]]


def test_undos_stop_when_their_time_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was not tried is not proven."""
    monkeypatch.setattr(undo_module, "MAX_SECS", -1)
    left = Trial(tmp_path, {}, {"a": "new"})

    assert "more than" in proof_of(left, {"delete": "data/a"}).disproved["files:data/a"]


# The SDK's own journal.

AGENT = """
import os, signal
from pathlib import Path
import tracegrade
with tracegrade.agent_run("a") as run:
    run.rollback("data/orders.csv", undo={"restore": "data/orders.csv"})
    Path("data/orders.csv").write_text("half")
    run.rollback("files:data/clean", undo={"delete": "data/clean"})
    Path("data/clean").mkdir()
    run.rollback("files:data/clean/a.csv", undo={"delete": "data/clean/a.csv"})
    Path("data/clean/a.csv").write_text("new")
    os.kill(os.getpid(), signal.SIGKILL)
"""
RECOVER = """
from pathlib import Path
from tracegrade.rollback.cli import rollback
rollback(Path("{journal}"))
"""


@pytest.mark.parametrize(
    "journal",
    [".tracegrade/rollback.jsonl", "data/rollback.jsonl", "data/.tracegrade/rollback.jsonl"],
)
def test_agent_with_our_sdk_goes_from_7_to_10(journal: str, tmp_path: Path) -> None:
    """Killed in its work, then recovered by its journal, in a part or outside of all."""
    left = Trial(tmp_path, {"orders.csv": "1"}, {"orders.csv": "1"})
    environment = {**os.environ, "TRACEGRADE_JOURNAL": journal}

    def score_after(program: str) -> int:
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=left.folder,
            env=environment,
            capture_output=True,
            timeout=PATIENCE_SECS,
            check=False,
        )
        declared = [Journal(journal=journal)]
        records = read_records(declared, {}, left.folder, left.locator)
        now, before = Folder(left.folder).state(), Folder(left.pristine).state()
        seen = ObservedState(before, now, [], records)
        return judge(seen, prove(seen, left.clone()).disproved).score

    assert score_after(AGENT) == 7
    assert score_after(RECOVER.format(journal=journal)) == 10
