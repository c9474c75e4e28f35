"""The parent process of everything that an agent starts: a program of its own.

It receives the program on a socket, reports there how the program ended, and ends everything when
the socket closes. So an agent never outlives a killed harness. On Linux, processes whose parent
has ended become its children, daemons too. With `alone`, it is the first process of a PID
namespace, which the kernel empties when it ends. Otherwise it kills the processes one by one. On
other systems than Linux, it does not find a process whose parent has ended.

In a network of its own, it listens on the requested ports and hands out the listeners.

The kernel limits what one process uses. The supervisor repeatedly counts what all use together,
ends a tree that has grown too large, and reports it. It does not count processes on other systems
than Linux, open files that are deleted, or folders that cannot be read.

Its arguments are the socket's file descriptor, and `alone` or psutil's folder.
"""

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import socket
import stat
import subprocess
import sys
import time

SWEEP_SECS = 10.0
COUNT_SECS = 0.05
"""Seconds between two counts of processes; a fork bomb starts some hundreds in that time."""
CROWDED = 0.9
"""Share of the allowed processes and threads; above it, a tree counts as almost at its limit."""
DISK_SHARE = 20
"""At most one part in this many of the time is spent on reading folders."""
MIB = 1024**2
KILLED = (-signal.SIGKILL, 128 + signal.SIGKILL)
"""Exit codes of a killed program, and of a shell that waited for one."""
SURVIVORS = 3
"""Exit code if some processes could not be ended."""
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 1, 4, 36
_PR_SET_SECCOMP, _MODE_FILTER, _PR_CAP_AMBIENT, _CLEAR_ALL = 22, 2, 47, 4
_CAPABILITY_VERSION = 0x20080522
_LANDLOCK_CREATE_RULESET, _LANDLOCK_RESTRICT_SELF = 444, 446
_ABSTRACT_UNIX_SOCKETS = 1


def main() -> int:
    """Run the program that the socket names, until the socket is closed."""
    control = socket.socket(fileno=int(sys.argv[1]))
    woken = _wake_by_children()
    if _is_alone():
        _set_option(
            _PR_SET_PDEATHSIG, signal.SIGKILL
        )  # the process that holds the namespace open has ended
    _set_option(_PR_SET_CHILD_SUBREAPER, 1)
    _set_option(_PR_SET_DUMPABLE, 0)  # the agent must not trace it
    with control.makefile() as lines:
        request = json.loads(lines.readline() or "null")
    if request is None:
        return 0
    try:
        listeners = [_listener(port) for port in request["ports"]]
        usage = _Usage(request)
        agent = _start(request, usage)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        _tell(control, {"failed": str(error)})
        return 0
    _tell(control, {"started": agent.pid}, listeners)
    _watch(control, woken, agent.pid, usage)
    return 0 if _is_alone() or _sweep() else SURVIVORS


def _wake_by_children() -> socket.socket:
    """Return a socket that becomes readable whenever a child ends."""
    woken, waking = socket.socketpair()
    waking.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waking.detach(), warn_on_full_buffer=False)
    return woken


def _listener(port: int) -> socket.socket:
    return socket.create_server(("127.0.0.1", port), backlog=128)


def _start(request: dict[str, object], usage: "_Usage") -> "subprocess.Popen[bytes]":
    """Start the program; keep the result, or else the process may be reaped unseen."""
    command, folder, environment = request["command"], request["folder"], request["environment"]
    image = request["image"]
    limits = [(number, value) for number, value in request["limits"]]  # type: ignore[attr-defined]
    limits += usage.file_limit()

    def prepare() -> None:
        _default_signals()
        if _is_alone():
            _leave_abstract_sockets()
        if image is not None:
            _enter_image(image["root"], folder, bytes.fromhex(image["filter"]))  # type: ignore[index]
        _set_option(_PR_SET_PDEATHSIG, signal.SIGKILL)
        for number, value in limits:
            resource.setrlimit(number, (value, value))

    process: subprocess.Popen[bytes] = subprocess.Popen(  # noqa: S603 - what the suite says
        command,  # type: ignore[call-overload]
        cwd=folder if image is None else None,
        env=environment,
        stdin=subprocess.DEVNULL,
        preexec_fn=prepare,  # noqa: PLW1509 - there are no threads here
        start_new_session=True,
    )
    return process


