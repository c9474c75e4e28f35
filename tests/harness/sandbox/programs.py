"""Programs that are hard to end, and how a test runs them."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tracegrade_harness.parts.part import ServiceAddress
from tracegrade_harness.sandbox.program import ProcessLimits, Program

HOLD = """
import os, socket, subprocess, sys, time
alive = os.open("alive", os.O_WRONLY)  # all that it forks holds the pipe open with it

def ready():
    os.write(alive, b".")

def forever():
    ready()
    while True:
        time.sleep(600)
"""

DAEMON = """
def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            forever()
        os._exit(0)
"""

BOMB = """
import ctypes, os, signal, sys, threading, time
alive = os.open("alive", os.O_WRONLY)
threading.stack_size(65_536)

def process():
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it ends with its parent
        time.sleep(60)
        os._exit(0)

def thread():
    threading.Thread(target=time.sleep, args=[60], daemon=True).start()

def burst(begin):
    for _ in range(300):  # and no more, if the tree is not ended
        begin()
    time.sleep(60)
"""

TREE = (
    HOLD
    + DAEMON
    + """
daemon()
subprocess.Popen(
    [sys.executable, "-c", "import os, time; os.write(%d, b'.'); time.sleep(600)" % alive],
    start_new_session=True, pass_fds=[alive],
)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        forever()
    forever()
forever()
"""
)
TREE_SIZE = 5


class Alive:
    """A pipe that each process of a tree holds open: it ends with the last of them."""

    def __init__(self, folder: Path) -> None:
        """Make the pipe in the folder in which the program starts."""
        os.mkfifo(folder / "alive")
        self._pipe = os.open(folder / "alive", os.O_RDONLY | os.O_NONBLOCK)
        self._ready = 0

    def __enter__(self) -> "Alive":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._pipe)

    def ready(self) -> int:
        """Return how many processes have said that they run."""
        self.is_anyone()
        return self._ready

    def is_anyone(self) -> bool:
        """Return whether a process of the tree lives."""
        try:
            while text := os.read(self._pipe, 100):
                self._ready += len(text)
        except BlockingIOError:
            return True
        return False


def program(
    folder: Path,
    code: str,
    limits: ProcessLimits | None = None,
    visible: Sequence[Path] = (),
    reachable: Sequence[ServiceAddress] | None = None,
) -> Program:
    """Return a program that may write to a folder and starts in it."""
    return Program(
        [sys.executable, "-c", code],
        folder,
        folder,
        {"PATH": os.environ["PATH"], "GREETING": "grüß\n"},
        folder / "stdout",
        folder / "stderr",
        limits or ProcessLimits(),
        visible,
        reachable,
    )
