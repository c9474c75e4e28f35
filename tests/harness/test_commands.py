"""The commands `harness run` and `harness check`: their options, and what they refuse."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import psutil
import pytest
import yaml
from tests.commands import IGNORES_NONE, IGNORING, tracegrade
from tests.harness.trial import booking
from tests.harness.trial.agents import AGENT, WROTE, HarnessRun, hanging, living, made
from tests.waiting import wait_until

from tracegrade_harness.parts.folders.folders import PREFIX

CASES: dict[str, dict[str, Any]] = {
    "careless": {"kill": {"points": ["late"]}, "verify": [WROTE]},
    "reader": {"verify": [WROTE]},
}
FILES = {"from": "fixtures", "at": "data", "path_env": "DATA"}
HANGS: dict[str, Any] = {"stuck": {"limits": {"wall_secs": 3600}}}
SPOILS = """
import shutil
from pathlib import Path

trials = Path.cwd().parents[1]  # where it cannot come to in a sandbox
shutil.rmtree(trials)
trials.touch()
"""


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> HarnessRun:
    """A suite that was run with most options."""
    suite = made(tmp_path_factory.mktemp("commands"), CASES)
    options = ("--case", "care*", "--trials", 2, "--release", "9", "--kill", "none", "--jobs", 2)
    return suite.run(*options, "--junit", suite.home.with_name("junit.xml"))


@pytest.fixture
def suite(tmp_path: Path) -> HarnessRun:
    """A suite that was not run."""
    return made(tmp_path, CASES)


def test_options_say_which_trials_are_run(tried: HarnessRun) -> None:
    """Cases by pattern, how often, at which release, without kills."""
    keys = ("task_id", "trial", "release", "kill_point")

    assert [tuple(row[key] for key in keys) for row in tried.rows] == [
        ("careless", 1, "9", None),
        ("careless", 2, "9", None),
    ]
    assert tried.ended is not None
    assert tried.ended.returncode == 0


@pytest.mark.slow
def test_a_run_says_first_which_it_is_and_last_what_shows_it(tried: HarnessRun) -> None:
    """The line is a command of a shell, and does what it says."""
    assert tried.ended is not None
    first, *_, last = tried.ended.stdout.splitlines()
    key, _, command = last.partition(": ")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    shown = subprocess.run(
        ["/bin/sh", "-c", command],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )

    assert (first, key) == (f"run: {tried.rows[0]['run']}", "report")
    assert "worker" in shown.stdout


def test_results_are_written_for_ci(tried: HarnessRun) -> None:
    """Each trial is a test case."""
    root = ElementTree.parse(tried.home.with_name("junit.xml")).getroot()  # noqa: S314 - ours

    assert [case.get("name") for case in root] == ["careless trial 1", "careless trial 2"]
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("2", "0", "0")


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--kill", "late,soon", "no kill 'soon'; give some of early, mid, late, or none"),
        ("--case", "x*", "no case is chosen; the suite has careless, reader"),
        ("--agent", "nobody", "no case is chosen; the suite has careless, reader"),
        ("--sandbox", "glass", "no sandbox 'glass'; known: auto, bwrap, none"),
    ],
)
def test_what_does_not_exist_is_refused(
    suite: HarnessRun, option: str, value: str, said: str
) -> None:
    """By one line that says what there is; nothing is run."""
    ended = suite.run(option, value).ended

    assert ended is not None
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[-1] == f"tracegrade: {said}"
    assert not suite.lake.exists()


def test_a_suite_with_errors_is_refused_with_all_of_them(suite: HarnessRun) -> None:
    """Each with its line."""
    text = suite.suite.read_text().replace("from: fixtures", "from: nowhere")
    suite.suite.write_text(text.replace("agent: worker", "agent: x"))

    for command in ("run", "check"):
        lake = ("--lake", suite.lake) if command == "run" else ()
        ended = tracegrade("harness", command, suite.suite, *lake, "--folder", suite.home)
        *found, last = ended.stderr.splitlines()
        assert ended.returncode == 2
        assert all(line.startswith(f"{suite.suite}:") for line in found)
        assert sum("unknown agent 'x'" in line for line in found) == 2
        assert sum("nowhere" in line for line in found) == 1
        assert last.endswith("has 3 errors; correct them")


def test_a_program_that_is_not_installed_is_told_before_anything_is_run(suite: HarnessRun) -> None:
    """Of agents, their recoveries and their servers alike, with the cases that need it."""
    content = yaml.safe_load(suite.suite.read_text())
    content["agents"]["other"] = {"command": ["{python}"], "recover": ["no-such-recovery"]}
    content["cases"]["reader"]["agent"] = "other"
    suite.suite.write_text(yaml.safe_dump(content))

    ended = suite.run().ended

    assert ended is not None
    assert ended.returncode == 3
    assert ended.stderr.splitlines()[-1] == (
        "tracegrade: cannot run reader here: no program 'no-such-recovery'; install it, or "
        "correct the suite"
    )
    assert not suite.lake.exists()


def test_check_restores_environments_and_runs_no_agent(suite: HarnessRun) -> None:
    """It says what it found."""
    options = ("--folder", suite.home, "--idle-secs", 0)

    ended = tracegrade("harness", "check", suite.suite, *options)

    assert ended.returncode == 0, ended.stderr
    assert "sandbox none: can be used\n" in ended.stdout
    assert "environment notes: 2 objects, restored\n" in ended.stdout
    assert ended.stdout.endswith("suite small: 2 cases, no errors\n")


@pytest.mark.slow
def test_a_trial_that_does_not_pass_ends_the_command_with_1(suite: HarnessRun) -> None:
    """It only reads, and its verifier asks for a file."""
    tried = suite.run("--case", "reader")

    assert tried.ended is not None
    assert tried.ended.returncode == 1
    assert "1 of 1 trials did not pass, first: reader trial 1: failed: " in tried.ended.stderr
    assert tried.ended.stdout.splitlines()[-1].startswith("report: tracegrade score ")


def test_a_trial_that_no_score_will_know_of_is_told(suite: HarnessRun) -> None:
    """Its agent ended before it sent a span: it is judged, and no attempt in the lake."""
    suite.suite.parent.joinpath("agent.py").write_text("raise SystemExit(7)")

    ended = suite.run("--case", "reader").ended

    assert ended is not None
    assert ended.returncode == 1
    assert "no run: 1 trial sent no spans and will not be scored; " in ended.stdout
    assert ", its agent ended with 7\n" in ended.stderr


def test_clean_removes_what_killed_harnesses_left_and_nothing_of_a_living_one(
    tmp_path: Path,
) -> None:
    """A living one holds its run, the frozen environments, and the folder of its gate."""
    suite = made(tmp_path, HANGS)
    with hanging(suite) as harness:
        (trial,) = suite.home.glob("runs/*/trials/*")
        sockets = psutil.Process(harness.pid).net_connections("unix")
        (gate,) = {Path(each.laddr).parent for each in sockets if each.laddr.endswith("/gate")}
        there = [trial, gate, suite.home / "frozen"]

        while_alive = tracegrade("harness", "clean", "--folder", suite.home)
        assert [each.exists() for each in there] == [True, True, True]
        os.kill(harness.pid, signal.SIGKILL)
        harness.wait()
    wait_until(lambda: not living(suite))

    after_death = tracegrade("harness", "clean", "--folder", suite.home)

    kept = f"kept: {trial.parent}, since a harness works in it; clean again after its end\n"
    assert kept in while_alive.stdout
    assert (while_alive.returncode, after_death.returncode) == (0, 0)
    assert f"removed: {trial.parent}\n" in after_death.stdout
    assert [each.exists() for each in there] == [False, False, False]


@pytest.mark.slow
def test_what_a_trial_cannot_start_with_is_an_error_of_the_harness(
    suite: HarnessRun, temporary_place: Path
) -> None:
    """The run goes on, says why, and leaves nothing behind; a resumed one tries it again."""
    (suite.home / "runs").mkdir(parents=True)
    suite.suite.parent.joinpath("agent.py").write_text(SPOILS)

    options = ("--trials", 2, "--case", "reader", "--sandbox", "none")
    tried = suite.run(*options)

    assert tried.ended is not None
    assert tried.ended.returncode == 3
    assert [row["status"] for row in tried.rows] == ["invalid", "invalid"]
    assert tried.row("reader", trial=2)["reason"].startswith("folder '")
    assert [*temporary_place.glob(f"{PREFIX}*")] == []

    (run,) = (suite.home / "runs").iterdir()
    (run / "trials").unlink()
    suite.suite.parent.joinpath("agent.py").write_text(AGENT)
    resumed = suite.run(*options, "--resume", run.name)

    assert [row["status"] for row in resumed.rows] == ["done", "done"]
    assert f"`--resume {run.name}` tries them again" in tried.ended.stderr


@pytest.mark.slow
def test_verifiers_ignore_no_signal_whatever_the_harness_ignores(tmp_path: Path) -> None:
    """In the background, or under `nohup`, they end as elsewhere."""
    verifier = {"command": ["{python}", "-S", "-c", IGNORES_NONE]}
    suite = made(tmp_path, {"silent": {"verify": [verifier]}})
    command = [sys.executable, "-m", "tracegrade", *suite.command("--sandbox", "none")]

    subprocess.run([*IGNORING, *command], capture_output=True, check=True)

    assert suite.row("silent")["success"] is True


def test_a_shell_has_what_the_agent_would_have(tmp_path: Path) -> None:
    """Folder, variables and services, and nothing that the suite does not pass."""
    suite = booking.made(tmp_path, {"tidy": {}}, files={"data": FILES})
    shell = tmp_path / "shell"
    shell.write_text(
        "#!/bin/sh\npwd\nenv\ntouch data/new\n"
        '"$PY" -c "import os, urllib.request as u; '
        "print(u.urlopen(os.environ['BANK_URL'] + '/credits').read())\"\n"
    )
    shell.chmod(0o755)
    (tmp_path / "fixtures").mkdir()
    content = yaml.safe_load(suite.suite.read_text())
    content["agents"]["worker"]["environment"] = {"set": {"PY": sys.executable}}
    suite.suite.write_text(yaml.safe_dump(content))

    ended = subprocess.run(
        [
            sys.executable,
            "-m",
            "tracegrade",
            "harness",
            "shell",
            suite.suite,
            "tidy",
            "--yes-as-root",
        ],
        env={**os.environ, "SHELL": str(shell), "API_KEY": "of-the-user"},
        capture_output=True,
        text=True,
        check=True,
    )

    lines = ended.stdout.splitlines()
    folder = Path(lines[0])
    assert folder.name == "work"
    assert f"HOME={folder}" in lines
    assert f"DATA={folder}/data" in lines
    assert "of-the-user" not in ended.stdout
    assert "b'10'" in lines
    assert lines[-1] == "added: files:data/new"
    assert f"agent: {sys.executable} {tmp_path}/agent.py tidy" in ended.stderr.splitlines()
    assert not folder.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="others cannot change the machine")
@pytest.mark.parametrize("words", [("run", "--lake", "lake"), ("kill", "--lake", "lake")])
def test_the_superuser_has_to_agree_to_no_sandbox(
    suite: HarnessRun, words: tuple[str, ...]
) -> None:
    """Before anything is run: agents could set the clock."""
    command, *options = words
    ended = tracegrade("harness", command, suite.suite, *options, "--sandbox", "none")

    assert ended.returncode == 2
    assert "its clock and its name too" in ended.stderr
    assert "give --yes-as-root" in ended.stderr
    assert "[1/" not in ended.stdout
