"""The processes that the demo starts; none of them outlives it.

Each child leads a process group of its own, so that Ctrl-C in a terminal reaches the demo alone.
When the demo ends, for any reason, every leader gets a request to stop, then its whole group is
killed.
"""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType, TracebackType

from demo.errors import StageError

CHECKOUT = Path(__file__).parents[1]
READY_WITHIN_SECS = 120.0  # a second or two; more only on a busy machine
RUN_WITHIN_SECS = 600.0
STOP_WITHIN_SECS = 10.0
POLL_EVERY_SECS = 0.02
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Process = subprocess.Popen[bytes]
Command = Sequence[str | Path]


class Child:
    """One process with its log; made by `Children.start`."""

    def __init__(self, name: str, process: Process, log: Path) -> None:
        self.name = name
        self.process = process
        self.log = log

    def ready_lines(self, *keys: str) -> dict[str, str]:
        """Wait for the lines `key: value` that the process prints once it serves.

        Raises:
            StageError: It exited, or was not ready in time.
        """
        deadline = time.monotonic() + READY_WITHIN_SECS
        while time.monotonic() < deadline:
            found = dict(line.split(": ", 1) for line in self.lines() if ": " in line)
            if all(key in found for key in keys):
                return {key: found[key] for key in keys}
            if self.process.poll() is not None:
                code = self.process.returncode
                msg = f"{self.name} ended with exit code {code} before it was ready"
                raise StageError(msg, self.log)
            time.sleep(POLL_EVERY_SECS)
        msg = f"{self.name} was not ready within {READY_WITHIN_SECS:.0f} s"
        raise StageError(msg, self.log)

    def lines(self) -> list[str]:
        """Return the complete lines that the process printed so far."""
        text = self.log.read_text(encoding="utf-8", errors="replace")
        return text[: text.rfind("\n") + 1].splitlines()

    def wait(self) -> None:
        """Wait until the process is done.

        Raises:
            StageError: It failed, or took too long.
        """
        try:
            code = self.process.wait(RUN_WITHIN_SECS)
        except subprocess.TimeoutExpired as error:
            msg = f"{self.name} did not finish within {RUN_WITHIN_SECS:.0f} s"
            raise StageError(msg, self.log) from error
        self.end_group()
        if code:
            msg = f"{self.name} failed with exit code {code}"
            raise StageError(msg, self.log)

    def end_group(self) -> None:
        """Kill the remaining child processes of a process; call it once the process ended."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def stop(self) -> None:
        """Ask the process to stop, and wait until it did.

        Raises:
            StageError: It did not stop in time, or not cleanly.
        """
        self.process.terminate()
        self.wait()


class Children:
    """All processes of the demo, as a `with` block that ends them."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._children: list[Child] = []
        self._starting = False
        self._asked_to_stop = False

    def __enter__(self) -> "Children":
        for number in STOP_SIGNALS:
            signal.signal(number, self._on_signal)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number in STOP_SIGNALS:  # no signal interrupts the cleanup
            signal.signal(number, signal.SIG_IGN)
        self._stop_all()

    def start(self, name: str, command: Command, **environment: str) -> Child:
        """Start a process whose output goes to its own log."""
        log = self._logs / f"{name.replace(' ', '-')}.log"
        with self._signals_wait(), log.open("wb") as output:
            process = subprocess.Popen(
                command,
                cwd=CHECKOUT,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**_outer_environment(), **environment},
                start_new_session=True,
            )
            child = Child(name, process, log)
            self._children.append(child)
        return child

    def run(self, name: str, command: Command, **environment: str) -> Child:
        """Run a process to its end; it is done when this returns.

        Raises:
            StageError: It failed, or took too long.
        """
        child = self.start(name, command, **environment)
        child.wait()
        return child

    @contextlib.contextmanager
    def _signals_wait(self) -> Iterator[None]:
        """Hold a signal back until the process that is being started is known."""
        self._starting = True
        try:
            yield
        finally:
            self._starting = False
        if self._asked_to_stop:
            raise KeyboardInterrupt

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        del number, frame  # all three mean the same
        if self._asked_to_stop:
            return  # an impatient second one must not cut the clean-up short
        self._asked_to_stop = True
        if not self._starting:
            raise KeyboardInterrupt

    def _stop_all(self) -> None:
        running = [child for child in self._children if child.process.returncode is None]
        for child in running:
            child.process.send_signal(
                signal.SIGINT
            )  # the harness then clears up, as in a terminal
        deadline = time.monotonic() + STOP_WITHIN_SECS
        for child in running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.process.wait(max(0.0, deadline - time.monotonic()))
            child.end_group()
            child.process.wait()


def _outer_environment() -> dict[str, str]:
    """Return the environment without settings that were meant for other traced programs."""
    outer = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("OTEL_", "TRACEGRADE_"))
    }
    return {**outer, "PYTHONUNBUFFERED": "1"}
