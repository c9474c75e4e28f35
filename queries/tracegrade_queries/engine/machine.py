"""Finds how many cores and how much memory a job may use, also inside a container."""

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

CGROUPS: Final = Path("/sys/fs/cgroup")
"""Files in which Linux states the limits of this process's container."""

_MEMORY: Final = ("memory.max", "memory/memory.limit_in_bytes")
"""Bytes, by version of control groups; a large number or a word for none."""

_CPU_TIME: Final = (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"))
"""Time of cores that a container gets in a time of the clock, by version; a word or -1 for all."""


def workers(worker_mb: int, cgroups: Path = CGROUPS) -> int:
    """Return how many buckets may be worked on at a time: a core each, and memory for all.

    Args:
        worker_mb: What one of them needs.
        cgroups: Where to look for limits of a container.
    """
    return max(1, min(cores(cgroups), memory_mb(cgroups) // worker_mb))


def cores(cgroups: Path = CGROUPS) -> int:
    """Return how many cores this process may use, parts of one counted whole."""
    return max(1, min([_cores_allowed(), *_core_limits(cgroups)]))


def memory_mb(cgroups: Path = CGROUPS) -> int:
    """Return how much memory the machine has, or the container that this process is in."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limits = (text for name in _MEMORY for text in _words(cgroups / name))
    return min([machine, *(int(text) for text in limits if text.isdigit())]) // 1_000_000


def _cores_allowed() -> int:
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _core_limits(cgroups: Path) -> Iterator[int]:
    for names in _CPU_TIME:
        limits = [word for name in names for word in _words(cgroups / name)]
        if len(limits) == 2 and all(word.isdigit() for word in limits):
            yield math.ceil(int(limits[0]) / int(limits[1]))


def _words(path: Path) -> list[str]:
    return path.read_text(encoding="ascii").split() if path.is_file() else []
