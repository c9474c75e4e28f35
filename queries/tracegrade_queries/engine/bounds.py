"""Limits on a process that runs one query or a few: time, memory, and no written files.

The kernel ends it after its time even if nothing else does, and refuses it more memory. It also
forbids the process to write files, so that it cannot spill to a disk that others need.
"""

import resource
import signal
from pathlib import Path
from typing import Final

SPARE_BYTES: Final = 512 << 20
"""Address space in addition to the engine's memory: for threads, and rows in output."""


def bound(memory_bytes: int) -> None:
    """Let this process write no file, and take this much more memory at most."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    used = _address_space()
    if used:
        most = used + memory_bytes + SPARE_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def end_after(secs: float) -> None:
    """Let the kernel end this process after a time, in any state; 0: no limit."""
    signal.setitimer(signal.ITIMER_REAL, secs)


def _address_space() -> int:
    """Return the bytes of address space in use; 0 if unknown."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return 0
    return pages * resource.getpagesize()
