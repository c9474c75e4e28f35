"""What a process that is killed while it starts a program leaves behind."""

import subprocess
import sys
from pathlib import Path

import psutil
from tests.harness.trial.agents import of
from tests.waiting import wait_until

from tracegrade_harness.sandbox.choice import Sandbox

ATTEMPTS = 40
LATEST_SECS = 0.04
"""Some starts are over by then, others have hardly begun."""
STARTER = """
import os, signal, sys, time
from pathlib import Path
from tracegrade_harness.sandbox.choice import SANDBOXES
from tracegrade_harness.sandbox.program import Program

name, root = sys.argv[1], Path(sys.argv[2])
attempts, latest_secs = int(sys.argv[3]), float(sys.argv[4])
sandbox = next(each for each in SANDBOXES if each.name == name)
told = Program(["sleep", "3600"], root, root, {"PATH": os.defpath}, root / "log", root / "log")
for attempt in range(attempts):
    child = os.fork()
    if child == 0:
        sandbox.start(told).wait()
        os._exit(1)
    time.sleep(latest_secs * attempt / attempts)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
"""


def test_nothing_is_left_of_a_program_whose_starter_is_killed(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    """At every moment of the start."""
    arguments = [sandbox.name, tmp_path, ATTEMPTS, LATEST_SECS]

    subprocess.run([sys.executable, "-c", STARTER, *map(str, arguments)], check=True)

    wait_until(lambda: not [each for each in psutil.process_iter() if str(tmp_path) in of(each)])
