"""Limits of one tenant: memory, bytes per second, size of the log.

A limit is one tenant's share. The memory of all tenants together is limited as well, so that none
takes the room that others need.
"""

import time
from dataclasses import dataclass, field

from tracegrade_collector.encoding.request_limits import RequestLimits
from tracegrade_collector.errors import Unavailable

BURST_SECS = 2.0  # of its rate that a tenant may send at once after a pause


class Overloaded(Unavailable):
    """The collector holds as many bytes in memory as it may."""


class RateExceeded(Unavailable):
    """A tenant has sent more than its bytes per second."""

    retry_after_secs = 2


class InFlight:
    """Counts the bytes of requests in memory up to a limit, also in the whole's count."""

    def __init__(self, max_bytes: int, whole: "InFlight | None" = None) -> None:
        self.max_bytes = max_bytes
        self._whole = whole
        self.used_bytes = 0

    def hold(self, size: int) -> None:
        """Count bytes that came into memory.

        Raises:
            Overloaded: There would be more than the limit; none are counted.
        """
        if self.used_bytes + size > self.max_bytes:
            msg = f"{self.used_bytes} bytes are being received; send again later"
            raise Overloaded(msg)
        if self._whole:
            self._whole.hold(size)
        self.used_bytes += size

    def release(self, size: int) -> None:
        """Count bytes that left memory."""
        if self._whole:
            self._whole.release(size)
        self.used_bytes -= size


class Rate:
    """Limits bytes per second; an accepted request may overdraw, and the next ones wait.

    So a request larger than a second's worth is not refused forever.
    """

    def __init__(self, bytes_per_sec: int | None = None) -> None:
        """Allow so many bytes per second; None for no limit."""
        self.bytes_per_sec = bytes_per_sec
        self._credit_bytes = 0.0
        self._looked = -BURST_SECS

    def check(self) -> None:
        """Return if a request may come in.

        Raises:
            RateExceeded: Earlier requests have used up the rate.
        """
        if self.bytes_per_sec is None:
            return
        now = time.monotonic()
        earned = (now - self._looked) * self.bytes_per_sec
        self._credit_bytes = min(self._credit_bytes + earned, BURST_SECS * self.bytes_per_sec)
        self._looked = now
        if self._credit_bytes <= 0:
            msg = f"more than {self.bytes_per_sec} bytes per second were sent; send again later"
            raise RateExceeded(msg)

    def spend(self, size: int) -> None:
        """Count the bytes of a request that was let in."""
        self._credit_bytes -= size


@dataclass
class TenantLimits:
    """The limits of one tenant; changed in place when the token file changes."""

    in_flight: InFlight

    max_wal_bytes: int
    """Bytes of its log that may wait for landing."""

    request: RequestLimits
    """What one request may hold."""

    rate: Rate = field(default_factory=Rate)

    def adopt(self, other: "TenantLimits") -> None:
        """Apply changes that may come during requests: the log's size and the rate."""
        self.max_wal_bytes = other.max_wal_bytes
        self.rate.bytes_per_sec = other.rate.bytes_per_sec
