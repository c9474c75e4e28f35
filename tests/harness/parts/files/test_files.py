"""A folder of files: its objects, after every kind of change by an agent."""

import os
import socket
import stat
from pathlib import Path

import pytest
from tests.harness.parts.environments import make_sources, opened, template

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.parts.diff import diff

FILES = {"data": {"from": "uploads", "at": "data", "path_env": "DATA"}}
ONLY_FILES = {"files": FILES, "sqlite": {}}


def test_a_folder_is_restored_as_it_was(tmp_path: Path) -> None:
    """Content, modes, links and times, with an extended attribute where the system has them."""
    with opened(tmp_path, **ONLY_FILES) as (environment, trial):
        source, copy = tmp_path / "uploads", trial / "data"

        assert environment.difference().names == []
        assert stat.S_IMODE((copy / "run.sh").stat().st_mode) == 0o750
        assert os.readlink(copy / "latest") == "raw/a.csv"
        assert (copy / "raw").stat().st_mtime_ns == (source / "raw").stat().st_mtime_ns
        assert (copy / "run.sh").stat().st_nlink == 1
        assert environment.variables == {"DATA": str(copy)}


def test_objects_are_named_by_their_paths(tmp_path: Path) -> None:
    """Folders end in a slash; the template's are objects though they are filled."""
    with opened(tmp_path, **ONLY_FILES) as (environment, _):
        assert sorted(environment.state()) == [
            "files:data/",
            "files:data/empty/",
            "files:data/latest",
            "files:data/raw/",
            "files:data/raw/a.csv",
            "files:data/raw/b.csv",
            "files:data/run.sh",
        ]


def test_a_new_folder_counts_only_while_it_is_empty(tmp_path: Path) -> None:
    """What stands in it tells of it; a template's folder that is emptied is still there."""
    with opened(tmp_path, **ONLY_FILES) as (environment, trial):
        (trial / "data/clean").mkdir()
        (trial / "data/out").mkdir()
        (trial / "data/out/x").touch()
        (trial / "data/raw/a.csv").unlink()
        (trial / "data/raw/b.csv").unlink()
        found = environment.difference()

        assert found.added == ["files:data/clean/", "files:data/out/x"]
        assert found.removed == ["files:data/raw/a.csv", "files:data/raw/b.csv"]
        assert found.changed == []


def test_writing_the_same_again_changes_nothing(tmp_path: Path) -> None:
    """Times are not part of a state; a permission is."""
    with opened(tmp_path, **ONLY_FILES) as (environment, trial):
        (trial / "data/raw/a.csv").write_text("a,b\n1,2\n")
        os.utime(trial / "data/raw/b.csv", (1, 1))
        (trial / "data/run.sh").chmod(0o700)

        assert environment.difference().changed == ["files:data/run.sh"]


def test_other_content_of_the_same_size_is_a_change(tmp_path: Path) -> None:
    """Also where the times are put back."""
    with opened(tmp_path, **ONLY_FILES) as (environment, trial):
        path = trial / "data/raw/b.csv"
        before = path.stat()
        path.write_text("a,c\n")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

        assert environment.difference().changed == ["files:data/raw/b.csv"]


def test_strange_names_become_text_that_tells_them_apart(tmp_path: Path) -> None:
    """Invalid UTF-8, line breaks, marks of direction and what looks like an escape."""
    with opened(tmp_path, **ONLY_FILES) as (environment, trial):
        for name in (b"\xff\xfe", b"a\nb", rb"a\x0ab", "x\u202ey".encode(), "ü".encode()):
            Path(os.fsdecode(os.fsencode(trial / "data") + b"/" + name)).touch()
        found = environment.difference()

        assert found.added == [
            "files:data/" + name for name in (r"\xff\xfe", r"a\\x0ab", r"a\x0ab", r"x\u202ey", "ü")
        ]
        assert "\n".join(found.added).encode()


def test_nothing_outside_is_read_and_nothing_waits(tmp_path: Path) -> None:
    """Links out of the folder, a fifo, a socket and a device's link are objects, never opened."""
    with opened(tmp_path, **ONLY_FILES) as (environment, trial):
        data = trial / "data"
        (data / "out").symlink_to("/")
        (data / "zeros").symlink_to("/dev/zero")
        (data / "loop").symlink_to(".")
        os.mkfifo(data / "fifo")
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(data / "socket"))
        state = environment.state()
        found = environment.difference()
        copied = environment.clone(tmp_path / "clone").state()

        assert found.added == [
            f"files:data/{n}" for n in ("fifo", "loop", "out", "socket", "zeros")
        ]
        assert state["files:data/out"] == "link /"
        assert state["files:data/fifo"].startswith("fifo ")
        assert state["files:data/socket"].startswith("socket ")
        assert copied == state


def test_a_sparse_file_is_read_and_copied_without_its_holes(tmp_path: Path) -> None:
    """A terabyte that holds one byte takes no time and no space; zeros and holes are equal."""
    with opened(tmp_path, **ONLY_FILES) as (environment, trial):
        with (trial / "data/big").open("wb") as file:
            file.truncate(1 << 40)
            file.seek(1 << 39)
            file.write(b"x")
        (trial / "data/zeros").write_bytes(bytes(1 << 20))
        with (trial / "data/hole").open("wb") as file:
            file.truncate(1 << 20)
        state = environment.state()
        clone = environment.clone(tmp_path / "clone")

        assert clone.state() == state
        assert state["files:data/zeros"] == state["files:data/hole"]
        assert (tmp_path / "clone/data/big").stat().st_blocks < 10_000


