"""What a lake takes on a disk, and what its logs have to be read."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tracegrade_lake import Lake


class SizeOnDisk(NamedTuple):
    """What a lake takes at one time."""

    disk_files: int
    """All files below its folder, logs and notes as well."""

    disk_mb: float
    log_entries: int
    """Entries after the last checkpoints, which opening each table once reads."""

    log_mb: float
    """Of all logs, with entries and checkpoints that readers no longer need."""


def size_on_disk(lake: Lake) -> SizeOnDisk:
    """Return what a lake in a folder takes."""
    stored = list(_sizes(lake.root))
    logs = [size for path, size in stored if path.parent.name == "_delta_log"]
    entries = [lake.storage.table(name).entries_to_read() for name in lake.tables()]
    return SizeOnDisk(
        len(stored), sum(size for _, size in stored) / 1e6, sum(entries), sum(logs) / 1e6
    )


def _sizes(folder: Path) -> Iterator[tuple[Path, int]]:
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent, name)
            yield path, path.stat().st_size
