"""Limits the rate of requests to live services: early requests wait instead of failing.

A token bucket that holds one token: two requests are at least 1 / rate s apart, even if different
trials send them. Waiting requests continue in the order in which they arrived.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from tracegrade_harness.proxy.messages import ProxiedReply, ProxiedRequest
from tracegrade_harness.proxy.upstream import UpstreamFailed, UpstreamHandler
from tracegrade_harness.suite import upstreams


class RateLimiter:
    """Lets requests to one service pass one at a time; any thread may use it."""

    def __init__(self, rate: float) -> None:
        """Begin; the first request may pass at once.

        Args:
            rate: Most requests per second.
        """
        self._apart_secs = 1 / rate
        self._free_at = time.monotonic()
        self._queue: deque[object] = deque()
        self._changed = threading.Condition()

    def wait(self, is_given_up: Callable[[], bool]) -> bool:
        """Wait for a turn; return False if the wait is canceled."""
        me = object()
        with self._changed:
            self._queue.append(me)
            try:
                while not is_given_up():
                    left = self._free_at - time.monotonic() if self._queue[0] is me else None
                    if left is not None and left <= 0:
                        self._free_at = time.monotonic() + self._apart_secs
                        return True
                    self._changed.wait(left)
                return False
            finally:
                self._queue.remove(me)
                self._changed.notify_all()

    def recheck(self) -> None:
        """Let all waiting requests check whether they are canceled."""
        with self._changed:
            self._changed.notify_all()


class UpstreamRateLimits:
    """The rate limiters of a command's upstreams; equal URLs and rates share one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._limiters: dict[tuple[str, float], RateLimiter] = {}

    def of(self, upstream: upstreams.Upstream) -> RateLimiter | None:
        """Return the rate limiter of an upstream; None if it has no limit."""
        if upstream.rate is None:
            return None
        with self._lock:
            key = (upstream.url, upstream.rate)
            if key not in self._limiters:
                self._limiters[key] = RateLimiter(upstream.rate)
            return self._limiters[key]


class PacedUpstream:
    """An upstream whose requests wait for their turn."""

    def __init__(
        self,
        upstream: UpstreamHandler,
        limiter: RateLimiter,
        waiting: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """Prepare.

        Args:
            upstream: The service.
            limiter: Its rate limiter, which others share.
            waiting: A context that is open while a request waits.
        """
        self._upstream = upstream
        self._limiter = limiter
        self._waiting = waiting
        self._is_closed = False

    def __call__(self, request: ProxiedRequest) -> ProxiedReply:
        """Return the reply to a request, which may have to wait.

        Raises:
            UpstreamFailed: There is none, or it was closed while the request waited.
        """
        with self._waiting():
            is_its_turn = self._limiter.wait(lambda: self._is_closed)
        if not is_its_turn:
            msg = f"{request.method} {request.path} still waited for its turn; it was not sent"
            raise UpstreamFailed(msg)
        return self._upstream(request)

    def close(self) -> None:
        """Let no request pass any more; waiting requests fail."""
        self._is_closed = True
        self._limiter.recheck()