def test_folders_too_deep_to_open_are_told_where_reading_ends(tmp_path: Path) -> None:
    """A path longer than the system takes breaks nothing, and is seen."""
    with opened(tmp_path, **ONLY_FILES) as (environment, trial):
        folder = os.open(trial / "data", os.O_RDONLY)
        for _ in range(300):
            os.mkdir("d", dir_fd=folder)
            below = os.open("d", os.O_RDONLY, dir_fd=folder)
            os.close(folder)
            folder = below
        os.close(folder)
        (added,) = environment.difference().added

        assert added.count("/d") == 100
        assert environment.state()[added].endswith("deeper than is read")
        assert environment.clone(tmp_path / "clone").difference().added == [added]


def test_a_replaced_folder_is_a_state_of_its_own(tmp_path: Path) -> None:
    """It is a link to somewhere else now: what is there is not read as the agent's."""
    with opened(tmp_path, **ONLY_FILES) as (environment, trial):
        (trial / "data").rename(tmp_path / "elsewhere")
        (trial / "data").symlink_to(tmp_path / "elsewhere")

        assert environment.state() == {"files:data": "no folder: Not a directory"}
        (trial / "data").unlink()
        assert environment.state() == {}
        assert environment.clone(tmp_path / "clone").state() == {}


def test_what_may_not_be_read_is_told_by_its_digest(tmp_path: Path) -> None:
    """Neither a file nor a folder without permissions breaks the reading."""
    with opened(tmp_path, **ONLY_FILES) as (environment, trial):
        (trial / "data/raw/a.csv").chmod(0)
        if os.access(trial / "data/raw/a.csv", os.R_OK):
            pytest.skip("the superuser reads all files")
        (trial / "data/empty").chmod(0)
        state = environment.state()
        copied = environment.clone(tmp_path / "clone").state()
        (trial / "data/empty").chmod(0o755)

        assert state["files:data/raw/a.csv"] == "file 0000 unreadable 8"
        assert state["files:data/empty/"] == "folder 0000 unreadable"
        assert copied == state
        (tmp_path / "clone/data/empty").chmod(0o755)


def test_what_may_not_be_read_cannot_be_frozen(tmp_path: Path) -> None:
    """A trial would begin without its content."""
    make_sources(tmp_path)
    (tmp_path / "uploads/raw/a.csv").chmod(0)
    if os.access(tmp_path / "uploads/raw/a.csv", os.R_OK):
        pytest.skip("the superuser reads all files")

    with pytest.raises(EnvironmentFailed, match=r"cannot freeze '.*a.csv' of '.*uploads', file"):
        template(tmp_path, **ONLY_FILES)


def test_permissions_taken_away_are_a_change(tmp_path: Path) -> None:
    """Also for the superuser, who reads it all the same."""
    with opened(tmp_path, **ONLY_FILES) as (environment, trial):
        (trial / "data/run.sh").chmod(0)

        assert environment.difference().names == ["files:data/run.sh"]


def test_ignored_changes_are_counted_by_rule(tmp_path: Path) -> None:
    """They are out of the state; an ignored file that did not change does not count."""
    ignoring = {"data": FILES["data"] | {"ignore": ["**/*.log", "raw/**", "*.tmp"]}}
    with opened(tmp_path, files=ignoring, sqlite={}) as (environment, trial):
        (trial / "data/raw/a.csv").write_text("other")
        (trial / "data/raw/new.log").touch()
        (trial / "data/kept").touch()

        assert environment.difference().names == ["files:data/kept"]
        assert environment.ignored_changes() == {"**/*.log": 1, "raw/**": 1}
        assert environment.ignored()["files:data/raw/b.csv"] == "raw/**"


def test_a_clone_is_independent(tmp_path: Path) -> None:
    """It begins as the trial is, and what is done in one is not done in the other."""
    with opened(tmp_path, **ONLY_FILES) as (environment, trial):
        (trial / "data/new").touch()
        clone = environment.clone(tmp_path / "clone")
        equal = clone.state() == environment.state()
        (tmp_path / "clone/data/new").unlink()

        assert equal
        assert clone.difference().names == []
        assert environment.difference().names == ["files:data/new"]
        assert clone.variables == {"DATA": str(tmp_path / "clone/data")}


def test_many_files_are_read(tmp_path: Path) -> None:
    """Twenty thousand new ones in one folder are twenty thousand objects."""
    with opened(tmp_path, **ONLY_FILES) as (environment, trial):
        before = environment.state()
        folder = os.open(trial / "data", os.O_RDONLY)
        for number in range(20_000):
            os.close(os.open(f"f{number}", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
        os.close(folder)

        assert len(diff(before, environment.state()).added) == 20_000


def test_a_missing_source_cannot_be_frozen(tmp_path: Path) -> None:
    """The message names it."""
    missing = {"data": {"from": "nowhere", "at": "data"}}

    with pytest.raises(EnvironmentFailed, match=r"no such folder '.*nowhere'; name one"):
        template(tmp_path, files=missing, sqlite={})
