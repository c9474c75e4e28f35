"""Returns memory that the engine no longer uses to the system, shortly after pages were made.

The engine's allocator keeps it for all connections of the process: over 100 MB after large pages.
It returns what is free when any engine of the process ends.
"""

import asyncio
from typing import Final

import duckdb

RETURN_SECS: Final = 2.0
"""Seconds from a page until free memory is returned, and between two returns."""


class FreeMemory:
    """Returns free memory after pages."""

    def __init__(self) -> None:
        """Wait for a first page."""
        self._due = 0.0

    def return_soon(self) -> None:
        """Return it in a while, unless that is about to happen; for the thread of the loop."""
        loop = asyncio.get_running_loop()
        if loop.time() >= self._due:
            self._due = loop.time() + RETURN_SECS
            loop.call_later(RETURN_SECS, loop.run_in_executor, None, return_free_memory)


def return_free_memory() -> None:
    """Start an engine without a lake and end it."""
    duckdb.connect(config={"threads": 1}).close()
