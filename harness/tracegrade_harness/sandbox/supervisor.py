"""Runs beside an agent, as the parent of all that it starts: a program of its own.

It is told on a socket what to run, tells there how that ended, and ends everything when the
socket is closed: so an agent never outlives a harness that was killed. On Linux, processes whose
parent has ended become children of this one, daemons too. With `alone`, it is the first process of
a PID namespace, which the kernel empties when it ends; otherwise it kills one by one what is
there. On other systems than Linux, a process whose parent has ended is not found.

In a network of its own it listens on the ports that it is told, and hands the listeners out.

Its arguments are the socket's file descriptor, and `alone` or the folder that psutil stands in.
"""

import contextlib
import ctypes
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time

SWEEP_SECS = 10.0
SURVIVORS = 3
"""Exit code: not all could be ended."""
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 1, 4, 36


def main() -> int:
    """Run the program that the socket tells, until the socket is closed."""
    control = socket.socket(fileno=int(sys.argv[1]))
    alone = sys.argv[2] == "alone"
    woken = _wake_by_children()
    _set_option(_PR_SET_CHILD_SUBREAPER, 1)
    _set_option(_PR_SET_DUMPABLE, 0)  # the agent must not trace it
    with control.makefile() as lines:
        asked = json.loads(lines.readline() or "null")
    if asked is None:
        return 0
    try:
        listeners = [_listener(port) for port in asked["ports"]]
        agent = _start(asked)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        _tell(control, {"failed": str(error)})
        return 0
    _tell(control, {"started": agent.pid}, listeners)
    _watch(control, woken, agent.pid)
    return 0 if alone or _sweep(sys.argv[2]) else SURVIVORS


def _wake_by_children() -> socket.socket:
    """Return a socket that becomes readable whenever a child ends."""
    woken, waking = socket.socketpair()
    waking.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waking.detach(), warn_on_full_buffer=False)
    return woken


def _listener(port: int) -> socket.socket:
    return socket.create_server(("127.0.0.1", port), backlog=128)


def _start(asked: dict[str, object]) -> "subprocess.Popen[bytes]":
    """Start the program; what comes back is to be kept, else it may be buried unseen."""
    command, folder, environment = asked["command"], asked["folder"], asked["environment"]
    limits = [(number, value) for number, value in asked["limits"]]  # type: ignore[attr-defined]

    def prepare() -> None:
        _set_option(_PR_SET_PDEATHSIG, signal.SIGKILL)
        for number, value in limits:
            resource.setrlimit(number, (value, value))

    process: subprocess.Popen[bytes] = subprocess.Popen(  # noqa: S603 - what the suite says
        command,  # type: ignore[call-overload]
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        preexec_fn=prepare,  # noqa: PLW1509 - there are no threads here
        start_new_session=True,
    )
    return process


def _watch(control: socket.socket, woken: socket.socket, agent: int) -> None:
    """Bury what ends, and tell how the agent did; return when the harness has had enough."""
    import select  # noqa: PLC0415

    while True:
        for pid, status in _bury():
            if pid == agent:
                _tell(control, {"ended": os.waitstatus_to_exitcode(status)})
        ready, _, _ = select.select([control, woken], [], [])
        if woken in ready:
            woken.recv(4096)
        if control in ready:
            return


def _bury() -> list[tuple[int, int]]:
    """Return (pid, status) of the children that have ended."""
    buried = []
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            buried.append(ended)
    return buried


def _sweep(psutil_folder: str) -> bool:
    """Kill all descendants; return whether none is left."""
    sys.path.append(psutil_folder)
    import psutil  # noqa: PLC0415 - after the start, and only where there is no namespace

    deadline = time.monotonic() + SWEEP_SECS
    here = psutil.Process()
    while children := here.children(recursive=True):
        for child in children:
            with contextlib.suppress(psutil.Error):
                child.kill()
        _bury()
        if time.monotonic() > deadline:
            return False
        time.sleep(0.002)
    return True


def _tell(
    control: socket.socket, fact: dict[str, object], listeners: list[socket.socket] | None = None
) -> None:
    """Tell a fact; listeners go with it, and are closed here."""
    line = json.dumps(fact).encode() + b"\n"
    with contextlib.suppress(OSError):  # it has ended, which `_watch` sees
        if listeners:
            socket.send_fds(control, [line], [each.fileno() for each in listeners])
        else:
            control.sendall(line)
    for each in listeners or []:
        each.close()


def _set_option(option: int, value: int) -> None:
    """Set what Linux lets a process say about itself; elsewhere, nothing."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(main())
