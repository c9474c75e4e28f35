"""Keeps the newest state of a lake open, and replaces it while pages still read it.

A state is a scoring run and the build after it. A request reads one state from its beginning to
its end. An old one is closed when the last request that reads it has ended.
"""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

import duckdb

from tracegrade.errors import TracegradeError
from tracegrade_explorer.snapshots.snapshot import LakeSnapshot, lake_state, take_snapshot
from tracegrade_lake import Lake
from tracegrade_queries.build.discovery import unbuilt_spans
from tracegrade_queries.engine.connection import Limits
from tracegrade_watch.schema import ALERTS
from tracegrade_watch.stored import read_alerts

CHECK_EVERY_SECS: Final = 5.0
"""Between two looks for a newer scoring run; one takes some ten milliseconds."""
LEAST_REST: Final = 9
"""Times as long as the index took to make it stays, however many builds come; new prices renew it
at once."""
LEAST_REST_OF_SCORES: Final = 2
"""Times as long that it stays while scoring runs follow one another, as those of a follower do; a
single one renews it at once."""
FILES_CHECK_SECS: Final = 900.0
"""Between two looks whether files that pages read were replaced without a scoring run, as a merge
of small files does. They leave the disk an hour later, or more."""
MAX_RUNS: Final = 2_000_000
"""Runs in memory, about 1.2 kB each."""

LIMITS: Final = Limits("20%", threads=1)
"""Limits for checks that run in addition to pages, as a share of the machine."""

logger = logging.getLogger(__name__)


class Freshness(NamedTuple):
    """Rows of the lake that no page shows yet."""

    version: int | None
    """Version of the raw spans; None if there are none."""
    unbuilt: int
    """Spans and log records that a build would find new; 0 if builds follow at once."""
    alerts_version: int | None = None
    """Version of the alerts; None if there are none."""
    firing: int = 0
    """Alerts that fire, and that no person has acknowledged."""


class LatestSnapshot:
    """The lake as of its newest scoring run and build."""

    def __init__(self, lake: Lake, max_runs: int = MAX_RUNS, *, is_built: bool = False) -> None:
        """Read the lake.

        Args:
            lake: The lake.
            max_runs: Runs to list, the newest.
            is_built: What comes in is built at once, so that nothing new has to be counted.

        Raises:
            LakeUnreachable: Its object store does not answer.
        """
        self.lake = lake
        self._max_runs = max_runs
        self._is_built = is_built
        self._lock = threading.Lock()
        self._renews_at = 0.0
        self._renews_for_scores_at = 0.0
        self._checks_files_at = 0.0
        self._current = self._take()
        self._awake = threading.Event()
        self._stopped = threading.Event()
        self._closed = False
        self._follower: threading.Thread | None = None
        self.freshness = self._read_freshness()

    @contextmanager
    def reading(self) -> Iterator[LakeSnapshot]:
        """Lend the newest state; it stays open until it is given back."""
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
        """Look once for a newer scoring run or build, other files or later prices.

        Returns:
            Whether a new snapshot took the place of the old one.
        """
        if lake_state(self.lake) == self._current.state and not self._files_were_replaced():
            self._refresh_spans()
            return False
        fresh = self._take()
        with self._lock:
            old, self._current = self._current, fresh
            unread = not old.readers
        if unread:
            old.close()
        self.freshness = self._read_freshness()
        return True

    def follow(self) -> None:
        """Look for newer scoring runs and builds from now on, in a thread."""
        self._follower = threading.Thread(target=self._follow, name="snapshots", daemon=True)
        self._follower.start()

    def wake(self) -> None:
        """Check at once: there is something new."""
        self._awake.set()

    def close(self) -> None:
        """Stop checking, and free all memory once the last reader is done."""
        self._stopped.set()
        self._awake.set()
        if self._follower:
            self._follower.join()
        with self._lock:
            self._closed = True
            unread = not self._current.readers
        if unread:
            self._current.close()

    def _follow(self) -> None:
        warned = ""
        while not self._stopped.is_set():
            self._awake.wait(CHECK_EVERY_SECS)
            self._awake.clear()
            try:
                if not self._stopped.is_set() and self._is_due():
                    self.refresh()
                warned = ""
            except (TracegradeError, duckdb.Error, OSError) as error:
                if str(error) != warned:
                    warned = str(error)
                    logger.warning("pages are not refreshed: %s", warned)

    def _take(self) -> LakeSnapshot:
        begun = time.monotonic()
        snapshot = take_snapshot(self.lake, self._max_runs)
        ended = time.monotonic()
        self._renews_at = ended + LEAST_REST * (ended - begun)
        self._renews_for_scores_at = ended + LEAST_REST_OF_SCORES * (ended - begun)
        self._checks_files_at = ended + FILES_CHECK_SECS
        return snapshot

    def _is_due(self) -> bool:
        """Return whether it is time to look.

        Making the index takes a tenth of a core at most while builds come, and a third while
        scores do.
        """
        if time.monotonic() >= self._renews_at:
            return True
        now, shown = lake_state(self.lake), self._current.state
        if now.costs != shown.costs and now._replace(costs=shown.costs) == shown:
            return True  # prices alone; builds and scoring runs write costs, too
        return now.run != shown.run and time.monotonic() >= self._renews_for_scores_at

    def _files_were_replaced(self) -> bool:
        """Return whether the lake has the same rows in other files; look once in a while."""
        if time.monotonic() < self._checks_files_at:
            return False
        self._checks_files_at = time.monotonic() + FILES_CHECK_SECS
        return self._current.dates.were_replaced(self.lake)

    def _refresh_spans(self) -> None:
        if self.lake.version("raw_spans") != self.freshness.version:
            self.freshness = self._read_freshness()
        elif self.lake.version(ALERTS.name) != self.freshness.alerts_version:
            self.freshness = self._with_alerts(self.freshness)

    def _read_freshness(self) -> Freshness:
        version = self.lake.version("raw_spans")
        if version is None or self._is_built or not self.lake.is_local:
            return self._with_alerts(Freshness(version, 0))
        return self._with_alerts(Freshness(version, unbuilt_spans(self.lake, LIMITS)))

    def _with_alerts(self, freshness: Freshness) -> Freshness:
        version = self.lake.version(ALERTS.name)
        if version is None:
            return freshness
        firing = sum(alert.state == "firing" for alert in read_alerts(self.lake))
        return freshness._replace(alerts_version=version, firing=firing)
