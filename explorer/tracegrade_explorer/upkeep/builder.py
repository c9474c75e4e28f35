"""Builds what comes into a lake while its pages are read, in a process of its own.

The files of the raw tables are compared with those that the last build noted; the process is asked
only where there is a new one, so that a lake at rest costs next to nothing.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import Final

import duckdb

from tracegrade.errors import TracegradeError
from tracegrade_explorer.upkeep.line_process import LineProcess
from tracegrade_lake import RAW_LOGS, RAW_SPANS, Lake
from tracegrade_queries.build.discovery import has_unbuilt_files
from tracegrade_queries.build.last_build import last_build
from tracegrade_queries.schema import TRAJECTORIES

CHILD: Final = "tracegrade_explorer.upkeep.build_child"
FOLDER_SECS: Final = 5.0
"""From the beginning of one build to the next, of a lake on this machine."""
STORE_SECS: Final = 30.0
"""Likewise, of a lake on an object store, and between two looks for new files there."""
POLL_SECS: Final = 1.0
"""Between two looks for new files on this machine; one takes some five milliseconds."""
IDLE_SECS: Final = 120.0
"""After which the process ends; it is started again for the next build."""
LONGEST_PAUSE: Final = 60
"""Times the usual one, after several builds that failed."""
BUILD_ALL: Final = "an earlier version built this lake; `tracegrade score` builds it again"
ENDED: Final = "the process that builds ended before it was done"

logger = logging.getLogger(__name__)


class LakeBuilder:
    """Builds one lake; `close` ends its process, and the next build repeats what was cut off."""

    def __init__(self, lake: Lake, built: Callable[[], object]) -> None:
        """Start nothing yet.

        Args:
            lake: The lake, which only the process writes to.
            built: Is called after each build that found something new.
        """
        self.fault = ""
        """Why the last build failed; '' if it did not."""
        self.is_building = False
        self._lake = lake
        self._built = built
        self._process = LineProcess(CHILD, lake.location)
        self._versions: tuple[int | None, ...] | None = None
        self._worked_at = time.monotonic()
        self._failures = 0
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def pid(self) -> int | None:
        """Id of the process; None without one."""
        return self._process.pid

    def follow(self) -> None:
        """Build what is new from now on, in a thread."""
        self._thread = threading.Thread(target=self._follow, name="builds", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop; a build that is under way is cut off."""
        self._stopped.set()
        self._process.terminate()
        if self._thread:
            self._thread.join()
        self._process.end()

    def build_new_files(self) -> bool:
        """Build if a raw table has files that no build has seen; return whether that was done."""
        versions = tuple(self._lake.version(table.name) for table in (RAW_SPANS, RAW_LOGS))
        if versions == self._versions:
            self._end_if_idle()
            return False
        if not has_unbuilt_files(self._lake):
            self._note_fault("")
        elif self._must_build_all():
            self._note_fault(BUILD_ALL)
            return False
        elif not self._build():
            return False
        self._versions = versions
        return True

    def _must_build_all(self) -> bool:
        """Return whether all runs there are have to be built again, which takes a while."""
        has_runs = self._lake.version(TRAJECTORIES.name) is not None
        return has_runs and last_build(self._lake).is_outdated

    def _build(self) -> bool:
        """Have the process build; return whether it did, or found nothing left to build."""
        self.is_building = True
        answer = self._process.answer({}) or {"error": ENDED}
        self.is_building = False
        self._worked_at = time.monotonic()
        if self._stopped.is_set() or "busy" in answer:
            return False
        self._note_fault(answer.get("error", ""))
        if not self.fault:
            self._built()
        return not self.fault

    def _note_fault(self, fault: str) -> None:
        if fault and fault != self.fault:
            logger.warning("new spans are not built into runs: %s", fault)
        self.fault = fault
        self._failures = self._failures + 1 if fault else 0

    def _end_if_idle(self) -> None:
        if self._process.pid and time.monotonic() > self._worked_at + IDLE_SECS:
            self._process.end()

    def _follow(self) -> None:
        least, look = (FOLDER_SECS, POLL_SECS) if self._lake.is_local else (STORE_SECS, STORE_SECS)
        while not self._stopped.is_set():
            begun, has_built = time.monotonic(), False
            try:
                has_built = self.build_new_files()
            except (TracegradeError, duckdb.Error, OSError) as error:
                self._note_fault(str(error))
            pause = least * min(2**self._failures, LONGEST_PAUSE)
            is_rested = not has_built and not self._failures
            self._stopped.wait(look if is_rested else begun + pause - time.monotonic())
