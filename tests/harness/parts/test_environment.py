"""Whole environments: frozen once, restored for each trial, compared, waited for."""

import fcntl
import itertools
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import many
from tests.harness.parts.environments import declare, execute, make_sources, opened, template

from tracegrade_harness.errors import EnvironmentFailed, SuiteUnusable
from tracegrade_harness.parts.environment import EnvironmentTemplate
from tracegrade_harness.parts.settle import wait_until_settled

needs_locks = pytest.mark.skipif(
    not Path("/proc/locks").exists(), reason="this system does not tell locks"
)

FILE_NAMES = ("raw/a.csv", "raw/b.csv", "run.sh", "raw/new", "clean/new", "top")
MUTATION = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(FILE_NAMES), st.integers(0, 9)),
    st.tuples(st.just("unlink"), st.sampled_from(FILE_NAMES), st.just(0)),
    st.tuples(st.just("chmod"), st.sampled_from(FILE_NAMES), st.sampled_from([0o600, 0o640])),
    st.tuples(st.just("link"), st.sampled_from(FILE_NAMES), st.integers(0, 9)),
    st.tuples(st.just("insert"), st.just("runs"), st.integers(1, 5)),
    st.tuples(st.just("delete"), st.just("runs"), st.integers(1, 5)),
    st.tuples(st.just("update"), st.just("runs"), st.integers(1, 5)),
)
MUTATIONS = st.one_of(
    st.lists(MUTATION, max_size=5), st.lists(MUTATION, min_size=200, max_size=200)
)
STATEMENTS = {
    "insert": "INSERT OR IGNORE INTO runs VALUES (?, 'new', NULL)",
    "delete": "DELETE FROM runs WHERE id = ?",
    "update": "UPDATE runs SET name = name || 'x' WHERE id = ?",
}


def mutate_file(path: Path, kind: str, value: int) -> None:
    """Do one thing to a file, if it can be done."""
    path.parent.mkdir(exist_ok=True)
    if kind == "unlink":
        path.unlink(missing_ok=True)
    elif kind == "chmod":
        if path.is_file() and not path.is_symlink():
            path.chmod(value)
    elif kind == "link":
        path.unlink(missing_ok=True)
        path.symlink_to(f"nowhere{value}")
    else:
        path.unlink(missing_ok=True)
        path.write_text(f"a,b\n1,{value}\n")  # one of these is what stood there


def mutate(root: Path, mutations: list[tuple[str, str, int]]) -> None:
    """Do one thing after the other to the files and the database of a trial."""
    with closing(sqlite3.connect(root / "ledger.db", isolation_level=None)) as connection:
        for kind, name, value in mutations:
            if kind in STATEMENTS:
                connection.execute(STATEMENTS[kind], (value,))
            else:
                mutate_file(root / name, kind, value)


def plain_state(root: Path) -> dict[str, object]:
    """Read files and rows without the harness, the plain way."""
    state: dict[str, object] = {}
    for name in FILE_NAMES:
        path = root / name
        if path.is_symlink():
            state[f"files:data/{name}"] = os.readlink(path)
        elif path.exists():
            state[f"files:data/{name}"] = (path.read_text(), path.stat().st_mode)
    if (root / "clean").is_dir() and not any((root / "clean").iterdir()):
        state["files:data/clean/"] = "empty"
    with closing(sqlite3.connect(root / "ledger.db")) as connection:
        for row in connection.execute("SELECT * FROM runs"):
            state[f"sqlite:ledger/runs/{row[0]}"] = row
    return state


@pytest.fixture(scope="module")
def frozen() -> Iterator[EnvironmentTemplate]:
    """A template that all examples restore."""
    with tempfile.TemporaryDirectory() as folder:
        yield template(Path(folder))


