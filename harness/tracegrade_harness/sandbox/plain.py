"""No sandbox: the agent runs as the harness does, and only its end is certain.

On Linux, all processes that it starts stay below its supervisor, daemons too, and are killed with
it. On other systems, a process whose parent has ended stays alive unseen. A hostile agent can kill
the supervisor; then the trial is an error.
"""

import contextlib
import socket
import subprocess
from pathlib import Path
from typing import Final

import psutil

from tracegrade_harness.errors import SandboxFailed
from tracegrade_harness.sandbox.processes import KILL_SECS, Launch, Running, start_supervised
from tracegrade_harness.sandbox.program import Program

PSUTIL_FOLDER: Final = Path(psutil.__file__).parents[1]


class Plain:
    """Runs a program without a sandbox."""

    name = "none"

    def why_not(self) -> str | None:
        """Return None, because it can be used anywhere."""
        return None

    def run_on_terminal(self, program: Program) -> int:
        """Run the program on this terminal, and return its exit code."""
        return subprocess.run(  # noqa: S603 - what the suite says
            program.command, cwd=program.folder, env=dict(program.environment), check=False
        ).returncode

    def start(self, program: Program) -> Running:
        """Start a program.

        Raises:
            SandboxFailed: It cannot be started, or it needs an image.
        """
        if program.world is not None:
            msg = "a program in an image runs in bubblewrap only; leave out 'sandbox: none'"
            raise SandboxFailed(msg)
        return start_supervised(program, Launch([], str(PSUTIL_FOLDER), []), _end_all)


def _end_all(running: Running) -> None:
    """Kill all processes seen now, and let the supervisor kill those that start later.

    Each process is stopped first, so that none continues long enough to see another one's end.
    """
    seen = running.processes()
    for end in (psutil.Process.suspend, psutil.Process.kill):
        for process in seen:
            with contextlib.suppress(psutil.Error):
                end(process)
    with contextlib.suppress(OSError):
        running.control.shutdown(socket.SHUT_WR)
    try:
        code = running.outer.wait(KILL_SECS)
    except subprocess.TimeoutExpired:
        code = None
    if code != 0:
        running.outer.kill()
        running.outer.wait()
        msg = f"supervisor {running.outer.pid} ended with {code}; processes of the agent may live"
        raise SandboxFailed(msg)
