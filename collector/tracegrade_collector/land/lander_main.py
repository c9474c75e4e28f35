"""The lander process: turns the write-ahead logs of all a collector's tenants into rows of lakes.

Run by the receiver as `python -m tracegrade_collector.land.lander_main OPTIONS`. It reads JSON
lines from its standard input: `{"land": {"lake": ..., "state": ..., "collector_id": ...}}` adds a
log to land, and `{"drain": true}` lands everything and ends. The end of the file means that the
receiver has ended.
"""

import json
import logging
import os
import random
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.errors import CollectorError
from tracegrade_collector.land.lander import Lander
from tracegrade_collector.log.wal_folder import WalFolder
from tracegrade_collector.log_lines import log_to_stderr
from tracegrade_collector.rows.memory import use_one_allocator
from tracegrade_lake import Lake
from tracegrade_lake.errors import LakeError
from tracegrade_lake.lake_root import lake_url
from tracegrade_lake.locks import LANDER_LOCK_NAME, FolderLock

POLL_SECS = 0.1  # listing a folder costs microseconds
FOLDER_SECS = 4.0
"""Between two commits to a folder, as a rule."""
STORE_SECS = 30.0
"""Between two commits to an object store, which charges each request."""
FIRST_PAUSE_SECS = 0.5
LONGEST_PAUSE_SECS = 30.0
READ_BYTES = 1 << 16
NICENESS = 4  # answers come first; the log holds a burst, and a lasting load leaves time

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class LogToLand:
    """A write-ahead log, and the lake its rows go to."""

    lake: str
    """A folder or a URL."""

    state: str
    """The folder on this machine that holds the log."""

    collector_id: str

    def folder(self) -> WalFolder:
        """Return the log's folder."""
        return WalFolder(Path(self.state) / "wal" / self.collector_id)


class LandingLoop:
    """One log with its schedule: a round whenever one is due, ever later while it fails."""

    def __init__(self, source: LogToLand, config: CollectorConfig) -> None:
        self._source = source
        self._config = config
        usual_secs = FOLDER_SECS if lake_url(source.lake) is None else STORE_SECS
        self._every_secs = config.land_every_secs or usual_secs
        self._lock: FolderLock | None = None
        self._lander: Lander | None = None
        self._next_round = 0.0
        self._paused_until = 0.0
        self._pause_secs = FIRST_PAUSE_SECS

    def land_if_due(self) -> None:
        """Land a round, or prepare the next; after a failure, only when a pause is over."""
        now = time.monotonic()
        if now < self._paused_until:
            return
        try:
            self._land(self._lander_now(wait=False), now)
        except BlockingIOError:
            self._paused_until = now + POLL_SECS
        except (CollectorError, LakeError, OSError) as error:
            self._fail(error)
        except Exception as error:  # of a library; it must not keep other logs from landing
            logger.exception("landing failed unexpectedly")
            self._fail(error)

    def _land(self, lander: Lander, now: float) -> None:
        if now < self._next_round and not lander.cannot_wait:
            lander.stage_ahead()
        elif lander.land_round():
            self._next_round = now + self._every_secs
            self._pause_secs = FIRST_PAUSE_SECS

    def land_all(self) -> bool:
        """Land everything that is sealed; return whether that went well."""
        try:
            lander = self._lander_now(wait=True)
            while lander.land_round():
                pass
        except (CollectorError, LakeError, OSError) as error:
            self._fail(error)
            return False
        return True

    def _lander_now(self, *, wait: bool) -> Lander:
        """Return the lander, once that of a killed receiver has finished its round.

        Raises:
            BlockingIOError: That one is still running, and `wait` is false.
        """
        folder = self._source.folder()
        if self._lock is None:
            lock = FolderLock(folder.path / LANDER_LOCK_NAME)
            if wait:
                lock.acquire()
            elif not lock.try_acquire():
                lock.close()
                raise BlockingIOError
            self._lock = lock
        if self._lander is None:
            self._lander = Lander(
                Lake.create(self._source.lake, Path(self._source.state)), folder, self._config
            )
        return self._lander

    def _fail(self, error: Exception) -> None:
        """Start over after a pause: staged files are dropped, but the log has their requests."""
        # Collectors of a failing store must not all come back at the same moment.
        pause_secs = self._pause_secs * random.uniform(0.5, 1)  # noqa: S311 - no secret
        logger.error("cannot land (again in %.1f s): %s", pause_secs, error)
        self._lander = None
        self._paused_until = time.monotonic() + pause_secs
        self._pause_secs = min(2 * self._pause_secs, LONGEST_PAUSE_SECS)


class ReceiverCommands:
    """Commands of the receiver, one JSON line each, read from a pipe."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._unread = b""
        self.ended = False

    def wait(self, secs: float) -> list[dict[str, Any]]:
        """Return the commands that arrive within `secs`; set `ended` at end of file."""
        ready, _, _ = select.select([self._descriptor], [], [], secs)
        if not ready:
            return []
        received = os.read(self._descriptor, READ_BYTES)
        self.ended = not received
        *lines, self._unread = (self._unread + received).split(b"\n")
        return [json.loads(line) for line in lines]


def land_until_stopped(
    commands: ReceiverCommands, loop_of: Callable[[LogToLand], LandingLoop]
) -> bool:
    """Land the logs that commands name, in turn, until they end; return whether all has landed."""
    loops: dict[LogToLand, LandingLoop] = {}
    while not commands.ended:
        for order in commands.wait(POLL_SECS):
            if "land" in order:
                source = LogToLand(**order["land"])
                loops.setdefault(source, loop_of(source))
            if "drain" in order:
                return all([loop.land_all() for loop in loops.values()])
        for loop in loops.values():
            loop.land_if_due()
    return True


def main(arguments: Sequence[str]) -> int:
    """Land until a command or the end of input stops it; return the exit code."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)  # sent to the whole group; the receiver decides
    os.nice(NICENESS)
    (options,) = arguments
    config = CollectorConfig(**json.loads(options))
    log_to_stderr("lander", config.log_format)
    use_one_allocator()
    commands = ReceiverCommands(sys.stdin.fileno())
    landed = land_until_stopped(commands, lambda source: LandingLoop(source, config))
    return 0 if landed else CollectorError.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
