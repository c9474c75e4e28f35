"""The lander as seen from the receiver: a child process, started anew if it dies.

Its standard input is the only link. `drain` asks it to land everything and end; the end of the
file tells it that the receiver is gone.
"""

import asyncio
import json
import logging
import sys
import time
from dataclasses import asdict
from pathlib import Path

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.errors import CollectorError

DRAIN = b"drain\n"
FIRST_PAUSE_SECS = 0.5
LONGEST_PAUSE_SECS = 30.0

log = logging.getLogger(__name__)


class LanderProcess:
    """Starts the lander and keeps it alive."""

    def __init__(self, lake_root: Path, collector_id: str, config: CollectorConfig) -> None:
        options = json.dumps(asdict(config))
        module = "tracegrade_collector.lander"
        self._command = [sys.executable, "-P", "-m", module, str(lake_root), collector_id, options]
        self._process: asyncio.subprocess.Process | None = None
        self._started = 0.0
        self._start_at = 0.0
        self._pause_secs = FIRST_PAUSE_SECS

    async def keep_alive(self) -> None:
        """Start the lander if it does not run; after a death, only when a pause is over."""
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
        log.error("the lander ended with code %s; starting it in %.1f s", code, self._pause_secs)
        self._start_at = time.monotonic() + self._pause_secs
        self._pause_secs = min(2 * self._pause_secs, LONGEST_PAUSE_SECS)

    async def _start(self) -> asyncio.subprocess.Process:
        self._started = time.monotonic()
        self._process = await asyncio.create_subprocess_exec(
            *self._command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL
        )
        return self._process

    def kill(self) -> None:
        """End it at once; what has not landed stays in the log."""
        if self._process and self._process.returncode is None:
            self._process.kill()

    async def drain(self) -> None:
        """Wait until the lander has landed all sealed segments and ended.

        Raises:
            CollectorError: It could not; what is left will be landed after the next start.
        """
        process = self._process
        if not process or process.returncode is not None:
            process = await self._start()
        await process.communicate(DRAIN)
        if process.returncode != 0:
            msg = "not everything landed, see above; what the log holds lands at the next start"
            raise CollectorError(msg)
