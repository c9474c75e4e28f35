"""`run.rollback`: on the disk before the write, undone by an exception, done at the end."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import tracegrade
from tracegrade.rollback.journal import append, parse

from .journaled import FOLDER_BEFORE, JOURNAL, files, left


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with two files."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRACEGRADE_JOURNAL", raising=False)
    for name, text in FOLDER_BEFORE.items():
        Path(name).write_text(text)
    return tmp_path


class Broken(Exception):
    """What an agent raises."""


def test_entry_is_on_the_disk_before_the_write() -> None:
    """An agent that is killed after the call has recorded how to undo its next write."""
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
    """The undo of a write to an existing file restores it, with any instruction of the agent."""
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
    """The agent continues, and an exception still undoes."""
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


def test_paths_may_be_path_objects() -> None:
    """Of the object and in the undo."""
    name: Any = Path("x")
    with suppress(Broken), tracegrade.agent_run("a") as run:
        run.rollback(name, undo={"delete": name})
        Path("x").write_text("new")
        raise Broken

    assert files() == FOLDER_BEFORE
    assert list(parse(JOURNAL.read_bytes()).entries) == ["x"]
