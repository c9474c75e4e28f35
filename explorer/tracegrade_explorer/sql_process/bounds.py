"""Limits the process that answers one request, and reports that it begins."""

import sys
from typing import Final

from tracegrade_queries.engine.bounds import bound, end_after

READY: Final = b" "
"""Written once the lake is open."""


def begin(memory_bytes: int, secs: float) -> None:
    """Limit this process, and signal that it begins."""
    bound(memory_bytes)
    sys.stdout.buffer.write(READY)
    sys.stdout.buffer.flush()
    end_after(secs)
