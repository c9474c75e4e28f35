"""The collector of a run: a child process on a loopback port, for the harness alone.

Agents send to the relay (`telemetry/relay.py`). With an open network they could find the port, but
not the token.
"""

import shlex
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tracegrade_collector.edge.tokens import add_token
from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.telemetry.relay import Endpoint

READY_WITHIN_SECS: Final = 120.0
LANDED_WITHIN_SECS: Final = 600.0


class Collector:
    """A `with` block in which spans arrive; after it, all of them have landed."""

    def __init__(self, lake: str, log: Path) -> None:
        """Prepare to write into a lake; the collector's own messages go to a file."""
        self._lake = lake
        self._log = log
        self._tokens = log.with_name("collector-tokens.toml")

    @property
    def endpoint(self) -> Endpoint:
        """The collector's OTLP endpoint over HTTP, inside the block."""
        return Endpoint(self._address, {"Authorization": f"Bearer {self._token}"})

    def __enter__(self) -> Self:
        self._tokens.unlink(missing_ok=True)  # from a harness that was killed
        self._token = add_token(self._tokens, tenant="", expires=None)
        program = [sys.executable, "-m", "tracegrade_harness.trial.collector_child"]
        command = [*program, self._lake, str(self._tokens)]
        with self._log.open("ab") as log:
            self._written = log.tell()  # the output of collectors of this run's earlier harnesses
            self._process = subprocess.Popen(  # noqa: S603 - our own command
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,  # Ctrl-C is for the harness, which ends it
            )
        timer = threading.Timer(READY_WITHIN_SECS, self._process.kill)
        timer.start()
        try:
            self._address = self._read_address()
        finally:
            timer.cancel()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._process.communicate(timeout=LANDED_WITHIN_SECS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
        finally:
            self._tokens.unlink(missing_ok=True)
        code = self._process.returncode
        if code and error is None:
            msg = f"the collector ended with exit code {code}, see {self._log}; spans that it "
            msg += f"took land with `tracegrade collect --lake {shlex.quote(str(self._lake))}`"
            raise EnvironmentFailed(msg)

    def _read_address(self) -> str:
        """Return the address that the child prints once it serves."""
        assert self._process.stdout  # noqa: S101 - it is a pipe
        for line in self._process.stdout:
            key, _, value = line.decode().strip().partition(": ")
            if key == "http":
                return value
        self._process.communicate()
        msg = f"the collector did not start: {self._last_words()}; see {self._log}"
        raise EnvironmentFailed(msg)

    def _last_words(self) -> str:
        """Return its last line, which says why it ended, or its exit code."""
        written = self._log.read_bytes()[self._written :].decode(errors="replace")
        lines = [line for line in written.split("\n") if line.strip()]
        return lines[-1] if lines else f"exit code {self._process.returncode}"
