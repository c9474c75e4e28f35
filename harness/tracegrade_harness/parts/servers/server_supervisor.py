"""The parent process of a server of the harness; it ends the server with the harness.

It reads the command and the folder on stdin, in a line of JSON. It reports on stdout that the
server has started, and that it has ended. `stop` on stdin lets the server end in good order. When
stdin closes, after any kind of end of the harness, it ends the server and removes its folder. On
Linux it also ends processes that the server left: a `bwrap` that is killed during its start leaves
a child that would wait forever. If the supervisor itself is killed, the server ends on Linux, too;
its folder then waits for `harness clean`.
"""

import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from typing import Any

END_SECS = 5.0
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def main() -> int:
    """Run one server until stdin is closed."""
    setup = json.loads(sys.stdin.readline() or "null")
    if setup is None:
        return 0
    _set_option(_PR_SET_CHILD_SUBREAPER, 1)
    try:
        server = _start(setup)
    except (OSError, subprocess.SubprocessError) as error:
        _tell({"failed": str(error)})
    else:
        _tell({"started": server.pid})
        threading.Thread(target=_bury, args=[server], daemon=True).start()
        for line in sys.stdin:
            if line.strip() == "stop":
                server.send_signal(setup["stop_signal"])
        _end(server)
        _end_left()
    shutil.rmtree(setup["folder"], ignore_errors=True)
    return 0


def _start(setup: dict[str, Any]) -> "subprocess.Popen[bytes]":
    def prepare() -> None:
        _default_signals()
        # After the change of user, which would undo it.
        _set_option(_PR_SET_PDEATHSIG, signal.SIGQUIT)

    user, group = setup["user"], setup["group"]
    with open(setup["log"], "ab") as log:
        return subprocess.Popen(  # noqa: S603 - the harness's own command
            setup["command"],
            cwd=setup["folder"],
            env=setup["environment"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            user=user,
            group=group,
            extra_groups=None if user is None else [],
            preexec_fn=prepare,  # noqa: PLW1509 - there are no other threads yet
        )


def _default_signals() -> None:
    """Ignore and block no signal, since shells make background programs ignore some."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _bury(server: "subprocess.Popen[bytes]") -> None:
    _tell({"ended": server.wait()})


def _end(server: "subprocess.Popen[bytes]") -> None:
    """End the server at once; its data are removed."""
    for number in (signal.SIGQUIT, signal.SIGKILL):
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.send_signal(number)
            server.wait(END_SECS)
            return


def _end_left() -> None:
    """Kill processes without a parent, which are now children of this process."""
    deadline = time.monotonic() + END_SECS
    while (left := _children()) and time.monotonic() < deadline:
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.005)


def _children() -> list[int]:
    """Return the children of this process; none if the system does not list them."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{thread}/children") as children:
                found += map(int, children.read().split())
    return found


def _set_option(option: int, value: int) -> None:
    """Set an option of this process on Linux; do nothing elsewhere."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _tell(fact: dict[str, object]) -> None:
    with contextlib.suppress(OSError):  # the reader has left
        os.write(1, json.dumps(fact).encode() + b"\n")


if __name__ == "__main__":
    # A signal or Ctrl-C for the harness must not end this process.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    sys.exit(main())
