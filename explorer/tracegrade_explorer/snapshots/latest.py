"""Keeps the newest scoring run of a lake open, and replaces it while pages still read.

A request reads one scoring run from its beginning to its end. An old one is closed when the last
request that reads it has ended.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

import duckdb

from tracegrade.errors import TracegradeError
from tracegrade_explorer.snapshots.snapshot import LakeSnapshot, lake_state, take_snapshot
from tracegrade_lake import Lake
from tracegrade_queries.build.discovery import unbuilt_spans
from tracegrade_queries.engine.connection import Limits

CHECK_EVERY_SECS: Final = 5.0
"""Between two looks for a newer scoring run; one takes some ten milliseconds."""
MAX_RUNS: Final = 2_000_000
"""Runs in memory, about 1.2 kB each."""

LIMITS: Final = Limits("20%", threads=1)
"""Of the machine, for what is looked at beside the pages."""

logger = logging.getLogger(__name__)


class Freshness(NamedTuple):
    """What the lake holds that no page shows yet."""

    version: int | None
    """Of the raw spans; None if there are none."""
    unbuilt: int
    """Spans and log records that a scoring run would find new."""


class LatestSnapshot:
    """The lake as of its newest scoring run."""

    def __init__(self, lake: Lake, max_runs: int = MAX_RUNS) -> None:
        """Read the lake.

        Raises:
            LakeUnreachable: Its object store does not answer.
        """
        self.lake = lake
        self._max_runs = max_runs
        self._lock = threading.Lock()
        self._current = take_snapshot(lake, max_runs)
        self._stopped = threading.Event()
        self._closed = False
        self._follower: threading.Thread | None = None
        self.freshness = self._read_freshness()

    @contextmanager
    def reading(self) -> Iterator[LakeSnapshot]:
        """Lend the newest scoring run; it stays open until it is given back."""
        with self._lock:
            snapshot = self._current
            snapshot.readers += 1
        try:
            yield snapshot
        finally:
            with self._lock:
                snapshot.readers -= 1
                old = (snapshot is not self._current or self._closed) and not snapshot.readers
            if old:
                snapshot.close()

    def refresh(self) -> bool:
        """Look once for a newer scoring run, or prices that were given since.

        Returns:
            Whether a new snapshot took the place of the old one.
        """
        if lake_state(self.lake) == self._current.state:
            self._refresh_spans()
            return False
        fresh = take_snapshot(self.lake, self._max_runs)
        with self._lock:
            old, self._current = self._current, fresh
            unread = not old.readers
        if unread:
            old.close()
        self.freshness = self._read_freshness()
        return True

    def follow(self) -> None:
        """Look for newer scoring runs from now on, in a thread."""
        self._follower = threading.Thread(target=self._follow, name="snapshots", daemon=True)
        self._follower.start()

    def close(self) -> None:
        """Stop looking, and free all memory once nobody reads any more."""
        self._stopped.set()
        if self._follower:
            self._follower.join()
        with self._lock:
            self._closed = True
            unread = not self._current.readers
        if unread:
            self._current.close()

    def _follow(self) -> None:
        warned = ""
        while not self._stopped.wait(CHECK_EVERY_SECS):
            try:
                self.refresh()
                warned = ""
            except (TracegradeError, duckdb.Error, OSError) as error:
                if str(error) != warned:
                    warned = str(error)
                    logger.warning("pages stay as they are: %s", warned)

    def _refresh_spans(self) -> None:
        if self.lake.version("raw_spans") != self.freshness.version:
            self.freshness = self._read_freshness()

    def _read_freshness(self) -> Freshness:
        version = self.lake.version("raw_spans")
        if version is None or not self.lake.is_local:
            return Freshness(version, 0)
        return Freshness(version, unbuilt_spans(self.lake, LIMITS))
