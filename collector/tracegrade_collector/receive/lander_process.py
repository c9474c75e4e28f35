"""The lander as seen from the receiver: a child process, restarted if it dies.

Its standard input is the only link: JSON lines, which `land/lander_main.py` describes.
"""

import asyncio
import contextlib
import json
import logging
import sys
import time
from dataclasses import asdict
from pathlib import Path

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.errors import CollectorError

DRAIN = b'{"drain": true}\n'
FIRST_PAUSE_SECS = 0.5
LONGEST_PAUSE_SECS = 30.0

logger = logging.getLogger(__name__)


class LanderProcess:
    """Starts the lander and keeps it alive; `land` tells it what to land."""

    def __init__(self, config: CollectorConfig) -> None:
        options = json.dumps(asdict(config))
        self._command = [
            sys.executable,
            "-P",
            "-m",
            "tracegrade_collector.land.lander_main",
            options,
        ]
        self._pipelines: list[bytes] = []
        self._process: asyncio.subprocess.Process | None = None
        self._started = 0.0
        self._start_at = 0.0
        self._pause_secs = FIRST_PAUSE_SECS
        self._deaths = 0
        self._given_up = False

    def land(self, lake: str, state: Path, collector_id: str) -> None:
        """Land this collector's log from now on, also after a restart of the lander."""
        source = {"lake": lake, "state": str(state), "collector_id": collector_id}
        line = json.dumps({"land": source}).encode() + b"\n"
        self._pipelines.append(line)
        self._tell(line)

    def _tell(self, line: bytes) -> None:
        """Write to the lander; if it has died, its restart makes up for the command."""
        if self._process and self._process.stdin and self._process.returncode is None:
            with contextlib.suppress(RuntimeError, OSError):  # the pipe closes before the code
                self._process.stdin.write(line)

    @property
    def deaths(self) -> int:
        """Number of recent deaths soon after a start; 0 once the lander has kept running."""
        is_alive = self._process is not None and self._process.returncode is None
        if is_alive and time.monotonic() - self._started > LONGEST_PAUSE_SECS:
            return 0
        return self._deaths

    async def keep_alive(self) -> None:
        """Start the lander if it does not run; after a death, only after a pause."""
        if self._process and self._process.returncode is not None:
            self._plan_restart(self._process.returncode)
            self._process = None
        if self._process is None and time.monotonic() >= self._start_at:
            await self._start()

    def _plan_restart(self, code: int) -> None:
        """Pause twice as long after each death that follows soon upon the last."""
        lived_secs = time.monotonic() - self._started
        if lived_secs > LONGEST_PAUSE_SECS:
            self._pause_secs = FIRST_PAUSE_SECS
            self._deaths = 0
        self._deaths += 1
        logger.error(
            "the lander ended with code %s; starting it in %.1f s", code, self._pause_secs
        )
        self._start_at = time.monotonic() + self._pause_secs
        self._pause_secs = min(2 * self._pause_secs, LONGEST_PAUSE_SECS)

    async def _start(self) -> asyncio.subprocess.Process:
        self._started = time.monotonic()
        self._process = await asyncio.create_subprocess_exec(
            *self._command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL
        )
        self._tell(b"".join(self._pipelines))
        return self._process

    def give_up(self) -> None:
        """End it at once and for good; unlanded requests stay in the log."""
        self._given_up = True
        if self._process and self._process.returncode is None:
            self._process.kill()

    async def drain(self) -> None:
        """Wait until the lander has landed all sealed segments and ended.

        Raises:
            CollectorError: It could not; the next start lands the rest.
        """
        process = None if self._given_up else await self._drained()
        if self._given_up:
            msg = (
                "stopped twice, so not everything landed; the next start lands what the log holds"
            )
            raise CollectorError(msg)
        if process and process.returncode != 0:
            msg = "not everything landed, see above; the next start lands what the log holds"
            raise CollectorError(msg)

    async def _drained(self) -> asyncio.subprocess.Process:
        """Return the ended process; one that a signal ended before it could listen is repeated."""
        process = await self._drained_once()
        was_killed = (process.returncode or 0) < 0
        return await self._drained_once() if was_killed and not self._given_up else process

    async def _drained_once(self) -> asyncio.subprocess.Process:
        process = self._process
        if not process or process.returncode is not None:
            process = await self._start()
        with contextlib.suppress(RuntimeError, OSError):  # it has ended, and its pipe, too
            await process.communicate(DRAIN)
        await process.wait()
        return process
