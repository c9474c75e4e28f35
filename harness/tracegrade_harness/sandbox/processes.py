"""A started agent and all its processes, held by a supervisor (`supervisor.py`)."""

import contextlib
import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import psutil

from tracegrade_harness.errors import SandboxFailed
from tracegrade_harness.sandbox import seccomp, supervisor, system
from tracegrade_harness.sandbox.ports import listening_ports
from tracegrade_harness.sandbox.program import ProcessLimits, Program

SUPERVISOR: Final = Path(supervisor.__file__).resolve()
START_SECS: Final = 60.0
KILL_SECS: Final = 30.0
GIVE_UP_SECS: Final = 5.0
MAX_COMMAND_CHARS: Final = 200
MAX_FACT_BYTES: Final = 65_536
OTHER_THREADS: Final = 1000
"""Threads that the user may start elsewhere, such as in other trials: the kernel counts all."""
MOST_LISTENERS: Final = 200
"""Most listeners: the kernel passes at most 253 file descriptors with one message."""


class Launch(NamedTuple):
    """The way in which a supervisor is started."""

    before: Sequence[str]
    """The command that starts it, if it is not started directly."""
    mode: str
    """The supervisor's mode, passed next to its socket."""
    fds: Sequence[int]
    """File descriptors for `before`."""
    ports: Sequence[int] = ()
    """Ports that the supervisor listens on, in a network of its own."""
    prepare: Callable[["Running"], None] = lambda _: None
    """Called before the supervisor receives the program."""


class Running:
    """A started program and its processes: a `with` block that kills the rest at its end."""

    def __init__(
        self,
        outer: subprocess.Popen[bytes],
        control: socket.socket,
        end_all: Callable[["Running"], None],
    ) -> None:
        """Take the result of `start_supervised`; `end_all` ends it by force."""
        self.outer = outer
        """The child of this process below which all others live."""
        self.control = control
        self.program = 0
        """The program's process id in its supervisor's namespace."""
        self.holder = outer.pid
        """The process whose descendants are all others of the tree, except `outer`."""
        self.listeners: list[socket.socket] = []
        """Sockets on the ports that its supervisor listens on, in the requested order."""
        self.over_limit: str | None = None
        """The limit on all processes together that ended them, such as `processes: more than 64`.
        """
        self.was_crowded = False
        """Almost all allowed processes and threads may have existed when the program ended by
        itself."""
        self._end_all = end_all
        self._facts = b""
        self._code: int | None = None
        self._killed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.kill()
        finally:
            self.control.close()

    def fileno(self) -> int:
        """Return a descriptor that becomes readable when the program has ended."""
        return self.control.fileno()

    def wait(self, timeout_secs: float | None = None) -> int | None:
        """Return the program's exit code, or minus the signal that ended it.

        Processes that it started may still run: see `leftovers`.

        Returns:
            None if it still runs after `timeout_secs`.

        Raises:
            SandboxFailed: Its supervisor has ended, and not by `kill`.
        """
        while self._code is None and not self._killed:
            fact = self.next_fact(timeout_secs)
            if fact is None:
                break
            self._take(fact)
        return self._code

    def kill(self) -> None:
        """End all processes of the tree; return when none is left. Idempotent.

        Raises:
            SandboxFailed: Some still run, or the supervisor cannot report.
        """
        if self._killed:
            return
        with contextlib.suppress(SandboxFailed):
            while fact := self.next_fact(0):
                self._take(fact)
        self._killed = True
        if self._code is None:
            self._code = -signal.SIGKILL
        self._end_all(self)

    def kill_program(self) -> None:
        """End the program alone, and return after its end; processes that it started stay alive.

        Raises:
            SandboxFailed: It still runs, or its supervisor has ended.
        """
        with contextlib.suppress(psutil.Error):
            for process in psutil.Process(self.holder).children():
                if _inner_id(process) == self.program:
                    process.kill()
        if self.wait(KILL_SECS) is None:
            msg = f"the program lives {KILL_SECS:g} s after its end; see `ps`"
            raise SandboxFailed(msg)

    def give_up(self) -> None:
        """End all processes that were started, if the program itself was not."""
        self._killed = True
        self.control.close()  # which makes its supervisor end
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.outer.wait(GIVE_UP_SECS)
            return
        self.outer.kill()
        self.outer.wait()

    def leftovers(self) -> list[str]:
        """Return what still runs after the program has ended, each name once, sorted.

        Names are `process:` with the command, and `port:tcp/` with the port that one of the
        processes listens on.
        """
        if self._killed:
            return []
        names = {name for process in self.processes() for name in _names_of(process)}
        return sorted(names)

    def processes(self) -> list[psutil.Process]:
        """Return the living processes of the tree, without those of the sandbox itself."""
        try:
            found = psutil.Process(self.holder).children(recursive=True)
        except psutil.Error:
            return []
        return [process for process in found if _is_alive(process)]

    def _take(self, fact: Mapping[str, Any]) -> None:
        self.over_limit = fact.get("limit", self.over_limit)
        self.was_crowded = fact.get("crowded", self.was_crowded)
        if self._code is None:
            self._code = fact.get("ended")

    def next_fact(self, timeout_secs: float | None) -> dict[str, Any] | None:
        """Return the supervisor's next report; None if there is none in time."""
        deadline = None if timeout_secs is None else time.monotonic() + timeout_secs
        while b"\n" not in self._facts:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not select.select([self.control], [], [], left)[0]:
                return None
            self._facts += self._receive()
        line, _, self._facts = self._facts.partition(b"\n")
        fact: dict[str, Any] = json.loads(line)
        return fact

    def _receive(self) -> bytes:
        """Return more bytes of one report; the next report stays readable on `fileno`."""
        try:
            seen = self.control.recv(MAX_FACT_BYTES, socket.MSG_PEEK)
            length = seen.find(b"\n") + 1 or len(seen) or 1
            text, fds, *_ = socket.recv_fds(self.control, length, MOST_LISTENERS)
        except OSError:
            text, fds = b"", []
        self.listeners += [socket.socket(fileno=fd) for fd in fds]
        if not text:
            msg = f"supervisor {self.outer.pid} has ended; see the agent's stderr"
            raise SandboxFailed(msg)
        return text


