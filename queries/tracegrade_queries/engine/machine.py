"""What this machine gives to a job: cores and memory, also where a container has less of both."""

import os
from pathlib import Path
from typing import Final

_LIMITS: Final = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
"""Of a container's memory, by version of control groups; a large number or a word for none."""


def workers(worker_mb: int) -> int:
    """Return how many buckets may be worked on at a time: a core each, and memory for all.

    Args:
        worker_mb: What one of them needs.
    """
    return max(1, min(cores(), memory_mb() // worker_mb))


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory_mb() -> int:
    """Return how much memory the machine has, or the container that this process is in."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([machine, *_container_limits()]) // 1_000_000


def _container_limits() -> list[int]:
    texts = [path.read_text().strip() for path in _LIMITS if path.is_file()]
    return [int(text) for text in texts if text.isdigit()]
