"""Bubblewrap runs an agent in namespaces of its own, which end together.

The agent sees only some files of this machine: the system's programs and libraries, its
interpreter, and files that the suite lets it read. Keys and sockets are hidden. It writes to the
trial's folder and to a `/tmp` of its own. It sees no other processes and has no capabilities. The
kernel refuses system calls that it does not need (`seccomp.py`). Unless it gets the whole network,
it reaches only the services of its trial.
"""

import contextlib
import json
import os
import re
import select
import shutil
import signal
import subprocess
from typing import IO, Final

from tracegrade_harness.errors import SandboxFailed
from tracegrade_harness.parts.servers import namespace
from tracegrade_harness.parts.servers.forwarding import Forwarding
from tracegrade_harness.sandbox import seccomp
from tracegrade_harness.sandbox.confined import NAMESPACES, NO_NETWORK, confined
from tracegrade_harness.sandbox.processes import KILL_SECS, Launch, Running, start_supervised
from tracegrade_harness.sandbox.program import Program

PID_MAX: Final = "/proc/sys/kernel/pid_max"
PID_MAX_OF_NAMESPACES: Final = (6, 14)
"""First Linux version with a limit for each PID namespace."""
RESERVED_PIDS: Final = 350
"""The kernel gives the first 300 numbers out only once, and the sandbox itself needs some."""

_EVERYTHING: Final = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")


class Bubblewrap:
    """Runs a program by `bwrap`."""

    name = "bwrap"

    def why_not(self) -> str | None:
        """Return why `bwrap` cannot be used here; None if it can."""
        return _refused(NO_NETWORK)

    def why_no_image(self) -> str | None:
        """Return why no program can run in an image; None if one can."""
        return _refused(NO_NETWORK, "--unshare-user", "--uid", "1", "--gid", "1")

    def run_on_terminal(self, program: Program) -> int:
        """Run a program on this terminal, in a sandbox of the same kind.

        It keeps the terminal's session, because a shell needs it for job control.
        """
        with confined(program, is_supervised=False) as bound:
            words = [word for word in bound.words if word not in {"--new-session", "--as-pid-1"}]
            there = ("--die-with-parent", "--chdir", program.working_folder, "--")
            return subprocess.run(  # noqa: S603 - what the suite says
                [*words, *there, *program.command],
                env=dict(program.environment),
                pass_fds=bound.fds,
                check=False,
            ).returncode

    def start(self, program: Program) -> Running:
        """Start a program.

        The program ends with this process, because its supervisor sees the end.
        `--die-with-parent` would end it at once, but a `bwrap` that dies during its start leaves a
        child that waits forever. `bwrap` also gets both ends of its information pipe, because a
        pipe without a reader would end it.

        Raises:
            SandboxFailed: It cannot be started.
        """
        info_pipe, telling = os.pipe()
        namespace = _Namespace()
        with open(info_pipe) as info, open(telling, "w") as end, confined(program) as bound:

            def prepare(running: Running) -> None:
                end.close()  # so that nothing waits for a bwrap that failed
                running.holder = _first_process(info)
                _limit_pids(running.holder, program.limits.processes)

            before = [*bound.words, "--info-fd", str(telling), "--"]
            ports = [each.port for each in program.reachable or ()]
            launch = Launch(before, "alone", [telling, info_pipe, *bound.fds], ports, prepare)
            running = start_supervised(program, launch, namespace.end)
        try:
            namespace.open(running, program)
        except OSError as error:
            running.give_up()
            msg = f"the sandbox cannot be held: {error}; see `ulimit -n`"
            raise SandboxFailed(msg) from error
        return running


def _refused(*words: str) -> str | None:
    """Return why `bwrap` cannot be used with some words; None if it can."""
    program = shutil.which("bwrap")
    if program is None:
        return "no program 'bwrap'; install bubblewrap"
    if unfiltered := seccomp.why_not():
        return unfiltered
    probe = subprocess.run(  # noqa: S603
        [program, *NAMESPACES, *words, *_EVERYTHING, "--", "/bin/true"],
        capture_output=True,
        text=True,
        check=False,
    )
    if probe.returncode == 0:
        return None
    reason = probe.stderr.strip() or f"bwrap ended with {probe.returncode}"
    return f"{reason} (are user namespaces forbidden? see {namespace.FORBID})"


def _first_process(info: IO[str]) -> int:
    """Return the first process of the sandbox, from bwrap's report.

    Raises:
        SandboxFailed: There is no report.
    """
    try:
        return int(json.load(info)["child-pid"])
    except (ValueError, LookupError) as error:
        msg = f"bwrap does not report its namespace: {error!r}; update bubblewrap"
        raise SandboxFailed(msg) from error


def _limit_pids(first: int, processes: int | None) -> None:
    """Limit the process ids of a PID namespace, if the kernel has a limit for each.

    The limit binds at once, and binds the superuser, too. It is coarse, because the kernel gives
    low numbers only once.
    """
    nsenter = shutil.which("nsenter")
    if processes is None or nsenter is None or os.getuid() != 0 or not has_pid_max():
        return
    most = processes + RESERVED_PIDS
    subprocess.run(  # noqa: S603
        [nsenter, f"--pid=/proc/{first}/ns/pid", "sh", "-c", f"echo {most} > {PID_MAX}"],
        capture_output=True,
        check=False,
    )


def has_pid_max() -> bool:
    """Return whether each PID namespace has its own limit; otherwise the machine has one."""
    major, minor, *_ = (*map(int, re.findall(r"\d+", os.uname().release)), 0, 0)
    return (major, minor) >= PID_MAX_OF_NAMESPACES


class _Namespace:
    """The first process of a PID namespace; when it ends, the kernel ends all others."""

    def __init__(self) -> None:
        self._first: int | None = None
        self._forwarding: Forwarding | None = None

    def open(self, running: Running, program: Program) -> None:
        """Open a descriptor of the process, so that its number stays its own; open its ports."""
        with contextlib.suppress(ProcessLookupError):
            self._first = os.pidfd_open(running.holder)
        if program.reachable:
            self._forwarding = Forwarding(running.listeners, program.reachable)

    def end(self, running: Running) -> None:
        """Kill it, and wait for it."""
        try:
            if self._first is not None:
                self._kill(self._first)
        finally:
            running.outer.kill()
            running.outer.wait()
            if self._forwarding is not None:
                self._forwarding.close()

    def _kill(self, first: int) -> None:
        try:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(first, signal.SIGKILL)
            if not select.select([first], [], [], KILL_SECS)[0]:
                msg = f"processes of the sandbox live {KILL_SECS} s after their end; see `ps`"
                raise SandboxFailed(msg)
        finally:
            os.close(first)
