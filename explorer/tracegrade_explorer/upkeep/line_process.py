"""A module of this package in a process of its own, which answers each line of JSON with one.

The explorer's own process writes nothing into a lake; what does runs so, and ends with its stdin.
"""

import contextlib
import select
import subprocess
import sys
from typing import Any

import orjson


class LineProcess:
    """The process, which is started for the first message, and again once it has ended."""

    def __init__(self, module: str, *arguments: str) -> None:
        """Start nothing yet."""
        self._command = [sys.executable, "-m", module, *arguments]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """Id of the process; None without one."""
        return self._process.pid if self._process else None

    def start(self) -> subprocess.Popen[bytes]:
        """Return the process, started unless it runs; the first message need not wait for it."""
        if self._process is None or self._process.poll() is not None:
            self._process = self._started()
        return self._process

    def answer(self, message: object, secs: float | None = None) -> dict[str, Any] | None:
        """Return its answer; None if it ended, or had none in time and was killed.

        Args:
            message: What can be JSON.
            secs: To wait for the answer; None for as long as it takes.
        """
        process = self.start()
        line = _answer_line(process, orjson.dumps(message) + b"\n", secs)
        if not line:
            process.kill()
            self.end()
            return None
        answer: dict[str, Any] = orjson.loads(line)
        return answer

    def terminate(self) -> None:
        """Have it end at once, which another thread may wait for in `answer`."""
        if process := self._process:
            process.terminate()

    def end(self) -> None:
        """Wait until it has done what it works on, and forget it."""
        if self._process:
            with contextlib.suppress(OSError), self._process:
                pass  # closes its pipes, stdin first, and waits
            self._process = None

    def _started(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - our own module
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C of the explorer cuts no write in two
        )


def _answer_line(process: subprocess.Popen[bytes], line: bytes, secs: float | None) -> bytes:
    """Send a line and return the one that answers it; an empty one without an answer."""
    assert process.stdin is not None  # noqa: S101 - both are pipes
    assert process.stdout is not None  # noqa: S101
    try:
        process.stdin.write(line)
        process.stdin.flush()
        ready = select.select([process.stdout], [], [], secs)[0]
        return process.stdout.readline() if ready else b""
    except OSError:
        return b""
