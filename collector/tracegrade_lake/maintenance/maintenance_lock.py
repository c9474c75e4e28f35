"""The lock of a lake's maintenance: compaction, expiry and repair would undo each other's work."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tracegrade_lake.errors import MaintenanceBusy
from tracegrade_lake.lake_root import writing_to
from tracegrade_lake.locks import FolderLock

LOCK_NAME = "maintenance.lock"


@contextmanager
def hold_maintenance_lock(state: Path) -> Iterator[None]:
    """Hold the lock of a lake's maintenance, which goes with the process.

    Raises:
        MaintenanceBusy: Another process holds it.
        LakeUnwritable: The disk refused.
    """
    with writing_to(state):
        lock = FolderLock(state / LOCK_NAME)
    try:
        if not lock.try_acquire():
            msg = f"maintenance of the lake is already running ({state / LOCK_NAME}); wait for it"
            raise MaintenanceBusy(msg)
        yield
    finally:
        lock.close()
