"""Bubblewrap: the agent in namespaces of its own, which fall as one.

It sees this machine's files, and writes only to the trial's folder and to a `/tmp` of its own;
what it is not to see, other trials for one, is hidden. It
sees no other processes and no sockets of services, and has no capabilities. It reaches the
services that it is given and, unless it is given the whole network, nothing else. What keys are
kept in by custom is hidden; other files that this user may read, it reads.
"""

import contextlib
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Final

from tracegrade_harness.environment import namespace
from tracegrade_harness.environment.forwarding import Forwarding
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
MEMORY_DISK: Final = "/dev/shm"  # noqa: S108

NAMESPACES: Final = (
    *("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--new-session", "--cap-drop", "ALL"),
    *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
)
NO_NETWORK: Final = "--unshare-net"
KEYS: Final = (
    *(".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".config/gcloud", ".config/gh"),
    *(".netrc", ".git-credentials", ".npmrc", ".pypirc", ".pgpass", ".vault-token"),
    *(".config/pip", ".config/git/credentials", ".cargo/credentials.toml", ".bash_history"),
    *(".cache/huggingface/token", ".local/share/keyrings", ".config/rclone", ".databrickscfg"),
)
"""What keys are kept in, in a home folder."""
KERNEL: Final = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus")
"""Switches of the kernel, which the superuser turns even without capabilities."""
PID_MAX: Final = "/proc/sys/kernel/pid_max"
PID_MAX_OF_NAMESPACES: Final = (6, 14)
"""Version of Linux."""
RESERVED_PIDS: Final = 350
"""The kernel gives the first 300 numbers out only once; and some are of what holds the agent."""
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
            [program, *NAMESPACES, NO_NETWORK, "--", "/bin/true"],
            capture_output=True,
            text=True,
            check=False,
        )
        if tried.returncode == 0:
            return None
        said = tried.stderr.strip() or f"bwrap ended with {tried.returncode}"
        return f"{said} (are user namespaces forbidden? see {namespace.FORBID})"

    def on_terminal(self, program: Program) -> list[str]:
        """Return the command that runs a program on this terminal, in a sandbox of the same kind.

        It keeps the terminal's session, without which a shell could not control jobs.
        """
        held = [word for word in _command(program) if word not in {"--new-session", "--as-pid-1"}]
        return [
            *held,
            "--die-with-parent",
            "--chdir",
            str(program.folder.resolve()),
            "--",
            *program.command,
        ]

    def start(self, program: Program) -> Running:
        """Start a program.

        It ends with this process, since its supervisor sees that. `--die-with-parent` would do so
        at once, but a `bwrap` that dies while it begins leaves a child that waits for it forever.
        So it has both ends of what it tells: a pipe that nobody reads would end it, too.

        Raises:
            SandboxFailed: It cannot be started.
        """
        told, telling = os.pipe()
        namespace = _Namespace()
        with open(told) as info, open(telling, "w") as end:

            def prepare(running: Running) -> None:
                end.close()  # so that a bwrap that fails is not waited for
                running.holder = _first_process(info)
                _limit_pids(running.holder, program.limits.processes)

            before = [*_command(program), "--info-fd", str(telling), "--"]
            ports = [each.port for each in program.reachable or ()]
            launch = Launch(before, "alone", [telling, told], ports, prepare)
            running = start_supervised(program, launch, namespace.end)
        try:
            namespace.open(running, program)
        except OSError as error:
            running.give_up()
            msg = f"the sandbox cannot be held: {error}; see `ulimit -n`"
            raise SandboxFailed(msg) from error
        return running


def _first_process(info: IO[str]) -> int:
    """Return the first process of the sandbox, as bwrap tells.

    Raises:
        SandboxFailed: It tells nothing.
    """
    try:
        return int(json.load(info)["child-pid"])
    except (ValueError, LookupError) as error:
        msg = f"bwrap says nothing of its namespace: {error!r}; update bubblewrap"
        raise SandboxFailed(msg) from error


def _limit_pids(first: int, processes: int | None) -> None:
    """Let the kernel give out few process ids in a PID namespace, where it can for each.

    It binds at once and the superuser, too, but is coarse, since low numbers are given only once.
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
    """Return whether each PID namespace has a limit of its own; else it is the machine's."""
    major, minor, *_ = (*map(int, re.findall(r"\d+", os.uname().release)), 0, 0)
    return (major, minor) >= PID_MAX_OF_NAMESPACES


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
        *_own_folders(program),
        *([] if program.reachable is None else [NO_NETWORK]),
        *_without_keys(Path.home()),
        "--as-pid-1",
        *binds,
        *_empty(each.resolve() for each in program.hidden if os.path.isdir(each)),
        *("--bind", root, root, "--chdir", "/"),
    ]


def _own_folders(program: Program) -> list[str]:
    """Return what gives a program folders of its own, in memory; none holds more than its disk."""
    most = program.limits.disk_bytes
    size = [] if most is None else ["--size", str(most)]
    own = [*map(str, _hidden()), MEMORY_DISK]
    return [*(word for path in own for word in (*size, "--tmpfs", path)), "--remount-ro", "/dev"]


def _hidden() -> list[Path]:
    """Return the folders of which an agent has its own: harnesses work in the last one."""
    return [*dict.fromkeys([*HIDDEN, Path(tempfile.gettempdir()).resolve()])]


def _empty(folders: Iterable[Path]) -> list[str]:
    return [word for path in folders for word in ("--tmpfs", str(path))]


def _without_keys(home: Path) -> list[str]:
    """Return what hides the places of keys: empty folders, and files that cannot be read.

    What this user may not see, the program does not see either.
    """
    hiding: list[str] = []
    for path in (home / name for name in KEYS):
        if os.path.isdir(path):
            hiding += _empty([path.resolve()])
        elif os.path.exists(path):
            hiding += ["--ro-bind", "/dev/null", str(path.resolve())]
    return hiding


def _is_hidden(path: Path) -> bool:
    """Return whether a path stands in a folder of which the agent has its own."""
    return any(folder in path.resolve().parents for folder in _hidden())


class _Namespace:
    """The first process of a PID namespace: when it has ended, none of the others is left."""

    def __init__(self) -> None:
        self._first: int | None = None
        self._forwarding: Forwarding | None = None

    def open(self, running: Running, program: Program) -> None:
        """Hold the process, so that its number cannot come to mean another; open its ports."""
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
