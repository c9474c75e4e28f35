"""Bubblewrap: the agent in namespaces of its own, which fall as one.

It sees this machine's files, and writes only to the trial's folder and to a `/tmp` of its own. It
sees no other processes and no sockets of services, and has no capabilities. Not yet kept from it:
the network, which it shares so that it finds the collector, and files that this user may read,
keys in home folders included.
"""

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

from tracegrade_harness.errors import SandboxFailed
from tracegrade_harness.sandbox.processes import (
    KILL_SECS,
    SUPERVISOR,
    Launch,
    Running,
    start_supervised,
)
from tracegrade_harness.sandbox.program import Program

HIDDEN: Final = (Path("/tmp"), Path("/run"))  # noqa: S108
"""Of which an agent has its own: others' files, and sockets of services, Docker's for one."""

NAMESPACES: Final = (
    *("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--die-with-parent", "--new-session", "--cap-drop", "ALL"),
    *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
    *(argument for folder in HIDDEN for argument in ("--tmpfs", str(folder))),
)
KERNEL: Final = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus")
"""Switches of the kernel, which the superuser turns even without capabilities."""
RESOLVER: Final = "/etc/resolv.conf"
"""Often a link to a file in `/run`."""


class Bubblewrap:
    """Runs a program by `bwrap`."""

    name = "bwrap"

    def why_not(self) -> str | None:
        """Return why `bwrap` cannot be used here; None if it can."""
        program = shutil.which("bwrap")
        if program is None:
            return "no program 'bwrap'; install bubblewrap"
        tried = subprocess.run(  # noqa: S603
            [program, *NAMESPACES, "--", "/bin/true"], capture_output=True, text=True, check=False
        )
        return None if tried.returncode == 0 else tried.stderr.strip() or "bwrap failed silently"

    def start(self, program: Program) -> Running:
        """Start a program.

        Raises:
            SandboxFailed: It cannot be started.
        """
        told, telling = os.pipe()
        namespace = _Namespace()
        with open(told) as info:
            try:
                before = [*_command(program), "--info-fd", str(telling), "--"]
                launch = Launch(before, "alone", [telling])
                running = start_supervised(program, launch, namespace.end)
            finally:
                os.close(telling)
            try:
                running.holder = json.load(info)["child-pid"]
                namespace.open(running)
            except (ValueError, LookupError, OSError) as error:
                running.give_up()
                msg = f"bwrap says nothing of its namespace: {error!r}; update bubblewrap"
                raise SandboxFailed(msg) from error
        return running


def _command(program: Program) -> list[str]:
    binds: list[str] = []
    for path in (*KERNEL, os.path.realpath(RESOLVER)):
        binds += ["--ro-bind-try", path, path]
    interpreter = (Path(sys.prefix), Path(sys.base_prefix))
    for shown in filter(_is_hidden, (SUPERVISOR, *interpreter, *program.visible)):
        binds += ["--ro-bind", str(shown), str(shown)]
    root = str(program.root.resolve())
    return [
        shutil.which("bwrap") or "bwrap",
        *NAMESPACES,
        "--as-pid-1",
        *binds,
        *("--bind", root, root, "--chdir", "/"),
    ]


def _is_hidden(path: Path) -> bool:
    """Return whether a path stands in a folder of which the agent has its own."""
    return any(folder in path.resolve().parents for folder in HIDDEN)


class _Namespace:
    """The first process of a PID namespace: when it has ended, none of the others is left."""

    def __init__(self) -> None:
        self._first: int | None = None

    def open(self, running: Running) -> None:
        """Hold the process, so that its number cannot come to mean another."""
        with contextlib.suppress(ProcessLookupError):
            self._first = os.pidfd_open(running.holder)

    def end(self, running: Running) -> None:
        """Kill it, and wait for it."""
        try:
            if self._first is not None:
                self._kill(self._first)
        finally:
            running.outer.kill()
            running.outer.wait()

    def _kill(self, first: int) -> None:
        try:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(first, signal.SIGKILL)
            if not select.select([first], [], [], KILL_SECS)[0]:
                msg = f"processes of the sandbox live {KILL_SECS} s after their end; see `ps`"
                raise SandboxFailed(msg)
        finally:
            os.close(first)