def start_supervised(
    program: Program, launch: Launch, end_all: Callable[[Running], None]
) -> Running:
    """Start a program under a supervisor of its own.

    Raises:
        SandboxFailed: The program or the supervisor cannot be started.
    """
    control, theirs = socket.socketpair()
    with theirs:
        outer = _start_supervisor(program, launch, theirs.fileno())
    running = Running(outer, control, end_all)
    try:
        launch.prepare(running)
        run_first(running.holder)
        control.sendall(_request(program, launch.ports))
        fact = running.next_fact(START_SECS) or {"failed": f"no sign of it in {START_SECS} s"}
    except (OSError, SandboxFailed):
        fact = {"failed": _last_words(program)}
    if "failed" in fact:
        running.give_up()
        msg = f"program '{program.command[0]}' cannot be started: {fact['failed']}"
        raise SandboxFailed(msg)
    running.program = fact.get("started", 0)
    return running


def run_first(supervisor: int) -> None:
    """Give a supervisor priority, if that is allowed, so that no fork bomb starves it."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            first = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
            os.sched_setscheduler(supervisor, first, os.sched_param(1))


def _start_supervisor(program: Program, launch: Launch, control: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-I", "-S", str(SUPERVISOR), str(control), launch.mode]
    try:
        with program.stdout.open("ab") as stdout, program.stderr.open("ab") as stderr:
            return subprocess.Popen(  # noqa: S603 - what the suite says, held by the supervisor
                [*launch.before, *command],
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                env={},  # the program does not inherit this process's variables
                pass_fds=[control, *launch.fds],
                start_new_session=True,  # Ctrl-C is for the harness, which then decides
            )
    except OSError as error:
        msg = f"supervisor '{command[0]}' cannot be started: {error}; look at the trial's folder"
        raise SandboxFailed(msg) from error


def _request(program: Program, ports: Sequence[int]) -> bytes:
    world = program.world
    image = world and {"root": system.IMAGE, "filter": seccomp.compiled().hex()}
    changes = [] if world is None else [str(world.changes)]
    request = {
        "command": list(program.command),
        "folder": program.working_folder,
        "counted": [str(program.root.resolve()), *changes],
        "image": image,
        "environment": dict(program.environment),
        "limits": resource_limits(program.limits),
        "ports": list(ports),
        "processes": program.limits.processes,
        "disk_bytes": program.limits.disk_bytes,
    }
    return json.dumps(request).encode() + b"\n"


def resource_limits(limits: ProcessLimits) -> list[tuple[int, int]]:
    """Return (resource, limit) for one process, never above this process's own limits."""
    requested = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_AS: limits.memory_bytes,
        resource.RLIMIT_NPROC: _most_threads(limits.processes),
    }
    return [
        (which, _at_most(which, value)) for which, value in requested.items() if value is not None
    ]


def _at_most(which: int, value: int) -> int:
    _, hard = resource.getrlimit(which)
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def _most_threads(processes: int | None) -> int | None:
    """Return the user's thread limit with room for some processes; None for the superuser.

    The kernel lets the superuser have any number of threads. For other users it counts all running
    threads; in a user namespace, it counts all threads in it. The supervisor counts too, so it
    sees one more than the limit before the kernel refuses.
    """
    user = os.getuid()
    if processes is None or user == 0:
        return None
    seen = psutil.process_iter(["uids", "num_threads"])
    return (
        (processes + 2)
        + OTHER_THREADS
        + sum(
            process.info["num_threads"] or 1
            for process in seen
            if process.info["uids"] and process.info["uids"].real == user
        )
    )


def _last_words(program: Program) -> str:
    """Return the end of stderr."""
    with program.stderr.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - 500))
        text = file.read().decode(errors="replace").strip()
    return text or "its supervisor ended without a word"


def _is_alive(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _inner_id(process: psutil.Process) -> int:
    """Return a process's id in its own namespace; 0 if it has ended."""
    if sys.platform != "linux":
        return process.pid
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("NSpid:"):
                return int(line.split()[-1])
    return 0


def _names_of(process: psutil.Process) -> Iterator[str]:
    """Yield the names of a process and of its ports; nothing if it has ended."""
    with contextlib.suppress(psutil.Error):
        words = process.cmdline() or [process.name()]
        command = " ".join([Path(words[0]).name, *words[1:]])
        yield f"process:{_printable(command[:MAX_COMMAND_CHARS])}"
        for port in listening_ports(process):
            yield f"port:tcp/{port}"


def _printable(text: str) -> str:
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)
