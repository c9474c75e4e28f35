"""Suites whose folders are overlays, run in earnest: their rows are those of copies."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.commands import tracegrade
from tests.harness.overlays import as_nobody, mounts, ran, refused, why_not
from tests.harness.parts.http.bank import bank_beside
from tests.harness.trial.agents import WROTE, HarnessRun, living, made
from tests.slow import slow_after
from tests.waiting import wait_until

from tracegrade_harness.sandbox.bwrap import Bubblewrap

MOVER = """
import http.client, json, os, shutil, sys, time

bank = http.client.HTTPConnection(os.environ["BANK_URL"].removeprefix("http://"))


def ask():
    bank.request("GET", "/credits")
    bank.getresponse().read()


with open("journal.jsonl", "w") as journal:
    entry = {"object": "files:data/b", "undo": {"restore": "data/b"}, "done": False}
    journal.write(json.dumps(entry) + "\\n")
    back = {"object": "files:data/notes", "undo": {"restore": "data/notes"}, "done": False}
    journal.write(json.dumps(back) + "\\n")
ask()
with open("data/notes", "a") as notes:
    notes.write(" And bread.")
ask()
os.remove("data/b")
os.rename("data/c", "data/moved")
os.mkdir("data/made")
open("data/made/new", "x").close()
shutil.move("data/folder", "data/elsewhere")
if sys.argv[1] == "waits":
    open("data/hanging", "x").close()
    while not os.path.exists(sys.argv[2] + "/go"):
        time.sleep(0.02)
ask()
open("data/a", "x").close()
ask()
"""
"""It writes in place, deletes, renames, and makes and moves folders; it has no packages."""

KEPT = ("task_id", "trial", "kill_point", "status", "reason", "success", "boundary", "immediate")
ALSO = ("after_recovery", "exit_code", "verifiers", "leftovers", "changed", "notes")
READS = "open('data/made/new'), open('data/moved')"
CHECKS = [WROTE, {"command": ["{python}", "-S", "-c", READS]}]
MOVES: dict[str, dict[str, Any]] = {
    "moves": {"trials": 2, "kill": {"points": ["late"]}},
}
WAITS: dict[str, dict[str, Any]] = {"waits": {"limits": {"wall_secs": 3600}}}


@pytest.fixture(scope="module", autouse=True)
def _overlays() -> None:
    """Overlays can be mounted here, or the tests are skipped."""
    if reason := why_not():
        pytest.skip(reason)


@pytest.fixture
def tmp_place() -> Iterator[Path]:
    """A folder that can be given to another user."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def suite_in(folder: Path, cases: Mapping[str, Mapping[str, Any]], *, overlay: bool) -> HarnessRun:
    """Write a suite with a folder of files, and a service at whose calls agents are killed."""
    suite = made(folder, {})
    (folder / "fixtures/folder").mkdir()
    for name in ("b", "c", "folder/d"):
        (folder / "fixtures" / name).write_text(name)
    (folder / "mover.py").write_text(MOVER)
    content = yaml.safe_load(suite.suite.read_text())
    content["agents"]["worker"] = {
        "command": ["{python}", "-S", "{suite}/mover.py", "{task}", "{suite}"],
        "channels": ["http"],
        "records": [{"journal": "journal.jsonl"}],
        "recover": ["rm", "-rf", "data/moved"],
    }
    content["environments"]["notes"]["http"] = {"bank": bank_beside(folder)}
    content["environments"]["notes"]["files"]["data"]["overlay"] = overlay
    common = {"environment": "notes", "agent": "worker", "verify": CHECKS}
    content["cases"] = {name: {**common, **case} for name, case in cases.items()}
    suite.suite.write_text(yaml.safe_dump(content, sort_keys=False))
    return suite


def add_copied(content: dict[str, Any]) -> None:
    """Add a case `copied` whose folder is a copy."""
    plain = content["environments"]["notes"]
    files = {"data": {**plain["files"]["data"], "overlay": False}}
    content["environments"]["copied"] = {"files": files, "http": plain["http"]}
    case = {"environment": "copied", "agent": "worker", "verify": CHECKS}
    content["cases"]["copied"] = case


