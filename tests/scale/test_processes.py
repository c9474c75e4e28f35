"""Processes make the rows that threads make, and end with the job, however it ends."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest
from tests.slow import slow_after
from tests.waiting import wait_until

from tracegrade_lake import Lake
from tracegrade_lake.crash_points import VARIABLE
from tracegrade_queries.engine.processes import Processes, no_interrupts
from tracegrade_queries.errors import WorkerLost

from .conftest import Made
from .lakes import all_rows, more_comes, score_in

COMMAND = Path(sys.executable).with_name("tracegrade")


@pytest.mark.slow
def test_processes_make_the_rows_of_threads(
    lake: Lake, made: Made, made_later: Made, capfd: pytest.CaptureFixture[str]
) -> None:
    """At first, and after a new run, a late span and a verdict have come; they print nothing."""
    executor = Processes(2)

    assert score_in(lake, 8, executor) == made.told
    assert all_rows(lake) == made.rows
    more_comes(lake)
    assert score_in(lake, 1, executor) == made_later.told
    assert all_rows(lake) == made_later.rows
    assert capfd.readouterr().err == ""


@pytest.mark.slow
def test_a_killed_process_ends_the_job_and_nothing_is_committed(
    lake: Lake, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by the kernel that is out of memory; the next run is right."""
    with monkeypatch.context() as armed:
        armed.setenv(VARIABLE, "file_synced:2")  # of processes that begin now
        with pytest.raises(WorkerLost, match="was killed"):
            score_in(lake, 3, Processes(2))

    assert not any(all_rows(lake).values())
    score_in(lake, 3, Processes(2))
    assert all_rows(lake) == made.rows


@pytest.mark.slow
def test_error_in_one_process_ends_the_others(lake: Lake) -> None:
    """It is raised here, and no process is left over."""
    (lake.root / "steps").touch()
    with pytest.raises(Exception, match="steps"):
        score_in(lake, 8, Processes(2))

    assert children(os.getpid()) == []


@pytest.mark.parametrize(
    ("number", "code"), slow_after(1, [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
)
def test_processes_end_with_the_command(lake: Lake, number: int, code: int) -> None:
    """Ctrl-C reaches all of them at once, however early; a kill only the first.

    Of a process that has not been told its work before the kill, Python prints that nobody did.
    """
    run = subprocess.Popen(
        [COMMAND, "score", "--lake", lake.root, "--engine", "processes", "--slots", "2"],
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    awaited = children if number == signal.SIGINT else children_at_work
    wait_until(lambda: awaited(run.pid))
    workers = children(run.pid)
    os.killpg(run.pid, number) if number == signal.SIGINT else run.kill()
    _, stderr = run.communicate()

    assert run.returncode == code
    assert "Traceback" not in stderr
    wait_until(lambda: not any(worker.is_running() for worker in workers))


def test_processes_are_told_their_work_before_ctrl_c_is_heeded() -> None:
    """Whichever thread takes the signal; else one would end with a traceback."""
    over, told = threading.Event(), threading.Event()
    other = threading.Thread(target=over.wait)
    other.start()

    def begin() -> None:
        with no_interrupts():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.1)
            told.set()

    with pytest.raises(KeyboardInterrupt):
        begin()
    over.set()
    other.join()

    assert told.is_set()


def children(pid: int) -> list[psutil.Process]:
    """Return the Python processes that another one has started to work on buckets."""
    return [
        child
        for child in psutil.Process(pid).children()
        if "spawn_main" in " ".join(child.cmdline())
    ]


def children_at_work(pid: int) -> list[psutil.Process]:
    """Return those once each of them watches the other one, which is what they are told first."""
    found = children(pid)
    return found if all(child.num_threads() > 1 for child in found) else []
