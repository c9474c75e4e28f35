"""However the demo ends, none of its processes outlives it."""

import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from tests.queries.traces import land
from tests.scoring.job.lakes import run
from tests.slow import slow_after
from tests.waiting import PATIENCE_SECS, wait_until

from tracegrade_lake import Lake

CHECKOUT = Path(__file__).parents[2]
PROC = Path("/proc")
MARK = "DEMO_TEST_MARK"

pytestmark = pytest.mark.skipif(
    not PROC.is_dir(), reason="finds processes by their environment, which is in /proc"
)


ONE_STAGE = """
import sys
from pathlib import Path

from demo import kills, scores, stages
from demo.__main__ import run_to_the_end


def stage(children, folder, files):
    lake = folder / "lake"
    while True:
        {calls}


sys.exit(run_to_the_end(Path(sys.argv[1]), stage))
"""
"""The demo with one stage, again and again, so that those before it need not be waited for."""
SUPPORT_AGENT = ONE_STAGE.format(
    calls="endpoint = stages.start_collector(children, lake)[1]; "
    "stages.end_support_agent(*stages.start_support_agent(children, endpoint))"
)
HARNESS = ONE_STAGE.format(calls="kills.run_releases(children, lake, folder)")
SCORE = ONE_STAGE.format(calls="scores.score(children, lake)")


def start_demo(folder: Path, mark: str, **environment: str) -> "subprocess.Popen[str]":
    """Start the demo; `mark` stands in the environment of all its processes.

    Agents that the harness runs are given few variables, but their home is below the folder.
    """
    return start(["-m", "demo", "--folder", str(folder / mark)], mark, **environment)


def start(program: list[str], mark: str, **environment: str) -> "subprocess.Popen[str]":
    """Start a program as `start_demo` does."""
    return subprocess.Popen(
        [sys.executable, *program],
        cwd=CHECKOUT,
        env={**os.environ, MARK: mark, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for(demo: "subprocess.Popen[str]", start: str) -> None:
    """Read what the demo prints up to the line that starts so."""
    assert demo.stdout is not None
    for line in demo.stdout:
        if line.startswith(start):
            return
    pytest.fail(f"the demo ended before it printed {start!r}")


def processes_with(mark: str) -> list[str]:
    """Return the command lines of living processes that carry the mark."""
    found = []
    for process in PROC.glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes()
            command = (process / "cmdline").read_bytes()
        except OSError:  # it ended while we looked, or it is not ours
            continue
        if command and mark.encode() in environment:
            found.append(command.replace(b"\0", b" ").decode())
    return found


def wait_until_none_lives(mark: str) -> None:
    """Return once all are gone; a killed process takes a moment for it."""
    wait_until(lambda: not processes_with(mark))


@pytest.mark.parametrize("number", slow_after(1, [signal.SIGINT, signal.SIGTERM]))
def test_interrupted_demo_leaves_nothing_running(number: signal.Signals, tmp_path: Path) -> None:
    """After Ctrl-C it exits with 130; every child and temporary file is gone."""
    mark = uuid.uuid4().hex
    with start_demo(tmp_path, mark, TMPDIR=str(tmp_path)) as demo:
        wait_for(demo, "[1/10]")  # the collector is up
        wait_until(lambda: any("demo.file_agent" in each for each in processes_with(mark)))
        demo.send_signal(number)
        _, errors = demo.communicate(timeout=PATIENCE_SECS)

    assert demo.returncode == 130
    assert "nothing is left running" in errors
    wait_until_none_lives(mark)
    assert not list(tmp_path.glob("tracegrade-*"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "running"),
    [
        (SUPPORT_AGENT, "demo.model_server"),
        (HARNESS, "demo.file_agent"),
        (SCORE, "tracegrade score"),
    ],
    ids=["support agent", "harness", "score"],
)
def test_interrupted_stage_leaves_nothing_running(
    program: str, running: str, tmp_path: Path
) -> None:
    """Nor do servers, agents that the harness runs, and the job that scores."""
    mark = uuid.uuid4().hex
    folder = tmp_path / mark
    land(Lake.create(folder / "lake"), run(1, "look"))
    with start(["-c", program, str(folder)], mark, TMPDIR=str(tmp_path)) as demo:
        wait_until(lambda: any(running in command for command in processes_with(mark)))
        demo.send_signal(signal.SIGINT)
        _, errors = demo.communicate(timeout=PATIENCE_SECS)

    assert demo.returncode == 130
    assert "nothing is left running" in errors
    wait_until_none_lives(mark)
    assert not list(tmp_path.glob("tracegrade-*"))


@pytest.mark.slow
def test_second_interrupt_leaves_nothing_running(tmp_path: Path) -> None:
    """An impatient second signal, however soon it comes, does not cut the clean-up short."""
    mark = uuid.uuid4().hex
    with start_demo(tmp_path, mark) as demo:
        wait_for(demo, "[1/10]")
        demo.send_signal(signal.SIGINT)
        demo.send_signal(signal.SIGTERM)
        demo.communicate(timeout=PATIENCE_SECS)

    assert demo.returncode == 130
    wait_until_none_lives(mark)


@pytest.mark.slow
def test_failed_stage_is_one_line_and_the_logs(tmp_path: Path) -> None:
    """A model server that is not there: the demo says which stage failed and shows why."""
    mark = uuid.uuid4().hex
    nowhere = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_MODEL": "none"}
    folder = tmp_path / mark
    folder.mkdir()
    with start(["-c", SUPPORT_AGENT, str(folder)], mark, **nowhere) as demo:
        _, errors = demo.communicate(timeout=PATIENCE_SECS)

    assert demo.returncode == 1
    assert errors.splitlines()[0] == "demo: support agent failed with exit code 1"
    assert "collector.log" in errors
    wait_until_none_lives(mark)
