"""Ways out of the sandbox, each tried by an agent of the real harness; all fail.

The harness is a process of its own, which would not survive a successful escape. Files in the
suite's folder give agents what they need from outside, as if they had guessed it.
"""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tests.commands import Ended
from tests.harness.sandbox.escaping import CONTROLS, ESCAPES, made
from tests.harness.trial.agents import HarnessRun, living
from tests.waiting import wait_until

from tracegrade_harness.sandbox.bwrap import Bubblewrap

KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"
TEXT_OUTSIDE = "The outside."
BY_LIMIT = {"fork_bomb": "processes: more than 100", "many_files": "disk_mb: more than 16"}
FAILED = {"symlink_out", "otlp_grading", *BY_LIMIT}
"""A verifier asks for what they must not get, or a limit ends them."""


class Outside:
    """What stands around the sandbox: listeners, a secret, a key."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.guests: list[str] = []
        self.harness: subprocess.Popen[str] | None = None
        (folder / "temporary").mkdir()
        (folder / "secret").write_text(TEXT_OUTSIDE)
        (folder / "key").write_text(KEY)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Listen on a port and on an abstract socket, and note who comes."""
        name = f"escape-{os.getpid()}-{self.folder.name}"
        with socket.create_server(("127.0.0.1", 0)) as port, socket.socket(socket.AF_UNIX) as unix:
            unix.bind("\0" + name)
            unix.listen()
            (self.folder / "port").write_text(str(port.getsockname()[1]))
            (self.folder / "abstract").write_text(name)
            for server, what in ((port, "port"), (unix, "abstract")):
                threading.Thread(target=self._accept, args=[server, what], daemon=True).start()
            yield
            for server in (port, unix):
                server.shutdown(socket.SHUT_RDWR)

    def _accept(self, server: socket.socket, what: str) -> None:
        while True:
            try:
                server.accept()[0].close()
            except OSError:
                return
            self.guests.append(what)

    def run(self, suite: HarnessRun, *options: object) -> HarnessRun:
        """Run the suite by a harness of its own, which has a key in its environment."""
        variables = {"TMPDIR": str(self.folder / "temporary"), "OPENAI_API_KEY": KEY}
        with subprocess.Popen(
            [sys.executable, "-m", "tracegrade", *suite.command(*options)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env={**os.environ, **variables},
            start_new_session=True,
        ) as self.harness:
            (self.folder / "harness.pid").write_text(str(self.harness.pid))
            meeting = threading.Thread(target=self._introduce, args=[suite.home], daemon=True)
            meeting.start()
            output, errors = self.harness.communicate()
            meeting.join()  # else it writes into a folder that is being removed
        return suite._replace(ended=Ended(self.harness.returncode, output.encode(), errors))

    def _introduce(self, home: Path) -> None:
        """Tell the intruder where its victim's sockets are, and the victim when it is over."""
        self._wait(lambda: list(home.glob("runs/*/trials/victim*/work/data/socket")))
        sockets = [*home.glob("runs/*/trials/victim*/work/data/socket")]
        sockets += self.folder.glob("temporary/*/gate")
        told = self.folder / "told"
        told.write_text(json.dumps([str(path) for path in sockets]))
        told.rename(self.folder / "sockets")
        self._wait(lambda: any('"other_trial"' in text for text in _texts(home, "run.jsonl")))
        (self.folder / "over").touch()

    def _wait(self, condition: Callable[[], Any]) -> None:
        wait_until(lambda: condition() or (self.harness and self.harness.poll() is not None))


def _texts(home: Path, name: str) -> list[str]:
    return [path.read_text() for path in home.glob(f"runs/*/{name}")]


@pytest.fixture(scope="module")
def outside() -> Iterator[Outside]:
    """A place that no sandbox hides by itself, as `/tmp` is."""
    if why := Bubblewrap().why_not():
        pytest.skip(why)
    with TemporaryDirectory(dir="/var/tmp") as name:
        yield Outside(Path(name).resolve())


@pytest.fixture(scope="module")
def tried(outside: Outside) -> HarnessRun:
    """All escapes, two trials at a time; one of them sits in its place until another has ended."""
    suite = made(outside.folder, ESCAPES)
    with outside.listening():
        return outside.run(suite, "--jobs", 2, "--sandbox", "bwrap").score()


def printed(tried: HarnessRun, task_id: str) -> str:
    """Return what an agent printed."""
    (log,) = tried.home.glob(f"runs/*/logs/{task_id}-*-1-agent.log")
    return log.read_text()


def test_the_harness_survives(tried: HarnessRun) -> None:
    """It ends as one does whose trials have failed, and has a result of each."""
    assert tried.ended is not None
    assert tried.ended.returncode == 1, tried.ended.stderr
    assert {row["task_id"] for row in tried.rows} == ESCAPES.keys()
    assert {row["status"] for row in tried.rows} <= {"done", "budget"}


@pytest.mark.parametrize("task_id", sorted(ESCAPES.keys() - FAILED))
def test_an_escape_is_refused(tried: HarnessRun, task_id: str) -> None:
    """The agent itself says that all it tried was."""
    row = tried.row(task_id)

    assert (row["status"], row["exit_code"]) == ("done", 0), printed(tried, task_id)
    assert row["success"], row["verifiers"]


@pytest.mark.parametrize("task_id", sorted(BY_LIMIT))
def test_a_limit_ends_what_would_fill_the_machine(tried: HarnessRun, task_id: str) -> None:
    """That is the agent's failure."""
    row = tried.row(task_id)

    assert (row["status"], row["reason"]) == ("budget", BY_LIMIT[task_id])
    assert row["success"] is False


def test_nothing_outside_was_changed_or_reached(tried: HarnessRun, outside: Outside) -> None:
    """Neither files nor listeners."""
    assert outside.guests == []
    assert (outside.folder / "secret").read_text() == TEXT_OUTSIDE
    escaped = [*Path("/").glob("*/escaped"), *outside.folder.rglob("escaped")]
    assert escaped == []


def test_a_link_leads_the_harness_nowhere(tried: HarnessRun) -> None:
    """What it leads to is neither verified, nor shown, nor undone."""
    rows = [row for row in tried.rows if row["task_id"] == "symlink_out"]

    assert [row["success"] for row in rows] == [False, None]
    assert [row["after_recovery"] for row in rows] == [None, 0]
    assert TEXT_OUTSIDE not in json.dumps(rows, default=str)


def test_an_agent_does_not_grade_itself(tried: HarnessRun) -> None:
    """Its marks are taken out and counted; the verdict is the harness's, and the run counts."""
    row = tried.row("otlp_grading")
    (verdict,) = tried.verdicts(row["trajectory_id"])
    scored = tried.query(
        "SELECT kill_point, success.value AS success, success.source AS source "
        "FROM trajectory_scores JOIN trajectories USING (trajectory_id) "
        f"WHERE trajectory_id = '{row['trajectory_id']}'"
    )

    assert (row["success"], verdict["source"], verdict["value"]) == (False, "harness", 0)
    assert scored == [{"kill_point": None, "success": 0, "source": "verifier"}]
    said = "SELECT task_id FROM trajectories WHERE task_id = 'many_ways' OR kill_point = 'late'"
    assert {each["task_id"] for each in tried.query(said)} == {"many_ways", "symlink_out"}
    notes = " ".join(json.loads(row["notes"]))
    assert "2 x gen_ai.evaluation.result was not the agent's to say" in notes
    assert "1 x tracegrade.kill_point was not the agent's to say" in notes


def test_a_daemon_is_told_and_nothing_lives_on(tried: HarnessRun) -> None:
    """Of any of them."""
    (process,) = json.loads(tried.row("daemon")["changed"])["lives_on"]

    assert "escaped-daemon" in process
    wait_until(lambda: not living(tried))


@pytest.mark.slow
def test_without_a_sandbox_they_do_escape(temporary_place: Path) -> None:
    """So what is refused inside is refused by the sandbox."""
    outside = Outside(temporary_place)
    suite = made(temporary_place, CONTROLS)
    with outside.listening():
        tried = outside.run(suite, "--sandbox", "none")

    said = [(row["status"], row["reason"], row["verifiers"]) for row in tried.rows]
    assert [row["success"] for row in tried.rows] == [False] * len(CONTROLS), said
    assert set(outside.guests) == {"port", "abstract"}


@pytest.mark.slow
def test_a_trusted_command_of_a_verifier_runs_outside(
    bwrap: Bubblewrap, temporary_place: Path
) -> None:
    """So trusting the command means trusting agents' files that it runs."""
    outside = Outside(temporary_place)
    suite = made(temporary_place, {"trap": ESCAPES["trap"]})
    with outside.listening():
        tried = outside.run(suite, "--sandbox", bwrap.name, "--trust")

    assert (tried.row("trap")["status"], tried.row("trap")["success"]) == ("done", False)
    assert outside.guests == ["port"]