def command(suite: HarnessRun, *options: object) -> list[str]:
    """Return the command that runs a suite in a process of its own."""
    return [sys.executable, "-m", "tracegrade", *suite.command(*options)]


def facts(suite: HarnessRun) -> list[dict[str, Any]]:
    """Return the rows, without what differs from run to run."""
    return [{key: row[key] for key in (*KEPT, *ALSO)} for row in suite.rows]


@pytest.fixture(scope="module")
def of_copies(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The rows of a suite whose folder is a copy."""
    suite = suite_in(tmp_path_factory.mktemp("copies"), MOVES, overlay=False)
    ended = suite.run("--sandbox", "none", "--yes-as-root").ended
    assert ended is not None
    assert ended.returncode == 0, ended.stderr
    return facts(suite)


@pytest.mark.parametrize("user", slow_after(1, ["as one without rights", "as this user"]))
@pytest.mark.parametrize("sandbox", slow_after(1, ["none", "bwrap"]))
def test_the_rows_of_overlays_are_those_of_copies(
    of_copies: list[dict[str, Any]], tmp_path: Path, tmp_place: Path, sandbox: str, user: str
) -> None:
    """Two trials at a time, one kill, with a journal and a recovery; no mount is left.

    One of the folders in which Python looks for packages may be closed to the user.
    """
    if sandbox == "bwrap" and (reason := Bubblewrap().why_not()):
        pytest.skip(reason)
    suite = suite_in(tmp_place, MOVES, overlay=True)
    words = command(suite, "--sandbox", sandbox, "--jobs", 2)
    if user == "as one without rights":
        words = as_nobody(tmp_place, words)
    before = mounts(tmp_place)
    closed = tmp_path / "closed"
    (closed / "packages").mkdir(parents=True)
    closed.chmod(0)

    ended = ran(words, closed / "packages")

    assert ended.returncode == 0, ended.stderr
    assert facts(suite) == of_copies
    assert mounts(tmp_place) == before
    assert [*suite.home.glob("runs/*/trials/*")] == []


def test_what_copies_show_is_what_the_agent_did(of_copies: list[dict[str, Any]]) -> None:
    """So the rows of overlays are not alike for want of anything in them."""
    undisturbed, late = (
        next(row for row in of_copies if row["kill_point"] == kill_point)
        for kill_point in (None, "late")
    )

    assert undisturbed["success"] is True
    assert json.loads(undisturbed["changed"]) == {
        "added": [f"files:data/{name}" for name in ("a", "elsewhere/d", "made/new", "moved")],
        "changed": ["files:data/notes"],
        "removed": [f"files:data/{name}" for name in ("b", "c", "folder/", "folder/d")],
    }
    left = {each["object"]: each for each in json.loads(late["leftovers"])}
    named = [name for name, each in left.items() if each["named_by"] and "data" in name]
    assert named == ["files:data/b", "files:data/notes"]
    assert "files:data/moved" not in left  # by the recovery command


@contextmanager
def waiting(suite: HarnessRun) -> Iterator[subprocess.Popen[bytes]]:
    """Start the suite, and give its process once its agent waits, seen in the upper layer."""
    with subprocess.Popen(
        command(suite, "--sandbox", "none", "--yes-as-root"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as harness:
        try:
            wait_until(lambda: list(suite.home.glob("runs/*/trials/*/work/data/upper/hanging")))
            yield harness
        finally:
            harness.kill()


@pytest.mark.slow
def test_a_harness_that_is_killed_leaves_nothing_mounted_and_goes_on(tmp_path: Path) -> None:
    """What is left of its trial is a layer, of no use without the mount: it is begun anew."""
    suite = suite_in(tmp_path, WAITS, overlay=True)
    before = mounts(tmp_path)
    with waiting(suite) as harness:
        os.kill(harness.pid, signal.SIGKILL)
    wait_until(lambda: not living(suite))
    (left,) = suite.home.glob("runs/*/trials/*/work/data")
    assert sorted(os.listdir(left)) == ["upper", "work"]
    (tmp_path / "go").touch()
    (run,) = (suite.home / "runs").iterdir()

    ended = ran(command(suite, "--sandbox", "none", "--yes-as-root", "--resume", run.name))

    assert ended.returncode == 0, ended.stderr
    assert [(row["status"], row["success"]) for row in suite.rows] == [("done", True)]
    assert not left.exists()
    assert mounts(tmp_path) == before


@pytest.mark.slow
def test_clean_removes_the_layers_that_a_killed_harness_left(tmp_path: Path) -> None:
    """Also what the kernel itself keeps in them; nothing stays mounted."""
    suite = suite_in(tmp_path, WAITS, overlay=True)
    before = mounts(tmp_path)
    with waiting(suite) as harness:
        os.kill(harness.pid, signal.SIGKILL)
    wait_until(lambda: not living(suite))
    assert mounts(tmp_path) == before

    ended = tracegrade("harness", "clean", "--folder", suite.home)

    assert ended.returncode == 0, ended.stderr
    assert [*suite.home.glob("runs/*/trials")] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["run", "check", "record"])
def test_cases_that_need_an_overlay_are_told_where_there_is_none(
    tmp_path: Path, name: str
) -> None:
    """By one line, with the reason and the way out; nothing is run."""
    suite = suite_in(tmp_path, MOVES, overlay=True)
    content = yaml.safe_load(suite.suite.read_text())
    if name == "record":
        content["environments"]["notes"]["taped_tools"] = ["search"]
    add_copied(content)
    suite.suite.write_text(yaml.safe_dump(content))
    lake = ("--lake", str(suite.lake)) if name == "run" else ()
    words = ("harness", name, str(suite.suite), *lake, "--folder", str(suite.home))

    ended = refused([sys.executable, "-m", "tracegrade", *words])

    assert ended.returncode == 3
    assert ended.stderr.splitlines()[-1] == (
        "tracegrade: cannot run moves here: no mount namespace: Operation not "
        "permitted (the superuser here may lack CAP_SYS_ADMIN); write 'overlay: false' for a copy"
    )
    assert [*suite.home.glob("runs/*")] == []


@pytest.mark.slow
def test_a_case_that_needs_no_overlay_is_run_where_there_is_none(tmp_path: Path) -> None:
    """`--case` leaves out those that cannot be."""
    suite = suite_in(tmp_path, MOVES, overlay=True)
    content = yaml.safe_load(suite.suite.read_text())
    add_copied(content)
    suite.suite.write_text(yaml.safe_dump(content))

    ended = refused(command(suite, "--case", "copied", "--sandbox", "none", "--yes-as-root"))

    assert ended.returncode == 0, ended.stderr


@pytest.mark.slow
def test_a_file_system_that_takes_no_overlay_is_told(tmp_path: Path) -> None:
    """Here it is an overlay itself, as the folders of containers often are."""
    suite = suite_in(tmp_path, MOVES, overlay=True)
    within = tmp_path / "within"
    program = (
        "import sys; from pathlib import Path; "
        "from tracegrade_harness.parts.servers import namespace; namespace.enter(); "
        "from tracegrade_harness.parts.overlay import Overlay; "
        "kept = Overlay(*map(Path, sys.argv[1:3])); "
        "from tracegrade.cli import main; main(sys.argv[3:])"
    )
    words = ("harness", "check", suite.suite, "--folder", within / "home")
    lower = tmp_path / "fixtures"

    ended = ran([sys.executable, "-c", program, *map(str, (lower, within, *words))])

    assert ended.returncode == 3, ended.stdout
    assert "cannot run moves here: no overlay in '" in ended.stderr
    assert ended.stderr.endswith("; write 'overlay: false' for a copy\n")


@pytest.mark.slow
def test_a_shell_is_in_an_overlay(tmp_path: Path) -> None:
    """It reports the changes in it."""
    suite = suite_in(tmp_path, MOVES, overlay=True)
    shell = tmp_path / "shell"
    shell.write_text("#!/bin/sh\ntouch data/new\nrm data/b\n")
    shell.chmod(0o755)
    words = ("harness", "shell", str(suite.suite), "moves", "--sandbox", "none", "--yes-as-root")

    ended = ran(["env", f"SHELL={shell}", sys.executable, "-m", "tracegrade", *words])

    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "added: files:data/new\nremoved: files:data/b\n"
