"""Limits on a process that runs one query or a few: time, memory, and no written files.

The kernel ends it after its time even where nobody else does, refuses it more memory, and lets it
write no file, so that nothing is spilled to a disk that others need.
"""

import resource
import signal
from pathlib import Path
from typing import Final

SPARE_BYTES: Final = 512 << 20
"""Of address space beside what the engine may use: its threads, rows on their way out."""


def bound(memory_bytes: int) -> None:
    """Let this process write no file, and take this much more memory at most."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    used = _address_space()
    if used:
        most = used + memory_bytes + SPARE_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def end_after(secs: float) -> None:
    """Let the kernel end this process after a time, whatever it does; 0: let it go on."""
    signal.setitimer(signal.ITIMER_REAL, secs)


def _address_space() -> int:
    """Return the bytes of address space in use; 0 where nothing tells."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return 0
    return pages * resource.getpagesize()