def _enter_image(root: str, folder: object, instructions: bytes) -> None:
    """Make an image the root of this process, and give up the right to do so."""
    os.chroot(root)
    os.chdir(str(folder))
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_CAP_AMBIENT, _CLEAR_ALL, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    if libc.capset(header, (ctypes.c_uint32 * 6)()) != 0:
        msg = "the capabilities of the program cannot be dropped"
        raise OSError(msg)
    steps = ctypes.create_string_buffer(instructions, len(instructions))
    program = _FilterProgram(len(instructions) // 8, ctypes.addressof(steps))
    if libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
        msg = "the program's system calls cannot be filtered"
        raise OSError(msg)


class _FilterProgram(ctypes.Structure):
    """`struct sock_fprog`: number and address of a filter's steps."""

    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))


def _leave_abstract_sockets() -> None:
    """From Linux 6.12 on, forbid connections to others' abstract sockets, by Landlock.

    A network of its own forbids them too, but not the machine's network.
    """
    libc = ctypes.CDLL(None)
    rules = (ctypes.c_uint64 * 3)(0, 0, _ABSTRACT_UNIX_SOCKETS)  # no rules on files and ports
    ruleset = libc.syscall(_LANDLOCK_CREATE_RULESET, rules, ctypes.sizeof(rules), 0)
    if ruleset >= 0:
        libc.syscall(_LANDLOCK_RESTRICT_SELF, ruleset, 0)
        os.close(ruleset)


def _default_signals() -> None:
    """Ignore and block no signal, since shells make background programs ignore some."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _watch(control: socket.socket, woken: socket.socket, agent: int, usage: "_Usage") -> None:
    """Reap ended processes, and report the agent's end; return when the harness wants no more."""
    wait_secs = usage.every_secs
    lives = True
    while True:
        for pid, status in _bury():
            if lives and pid == agent:
                _tell_end(control, os.waitstatus_to_exitcode(status), usage)
                lives = False
        ready, _, _ = select.select([control, woken], [], [], wait_secs)
        if woken in ready:
            woken.recv(4096)
        if control in ready:
            return
        if wait_secs is not None and (excess := usage.excess()):
            _tell(control, {"limit": excess})
            _end_all()
            if lives:
                _tell(control, {"ended": -signal.SIGKILL})
            wait_secs, lives = None, False


def _tell_end(control: socket.socket, code: int, usage: "_Usage") -> None:
    """Report how the agent ended, and whether the kernel's limits made it fail."""
    if code and (excess := usage.refused() or usage.starved(code)):
        _tell(control, {"limit": excess})
    _tell(control, {"ended": code, "crowded": usage.is_crowded()})


def _bury() -> list[tuple[int, int]]:
    """Return (pid, status) of ended children."""
    buried = []
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            buried.append(ended)
    return buried


class _Usage:
    """The limits on a whole tree, and the times at which they are checked."""

    def __init__(self, request: dict[str, object]) -> None:
        self._processes: int | None = request.get("processes")  # type: ignore[assignment]
        self._bytes: int | None = request.get("disk_bytes")  # type: ignore[assignment]
        self._folders: list[str] = request["counted"]  # type: ignore[assignment]
        self._before, self._largest = (0, 0) if self._bytes is None else _disk_use(self._folders)
        self._count_at = self._disk_at = 0.0
        self._starved = _starved()
        self._given_out = _last_number()
        self._tasks = self._most_tasks = 0
        counted = (self._processes, self._bytes) != (None, None)
        self.every_secs = COUNT_SECS if counted else None

    def file_limit(self) -> list[tuple[int, int]]:
        """Return the kernel's limit on one file: the largest earlier size plus the allowance."""
        if self._bytes is None:
            return []
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        requested = self._bytes + self._largest
        return [(resource.RLIMIT_FSIZE, requested if hard < 0 else min(requested, hard))]

    def refused(self) -> str | None:
        """Return which limit on files the kernel enforced; None if none.

        A file that is as large as its limit was cut there.
        """
        if self._bytes is None:
            return None
        ((_, most),) = self.file_limit()
        _, largest = _disk_use(self._folders)
        return f"disk_mb: more than {self._bytes // MIB}" if largest >= most else None

    def starved(self, code: int) -> str | None:
        """Return that the kernel ended the agent for lack of memory; None if it did not.

        The kernel counts the processes that it ends for that, so a kill by another process does
        not count.
        """
        if code not in KILLED or _starved() == self._starved:
            return None
        return "memory: the kernel ran out of it, and ended the agent"

    def is_crowded(self) -> bool:
        """Return whether almost all allowed processes and threads may have existed."""
        if self._processes is None:
            return False
        self._count()
        return self._most_tasks >= self._processes * CROWDED

    def _count(self) -> None:
        """Count processes and threads.

        The number in between was at most the last count plus all that have started since.
        """
        last_number = _last_number()
        started = last_number - self._given_out
        if started < 0:  # the kernel has started again with low numbers
            started += _numbers()
        self._most_tasks = max(self._most_tasks, self._tasks + started)
        self._given_out = last_number
        self._tasks = _tasks(self._processes or 0)

    def excess(self) -> str | None:
        """Return the exceeded limit; None if there is none, or if it is too early."""
        if self._processes is not None and time.monotonic() >= self._count_at:
            self._count_at = time.monotonic() + COUNT_SECS
            self._count()
            if self._tasks > self._processes:
                return f"processes: more than {self._processes}"
        if self._bytes is not None and time.monotonic() >= self._disk_at:
            started = time.monotonic()
            used, _ = _disk_use(self._folders)
            now = time.monotonic()
            self._disk_at = now + max(COUNT_SECS, (now - started) * DISK_SHARE)
            if used - self._before > self._bytes:
                return f"disk_mb: more than {self._bytes // MIB}"
        return None


