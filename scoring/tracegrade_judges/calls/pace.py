"""Limits concurrent requests to an endpoint: fewer when it asks for that, then more again."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

GOOD_ONES_FOR_ONE_MORE: Final = 20
MAX_FAILURES: Final = 20
"""After this many failures in a row, of any requests, no more requests are sent."""
MAX_WAIT_SECS: Final = 120.0
FIRST_WAIT_SECS: Final = 0.5


class TooManyFailures(Exception):
    """The endpoint failed so often in a row that more requests are useless."""


class ConcurrencyLimit:
    """Limits the requests under way: half if asked to slow down, one more after 20 good ones.

    All requests wait while the endpoint accepts no more.
    """

    def __init__(self, most: int) -> None:
        """Begin with as many at a time as there may ever be."""
        self.allowed = most
        self._most = most
        self._under_way = 0
        self._good = 0
        self._failures = 0
        self._not_before = 0.0
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Hold a place for one request.

        Raises:
            TooManyFailures: The last requests all failed.
        """
        await self._enter()
        try:
            yield
        finally:
            async with self._changed:
                self._under_way -= 1
                self._changed.notify_all()

    async def _enter(self) -> None:
        while True:
            async with self._changed:
                await self._changed.wait_for(self._is_free)
                if self._failures >= MAX_FAILURES:
                    self._changed.notify_all()
                    raise TooManyFailures
                wait = self._not_before - time.monotonic()
                if wait <= 0:
                    self._under_way += 1
                    return
            await asyncio.sleep(wait)

    def _is_free(self) -> bool:
        return self._failures >= MAX_FAILURES or self._under_way < self.allowed

    def went_well(self) -> None:
        """Count a request that was answered."""
        self._failures = 0
        self._good += 1
        if self._good % GOOD_ONES_FOR_ONE_MORE == 0:
            self.allowed = min(self._most, self.allowed + 1)

    def failed(self, tries: int, *, retry_after: float | None = None, slower: bool) -> None:
        """Count a request that was not answered, and let all wait as long as the endpoint asks.

        Args:
            tries: How often this request was sent, at least once.
            retry_after: Seconds that the endpoint asked for; None: 0.5 s, doubled with each try.
            slower: Whether the endpoint answered that there were too many requests.
        """
        self._failures += 1
        self._good = 0
        if slower:
            self.allowed = max(1, self.allowed // 2)
        wait = FIRST_WAIT_SECS * 2 ** (tries - 1) if retry_after is None else retry_after
        due = time.monotonic() + min(max(wait, 0.0), MAX_WAIT_SECS)
        self._not_before = max(self._not_before, due)