@settings(max_examples=many(8))
@given(MUTATIONS)
def test_the_difference_names_exactly_what_was_changed(
    frozen: EnvironmentTemplate, mutations: list[tuple[str, str, int]]
) -> None:
    """After a few or 200 random changes of files and rows; a fresh restore is as frozen."""
    with tempfile.TemporaryDirectory() as folder:
        environment = frozen.open(Path(folder, "trial"))
        before = plain_state(Path(folder, "trial/data"))
        mutate(Path(folder, "trial/data"), mutations)
        after = plain_state(Path(folder, "trial/data"))
        again = frozen.open(Path(folder, "again"))
        changed = {name for name in before | after if before.get(name) != after.get(name)}

        assert set(environment.difference().names) == changed
        assert again.fingerprint() == frozen.fingerprint()
        assert (environment.fingerprint() == frozen.fingerprint()) == (not changed)


def test_a_database_in_a_folder_is_no_file_of_it(tmp_path: Path) -> None:
    """Neither it nor what SQLite writes beside it; other files beside it are."""
    with opened(tmp_path) as (environment, trial):
        with closing(sqlite3.connect(trial / "data/ledger.db")) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("DELETE FROM runs WHERE id = 1")
            connection.commit()
            (trial / "data/ledger.db.bak").touch()
            found = environment.difference().names
            clone = environment.clone(tmp_path / "clone").difference().names

        assert found == ["files:data/ledger.db.bak", "sqlite:ledger/runs/1"]
        assert clone == found


def test_an_unchanged_source_is_not_frozen_again(tmp_path: Path) -> None:
    """A changed one is, and the old template stays for those who use it."""
    frozen = tmp_path / "frozen"
    template(tmp_path)
    first = {path.name: path.stat().st_ino for path in frozen.iterdir()}
    template(tmp_path)
    second = {path.name: path.stat().st_ino for path in frozen.iterdir()}
    (tmp_path / "uploads/raw/a.csv").write_text("other")
    template(tmp_path)

    assert second == first
    assert len(list(frozen.iterdir())) == len(first) + 1


def test_a_template_that_somebody_changed_is_refused(tmp_path: Path) -> None:
    """The message says what to remove."""
    template(tmp_path)
    (tree,) = tmp_path.glob("frozen/*/tree/raw/a.csv")
    tree.write_text("other")

    with pytest.raises(EnvironmentFailed, match=r"template '.*' was changed; remove it"):
        template(tmp_path)


def test_a_restore_that_is_not_what_was_frozen_is_refused(tmp_path: Path) -> None:
    """The trial's folder held something before: the trial would begin in another state."""
    (tmp_path / "trial/data").mkdir(parents=True)
    (tmp_path / "trial/data/old").touch()

    with pytest.raises(EnvironmentFailed, match=r"in 1 object, first 'files:data/old'; see"):
        template(tmp_path).open(tmp_path / "trial")


@pytest.mark.parametrize("at", ["/data", "../data", "a/../../b", "a\0b"])
def test_no_part_leads_out_of_the_trial(tmp_path: Path, at: str) -> None:
    """Absolute paths and steps upwards are refused before anything is read."""
    declared = declare(files={"data": {"from": "uploads", "at": at}})

    with pytest.raises(SuiteUnusable, match=r"'data' is at '.*'; in 'at', give a path below"):
        EnvironmentTemplate(declared, tmp_path)


@pytest.mark.parametrize(
    ("files", "databases"),
    [
        (["data", "data"], []),
        (["data", "data/below"], []),
        (["data/below", "."], []),
        (["data/x.db"], ["data/x.db"]),
        (["x.db/below"], ["x.db"]),
        (["x.db-wal"], ["x.db"]),
        ([], ["x.db", "./x.db"]),
        ([], ["x.db", "x.db-wal"]),
        ([], ["."]),
    ],
)
def test_parts_that_overlap_are_refused(
    tmp_path: Path, files: list[str], databases: list[str]
) -> None:
    """Only a database may stand in a folder."""
    declared = declare(
        files={f"f{n}": {"from": "uploads", "at": at} for n, at in enumerate(files)},
        sqlite={f"s{n}": {"from": "ledger.sql", "at": at} for n, at in enumerate(databases)},
    )

    with pytest.raises(SuiteUnusable, match=r"overlap at|is at '\.'"):
        EnvironmentTemplate(declared, tmp_path)