def _starved() -> int:
    """Return how many processes the kernel has ended for lack of memory; 0 if unknown."""
    with contextlib.suppress(OSError), open("/proc/vmstat") as lines:
        return sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))
    return 0


def _last_number() -> int:
    """Return the number of the process or thread that was started last; 0 if unknown."""
    with contextlib.suppress(OSError), open("/proc/loadavg") as words:
        return int(words.read().split()[-1])
    return 0


def _numbers() -> int:
    """Return the number of process and thread numbers of the kernel."""
    with contextlib.suppress(OSError), open("/proc/sys/kernel/pid_max") as most:
        return int(most.read())
    return 0


def _tasks(most: int) -> int:
    """Return the number of processes and threads below this one; it may stop above `most`."""
    count, waiting = -1, [str(os.getpid())]
    while waiting and count <= most:
        folder = f"/proc/{waiting.pop()}/task"
        with contextlib.suppress(OSError):
            threads = os.listdir(folder)
            count += len(threads)
            for thread in threads:
                with open(f"{folder}/{thread}/children") as children:
                    waiting += children.read().split()
    return count


def _disk_use(tops: list[str]) -> tuple[int, int]:
    """Return the bytes of folders, and the apparent size of their largest file."""
    used, largest, waiting = 0, 0, [*tops]
    seen = set()
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                info = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(info.st_mode):
                    waiting.append(entry.path)
                elif info.st_nlink > 1:
                    if info.st_ino in seen:
                        continue
                    seen.add(info.st_ino)
                used += info.st_blocks * 512
                largest = max(largest, info.st_size if stat.S_ISREG(info.st_mode) else 0)
    return used, largest


def _end_all() -> None:
    """Kill all processes that this process started, and wait some time for their end."""
    if not _is_alone():
        _sweep()
        return
    deadline = time.monotonic() + SWEEP_SECS
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        os.kill(-1, signal.SIGKILL)  # all processes of the PID namespace at once, except this one
        while time.monotonic() < deadline:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(0.002)


def _is_alone() -> bool:
    return sys.argv[2] == "alone"


def _sweep() -> bool:
    """Kill all descendants; return whether none is left."""
    sys.path.append(sys.argv[2])
    import psutil  # noqa: PLC0415 - after the start, and only where there is no namespace

    deadline = time.monotonic() + SWEEP_SECS
    here = psutil.Process()
    while children := here.children(recursive=True):
        for child in children:
            with contextlib.suppress(psutil.Error, OSError):
                child.kill()
                if (group := os.getpgid(child.pid)) != os.getpgrp():
                    os.killpg(group, signal.SIGKILL)  # at once, before they fork again
        _bury()
        if time.monotonic() > deadline:
            return False
        time.sleep(0.002)
    return True


def _tell(
    control: socket.socket, fact: dict[str, object], listeners: list[socket.socket] | None = None
) -> None:
    """Report a fact, together with listeners, which are closed here."""
    line = json.dumps(fact).encode() + b"\n"
    with contextlib.suppress(OSError):  # it has ended, which `_watch` sees
        if listeners:
            socket.send_fds(control, [line], [each.fileno() for each in listeners])
        else:
            control.sendall(line)
    for each in listeners or []:
        each.close()


def _set_option(option: int, value: int) -> None:
    """Set an option of this process on Linux; do nothing elsewhere."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(main())
