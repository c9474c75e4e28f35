"""All HTTP connections of a collector: limits on their number and duration.

A thousand idle connections are a thousand exporters between two batches, so they are not a reason
to refuse another one. Instead, the connection that has been idle longest is closed, and its client
opens another.
"""

import asyncio
import resource
from typing import Protocol

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.edge.counters import Counters

OTHER_FILES = 200  # logs, tables, pipes and libraries; 100 were counted
MAX_FILES = 65_536  # more are not used, and some systems allow a billion
SWEEP_SECS = 0.5  # how exact a deadline is; one look at 10,000 connections takes 1 ms


def raise_file_limit() -> None:
    """Let this process open as many files as the system allows it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


def fair_share_of_files() -> int:
    """Return how many connections each of two protocols may have, so that logs can be opened."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(1, (soft - OTHER_FILES) // 2)


class Connection(Protocol):
    """A connection of any kind: a deadline, and a way to end it."""

    deadline: float
    """When it has taken too long, in seconds of the event loop."""

    def expire(self) -> None:
        """End the connection because its deadline is over."""


class Connections:
    """The open connections; idle ones are also in the order of their idle time."""

    def __init__(self, config: CollectorConfig, counters: Counters) -> None:
        self._max_connections = min(config.max_connections, fair_share_of_files())
        self.max_head_secs = config.max_head_secs
        self.max_body_secs = config.max_body_secs
        self._counters = counters
        self._open: set[Connection] = set()
        self._resting: dict[Connection, None] = {}
        counters.gauge("http_connections", lambda: len(self._open))

    def refused(self, reason: str) -> None:
        """Count a request that no application saw."""
        self._counters.add("refused_requests", reason=reason)

    def opened(self, connection: Connection) -> None:
        """Count a new connection; if it is one too many, end the longest idle one."""
        self._open.add(connection)
        self._resting[connection] = None
        if len(self._open) > self._max_connections:
            self._counters.add("evicted_connections")
            next(iter(self._resting)).expire()

    def closed(self, connection: Connection) -> None:
        """Forget a connection."""
        self._open.discard(connection)
        self._resting.pop(connection, None)

    def working(self, connection: Connection) -> None:
        """Count a connection as one with a request."""
        self._resting.pop(connection, None)

    def resting(self, connection: Connection) -> None:
        """Count a connection as one that may be closed."""
        self._resting[connection] = None

    async def expire_late(self) -> None:
        """End connections that take too long, for ever."""
        now = asyncio.get_running_loop().time
        while True:
            for late in [each for each in self._open if each.deadline < now()]:
                late.expire()
            await asyncio.sleep(SWEEP_SECS)
