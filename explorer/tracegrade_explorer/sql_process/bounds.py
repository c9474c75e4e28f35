"""What a process that reads a lake for one request bounds itself by.

The kernel ends it after its time even where nobody else does, refuses it more memory, and lets it
write no file, so that nothing is spilled to a disk that others need.
"""

import resource
import signal
import sys
from pathlib import Path
from typing import Final

READY: Final = b" "
"""Written once the lake is open."""
SPARE_BYTES: Final = 512 << 20
"""Of address space beside what the engine may use: its threads, rows on their way out."""


def begin(memory_bytes: int, secs: float) -> None:
    """Bound this process, and say that it begins."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    used = _address_space()
    if used:
        most = used + memory_bytes + SPARE_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    sys.stdout.buffer.write(READY)
    sys.stdout.buffer.flush()
    signal.setitimer(signal.ITIMER_REAL, secs)  # SIGALRM ends it, whatever it does


def _address_space() -> int:
    """Return the bytes of address space in use; 0 where nothing tells."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return 0
    return pages * resource.getpagesize()