def test_a_part_may_be_the_whole_folder(tmp_path: Path) -> None:
    """At `.`, with a database in it."""
    files = {"all": {"from": "uploads", "at": "."}}
    sqlite = {"ledger": {"from": "ledger.sql", "at": "ledger.db"}}
    with opened(tmp_path, files=files, sqlite=sqlite) as (environment, trial):
        (trial / "new").touch()
        execute(trial / "ledger.db", "DELETE FROM notes")

        assert environment.difference().names == [
            "files:all/new",
            "sqlite:ledger/notes/1",
            "sqlite:ledger/notes/2",
        ]


def test_new_objects_that_the_suite_calls_locks_are_held(tmp_path: Path) -> None:
    """Also those of a dead process; one that was there before is not."""
    make_sources(tmp_path)
    (tmp_path / "uploads/old.lock").touch()
    with opened(tmp_path, locks=["files:**/*.lock", "sqlite:ledger/notes/*"]) as (
        environment,
        trial,
    ):
        before = environment.held()
        (trial / "data/raw/new.lock").touch()
        execute(trial / "data/ledger.db", "INSERT INTO notes VALUES ('mine')")

        assert before == []
        assert environment.held() == ["files:data/raw/new.lock", "sqlite:ledger/notes/3"]


LOCKER = """
import fcntl, sys
file = open(sys.argv[1], "r+")
getattr(fcntl, sys.argv[2])(file, fcntl.LOCK_EX)
print("locked", flush=True)
sys.stdin.read()
"""


@needs_locks
@pytest.mark.parametrize(("function", "kind"), [("flock", "flock"), ("lockf", "posix")])
def test_a_lock_is_held_as_long_as_its_process_lives(
    tmp_path: Path, function: str, kind: str
) -> None:
    """The kernel's lock goes with its holder, though the file stays."""
    with opened(tmp_path) as (environment, trial):
        path = str(trial / "data/raw/a.csv")
        command = [sys.executable, "-c", LOCKER, path, function]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"locked\n"
            held = environment.held()
            holder.kill()

        assert held == [f"files:data/raw/a.csv ({kind})"]
        assert environment.held() == []


@needs_locks
def test_a_lock_that_a_child_inherited_outlives_its_taker(tmp_path: Path) -> None:
    """The process that took the lock is dead; the one that holds it now is not."""
    with opened(tmp_path) as (environment, trial):
        with (trial / "data/raw/a.csv").open("r+") as file:
            taken = subprocess.run(
                [sys.executable, "-c", "import fcntl; fcntl.flock(0, fcntl.LOCK_EX)"],
                stdin=file,
                check=True,
            )
            held = environment.held()
            fcntl.flock(file, fcntl.LOCK_UN)

        assert taken.returncode == 0
        assert held == ["files:data/raw/a.csv (flock)"]
        assert environment.held() == []


def test_an_environment_is_still_when_two_readings_agree(tmp_path: Path) -> None:
    """Nothing moves: the state is the one that stays."""
    with opened(tmp_path) as (environment, _):
        still = wait_until_settled(environment.state)

        assert still.moving == []
        assert still.state == environment.state()


def test_what_still_moves_in_the_end_is_named() -> None:
    """Other objects of the same state are not."""
    count = itertools.count()
    still = wait_until_settled(lambda: {"still": "1", "moving": str(next(count))}, within_secs=0)

    assert still.moving == ["moving"]


def test_what_comes_to_rest_is_waited_for() -> None:
    """The state is read until it repeats itself."""
    states = iter("abcdd")
    still = wait_until_settled(lambda: {"x": next(states)}, within_secs=600)

    assert (still.state, still.moving) == ({"x": "d"}, [])


def test_frozen_once_an_environment_needs_its_source_no_more(tmp_path: Path) -> None:
    """Trials are opened from the template."""
    frozen = template(tmp_path)
    shutil.rmtree(tmp_path / "uploads")
    (tmp_path / "ledger.sql").unlink()
    environment = frozen.open(tmp_path / "trial")

    assert environment.state() == frozen.before
