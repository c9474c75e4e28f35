"""What a lake takes on a disk, and what its logs have to be read."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from tracegrade_lake import Lake

_CHECKPOINT: Final = re.compile(r"(\d{20})\.checkpoint\.parquet")


class LakeSize(NamedTuple):
    """A lake at one time."""

    live_files: int
    live_bytes: int
    disk_files: int
    disk_bytes: int
    """Of all files below its folder, logs and notes as well."""

    log_entries: int
    """Entries after the last checkpoints, which opening each table once reads."""

    log_bytes: int
    """Of all logs, with entries and checkpoints that readers no longer need."""


def size_of_lake(lake: Lake) -> LakeSize:
    """Return the size of a lake in a folder."""
    live = [file for name in lake.tables() for file in lake.live_files(name)]
    stored = list(_sizes(lake.root))
    logs = [(path, size) for path, size in stored if path.parent.name == "_delta_log"]
    return LakeSize(
        live_files=len(live),
        live_bytes=sum(file.size for file in live),
        disk_files=len(stored),
        disk_bytes=sum(size for _, size in stored),
        log_entries=sum(_entries(lake, name) for name in lake.tables()),
        log_bytes=sum(size for _, size in logs),
    )


def _sizes(folder: Path) -> Iterator[tuple[Path, int]]:
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent, name)
            yield path, path.stat().st_size


def _entries(lake: Lake, name: str) -> int:
    names = os.listdir(lake.root / name / "_delta_log")
    checkpoints = [int(found[1]) for each in names if (found := _CHECKPOINT.fullmatch(each))]
    return (lake.version(name) or 0) - max(checkpoints, default=-1)
