"""Waits until everything acknowledged so far is in the lake and no longer in a log.

A running collector lands received requests within seconds. The folder of a stopped collector is
landed here, as the next collector to start would do.
"""

import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.errors import NotLanding
from tracegrade_collector.land.lander import Lander
from tracegrade_collector.log.wal_folder import WalFolder
from tracegrade_lake import Lake
from tracegrade_lake.files import size_of
from tracegrade_lake.locks import LANDER_LOCK_NAME, FolderLock

POLL_SECS: Final = 0.2
LONGEST_PAUSE_SECS: Final = 120.0
"""Without any segment landing; a healthy collector lands one every few seconds."""


def wait_until_landed(lake: Lake, config: CollectorConfig, note: Callable[[str], None]) -> None:
    """Wait until the log holds nothing that it held at the call.

    Raises:
        CollectorError: A log could not be landed.
        NotLanding: A collector runs and lands nothing.
    """
    waiting = _segments(lake.state)
    progress_at = time.monotonic()
    while waiting:
        note(f"{len(waiting)} log segments still have to land")
        _land_orphans(lake, config)
        left = [segment for segment in waiting if segment.exists()]
        if len(left) < len(waiting):
            progress_at = time.monotonic()
        elif time.monotonic() - progress_at > LONGEST_PAUSE_SECS:
            msg = f"{left[0]} does not land; check its collector's log output, then try again"
            raise NotLanding(msg)
        waiting = left
        if waiting:
            time.sleep(POLL_SECS)


def _segments(state: Path) -> list[Path]:
    """Return all segments that hold data; some may land before the caller looks at them."""
    folders = [WalFolder(path) for path in WalFolder.all_in(state)]
    return [segment for folder in folders for segment in folder.segments() if size_of(segment)]


def _land_orphans(lake: Lake, config: CollectorConfig) -> None:
    for folder in WalFolder.claim_orphans(lake.state):
        with closing(folder), closing(FolderLock(folder.path / LANDER_LOCK_NAME)) as lock:
            lock.acquire()  # the lander of a killed collector may still finish its round
            lander = Lander(lake, folder, config)
            while lander.land_round():
                pass
