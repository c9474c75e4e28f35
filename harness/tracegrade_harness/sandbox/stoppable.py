"""A sandbox whose programs another thread can end all at once."""

import contextlib
import threading

import psutil

from tracegrade_harness.errors import SandboxFailed
from tracegrade_harness.sandbox.choice import Sandbox
from tracegrade_harness.sandbox.processes import Running
from tracegrade_harness.sandbox.program import Program


class StoppableSandbox:
    """Starts programs in another sandbox, until it is stopped."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._lock = threading.Lock()
        self._running: list[Running] = []
        self.name = sandbox.name
        self.is_stopped = False

    def why_not(self) -> str | None:
        """Return why it cannot be used on this machine; None if it can."""
        return self._sandbox.why_not()

    def run_on_terminal(self, program: Program) -> int:
        """Run a program on this terminal, and return its exit code."""
        return self._sandbox.run_on_terminal(program)

    def start(self, program: Program) -> Running:
        """Start a program.

        Raises:
            SandboxFailed: It cannot be started, or all was stopped.
        """
        running = self._sandbox.start(program)
        with self._lock:
            self._running = [each for each in self._running if _owns_processes(each)]
            self._running.append(running)
            stopped = self.is_stopped
        if stopped:
            with running:
                msg = f"program '{program.command[0]}' was stopped; run it again"
                raise SandboxFailed(msg)
        return running

    def stop(self) -> None:
        """End the running programs, and start no more; waiting threads see the end."""
        with self._lock:
            self.is_stopped = True
            running, self._running = self._running, []
        for each in filter(_owns_processes, running):
            for process in each.processes():
                with contextlib.suppress(psutil.Error):
                    process.kill()


def _owns_processes(running: Running) -> bool:
    """Return whether its process numbers are still its own, because no thread has reaped it."""
    return running.outer.returncode is None
