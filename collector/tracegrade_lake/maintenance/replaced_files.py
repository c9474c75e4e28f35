"""Removes files that left a table some time ago, of tables that can be computed again.

Jobs that run often replace many files: with late spans every hour, a table's replaced files would
soon be several times as large as its rows. So those of built tables and scores go sooner than
`expiry.py` lets them go, which also removes files that were never in a table.

Only a path that the table's log names as removed counts, and only where a file is found below the
table's folder without passing a link. There is no commit, so a process that dies here leaves files
for the next one.
"""

import json
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from math import ceil
from typing import Final, NamedTuple
from urllib.parse import unquote

from tracegrade_lake.commit import live_files, open_for_reading
from tracegrade_lake.crash_points import reach
from tracegrade_lake.errors import MaintenanceBusy
from tracegrade_lake.job_files import small_files
from tracegrade_lake.lake import Lake
from tracegrade_lake.maintenance.maintenance_lock import hold_maintenance_lock
from tracegrade_lake.storage import StoredFile

KEEP_HOURS: Final = 12.0
"""Time for which a replaced file of a built table stays, if nothing else is wanted."""

LEAST_KEEP_HOURS: Final = 1.0
"""Shortest time that can be wanted: queries and reports read the files they have listed."""

PAUSE_HOURS: Final = 3.0
"""Longest time from one look for such files to the next; a quarter of the time they are kept, if
that is shorter."""

NOTE_NAME: Final = "replaced_files.json"
"""A file of the lake: when such files were looked for last."""


class RemovedFiles(NamedTuple):
    """The files that one look removed."""

    files: int = 0
    size: int = 0
    """Bytes."""


NOTHING_REMOVED: Final = RemovedFiles()


def remove_replaced_files(lake: Lake, tables: Collection[str], keep_hours: float) -> RemovedFiles:
    """Remove files that left these tables so long ago, unless that was done lately.

    While another process maintains the lake, this leaves the files to a later call.

    Args:
        lake: The lake.
        tables: Names of tables whose rows can be computed again; some may not be there.
        keep_hours: Time for which a file stays after it left its table; at least
            `LEAST_KEEP_HOURS`.

    Raises:
        LakeDamaged: A table's log cannot be read.
        LakeUnwritable: The disk or the store refused.
    """
    keep_hours = max(keep_hours, LEAST_KEEP_HOURS)
    noted = _looked_at(lake)
    pause_secs = min(PAUSE_HOURS, keep_hours / 4) * 3600
    if noted is not None and 0 <= time.time() - noted < pause_secs:
        return NOTHING_REMOVED
    removed: list[StoredFile] = []
    with suppress(MaintenanceBusy), hold_maintenance_lock(lake.state):
        if noted is not None:  # else the lake is new, or was never looked at
            for name in sorted({*tables}.intersection(lake.tables())):
                removed += _remove(lake, name, keep_hours)
        small_files(lake).write(NOTE_NAME, json.dumps({"looked_at": time.time()}).encode())
    return RemovedFiles(len(removed), sum(file.size for file in removed))


def _looked_at(lake: Lake) -> float | None:
    """Return when such files were looked for last, seconds since 1970; None if that is unknown."""
    try:
        return float(json.loads(small_files(lake).read(NOTE_NAME) or b"")["looked_at"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _remove(lake: Lake, name: str, keep_hours: float) -> list[StoredFile]:
    replaced = list(replaced_files(lake, name, keep_hours))
    with lake.storage.table(name).writing():
        lake.remove_files(name, [file.path for file in replaced])
    reach("replaced_removed")
    return replaced


def replaced_files(lake: Lake, name: str, keep_hours: float) -> Iterator[StoredFile]:
    """Yield the files that are still stored and left the table longer ago, as its log says.

    Args:
        lake: The lake.
        name: The table's name.
        keep_hours: Rounded up to whole hours.
    """
    delta = open_for_reading(lake.storage.table(name))
    if delta is None:
        return
    left = delta.vacuum(ceil(keep_hours), dry_run=True, enforce_retention_duration=False)
    needed = {unquote(file.path) for file in live_files(delta)}
    names = {unquote(path) for path in left} - needed
    if names:
        yield from (file for file in lake.stored_files(name) if file.path in names)
