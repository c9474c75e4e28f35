"""Accepts one request from HTTP or gRPC: checks, counts and logs it before it is answered.

HTTP and gRPC are two thin layers over `Intake.accept`, so that both refuse the same things for the
same reasons. Nothing here knows a status code; each refusal is an error of its own class.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple, Protocol, TypeVar

from tracegrade_collector.edge.counters import Counters
from tracegrade_collector.encoding import otlp
from tracegrade_collector.encoding.agent_records import may_hold_records, spans_in_records
from tracegrade_collector.encoding.otlp import Decoded, Encoding, Rejection, Signal
from tracegrade_collector.encoding.otlp_json import JsonReading
from tracegrade_collector.encoding.otlp_metrics import count_points
from tracegrade_collector.encoding.request_limits import (
    LEAST_FIELD_BYTES,
    MAX_ITEM_VALUES,
    RequestLimits,
    check_item_values,
    check_items_limit,
    check_limits,
    check_repeated,
)
from tracegrade_collector.errors import CollectorError, MalformedRequest, Unavailable
from tracegrade_collector.land.quarantine import Quarantine
from tracegrade_collector.log.wal import Entry
from tracegrade_collector.receive import inflate
from tracegrade_collector.receive.tenant_limits import TenantLimits

INLINE_BYTES = {Encoding.PROTOBUF: 480 << 10, Encoding.JSON: 16 << 10}
"""Size for decoding at once, in 0.5 ms (a hostile request: 16): a thread costs as much to start,
and threads share the GIL.
"""

INLINE_ITEMS = 2_000  # checked at once, within 1 ms
DECODERS = 2  # parsing holds the interpreter's lock, so more threads would only hold more memory

METRICS = "metrics"
NOT_STORED = "metrics are not stored"
"""Why each data point is refused."""

T = TypeVar("T")

logger = logging.getLogger(__name__)


class LogFull(Unavailable):
    """The log holds as much as it may; landing takes its time."""

    retry_after_secs = 3


class Log(Protocol):
    """A log that makes entries durable."""

    @property
    def is_failing(self) -> bool:
        """Whether it could not, a moment ago."""

    async def append(self, entry: Entry) -> int:
        """Return the entry's number once it is on the disk."""


class DecodedRequest(NamedTuple):
    """A decoded request: how many items it holds, and which of them are refused."""

    items: int
    rejections: list[Rejection]
    reading: JsonReading


class Accepted(NamedTuple):
    """Result of an accepted request, for its sender."""

    rejections: list[Rejection]
    warning: str = ""
    """Parts that were not understood; no item was refused because of them."""


class Intake:
    """Takes requests in: decides whether there is room, checks them and logs them."""

    def __init__(
        self,
        log: Log,
        quarantine: Quarantine,
        limits: TenantLimits,
        counters: Counters,
        tenant: str,
    ) -> None:
        self._log = log
        self._quarantine = quarantine
        self._limits = limits
        self._tenant = tenant
        self._decoders = ThreadPoolExecutor(DECODERS, "decode")
        self.wal_bytes = 0
        self.counters = counters

    @contextmanager
    def reserve(self) -> Iterator["ByteReservation"]:
        """Reserve memory for one request; the bytes are released at the end of the block.

        Raises:
            Unavailable: The log has grown to its limit, or cannot be written, or more came than
                the tenant's bytes per second.
        """
        reservation = ByteReservation(self)
        try:
            self.check_ready()
            self._limits.rate.check()
            yield reservation
        except CollectorError as error:
            self.counters.add("refused_requests", reason=type(error).__name__)
            raise
        finally:
            self._limits.in_flight.release(reservation.used_bytes)

    def hold(self, size: int) -> None:
        """Count bytes that came into memory.

        Raises:
            Overloaded: There would be more than the limit.
        """
        self._limits.in_flight.hold(size)

    def check_ready(self) -> None:
        """Check that requests can be received.

        Raises:
            Unavailable: They cannot at the moment; the message gives the reason.
        """
        if self._log.is_failing:
            msg = "the log could not be written a moment ago"
            raise Unavailable(msg)
        if self.wal_bytes >= self._limits.max_wal_bytes:
            msg = f"{self.wal_bytes} bytes wait to land, which is the limit; send again later"
            raise LogFull(msg)

    async def inflate(self, body: bytes, coding: str, max_bytes: int) -> bytes:
        """Return a decompressed body.

        Raises:
            TooLarge: It is larger than `max_bytes`.
            MalformedRequest: It is not compressed like this.
        """
        return await self._in_thread(inflate.inflate, body, coding, max_bytes)

    async def accept(self, body: bytes, signal: Signal, encoding: Encoding) -> Accepted:
        """Return the rejections of a request, once all the rest of it is durable.

        Raises:
            TooLarge: It holds more than allowed.
            MalformedRequest: It cannot be decoded; it is in quarantine.
            Unavailable: It is not durable.
        """
        self._limits.rate.spend(len(body))
        try:
            checked = await self._check(body, signal, encoding)
            if checked.items:
                await self._add_spans(body, signal, encoding)
                await self._log.append(_entry(body, signal, encoding, checked, self._tenant))
        except CollectorError:
            raise
        except Exception as error:
            logger.exception("a request of %d bytes could not be processed", len(body))
            msg = "the collector failed on this request and did not store it"
            raise Unavailable(msg) from error
        self._count(checked, signal)
        self.counters.add("received_bytes", len(body), signal=signal)
        return Accepted(checked.rejections, self._warning(checked, signal))

    async def refuse_metrics(self, body: bytes, encoding: Encoding) -> int:
        """Return the number of data points in a request; none is stored.

        Raises:
            TooLarge: It holds more than allowed.
            MalformedRequest: It cannot be decoded.
        """
        self._limits.rate.spend(len(body))
        arguments = body, encoding, self._limits.request
        is_small = len(body) <= INLINE_BYTES[encoding]
        count = (
            count_points(*arguments)
            if is_small
            else await self._in_thread(count_points, *arguments)
        )
        self.counters.add("received_requests", signal=METRICS)
        self.counters.add("received_items", count, signal=METRICS)
        self.counters.add("rejected_items", count, signal=METRICS, reason=NOT_STORED)
        self.counters.add("received_bytes", len(body), signal=METRICS)
        return count

    async def _check(self, body: bytes, signal: Signal, encoding: Encoding) -> DecodedRequest:
        limits = self._limits.request
        try:
            if len(body) > INLINE_BYTES[encoding]:
                return await self._in_thread(check, body, signal, encoding, limits)
            decoded = decode(body, signal, encoding, limits)
            if otlp.holds_at_most(decoded.request, INLINE_ITEMS):
                return check_items(decoded)
            return await self._in_thread(check_items, decoded)
        except MalformedRequest:
            has_room = await asyncio.to_thread(
                self._quarantine.keep_request, body, signal, encoding
            )
            self.counters.add("quarantined_requests", signal=signal, kept=str(has_room).lower())
            raise

    async def _in_thread(self, work: Callable[..., T], *arguments: object) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._decoders, work, *arguments)

    async def _add_spans(self, body: bytes, signal: Signal, encoding: Encoding) -> None:
        """Log the spans made of agents' records; equal ones are stored once."""
        if signal is not Signal.LOGS or not may_hold_records(body):
            return
        if made := await self._in_thread(spans_in_records, body, encoding):
            request, count = made
            now = time.time_ns()
            entry = Entry(
                now, Signal.TRACES, Encoding.PROTOBUF, self._tenant, False, request, count
            )
            await self._log.append(entry)

    def _count(self, checked: DecodedRequest, signal: Signal) -> None:
        self.counters.add("received_requests", signal=signal)
        self.counters.add("received_items", checked.items, signal=signal)
        for reason, count in checked.rejections:
            self.counters.add("rejected_items", count, signal=signal, reason=reason)
        for reason, count in checked.reading.replaced.items():
            self.counters.add("replaced_values", count, signal=signal, reason=reason)

    def _warning(self, checked: DecodedRequest, signal: Signal) -> str:
        """Return a warning for a request in which nothing was found, and count it."""
        if checked.items or not checked.reading.unknown:
            return ""
        self.counters.add("not_understood_requests", signal=signal)
        found = ", ".join(checked.reading.unknown)
        return f"no {signal} were found in this request, so nothing was stored; unknown: {found}"

    def close(self) -> None:
        """End the decoding threads."""
        self._decoders.shutdown()


class ByteReservation:
    """The bytes that one request holds of its tenant's memory."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self.used_bytes = 0

    def hold(self, size: int) -> None:
        """Count more bytes of this request.

        Raises:
            Overloaded: All requests together would hold more than the limit.
        """
        self._intake.hold(size)
        self.used_bytes += size


def _entry(
    body: bytes, signal: Signal, encoding: Encoding, checked: DecodedRequest, tenant: str
) -> Entry:
    has_rejects, is_repaired = bool(checked.rejections), bool(checked.reading.replaced)
    now = time.time_ns()
    return Entry(now, signal, encoding, tenant, has_rejects, body, checked.items, is_repaired)


def check(
    body: bytes, signal: Signal, encoding: Encoding, at_most: RequestLimits
) -> DecodedRequest:
    """Decode a request and find its rejected items; raises as `decode`."""
    return check_items(decode(body, signal, encoding, at_most))


def decode(body: bytes, signal: Signal, encoding: Encoding, at_most: RequestLimits) -> Decoded:
    """Return the decoded request, and notes on reading it.

    Raises:
        TooLarge: It holds more than allowed.
        MalformedRequest: It cannot be decoded.
    """
    check_limits(body, signal, encoding, at_most)
    decoded = otlp.read(body, signal, encoding)
    check_items_limit(decoded.request, encoding, at_most)
    check_repeated(decoded.request)
    if len(body) > LEAST_FIELD_BYTES * MAX_ITEM_VALUES:
        check_item_values(decoded.request)
    return decoded


def check_items(decoded: Decoded) -> DecodedRequest:
    """Find the rejected items of a request, and take them out."""
    request, reading = decoded
    return DecodedRequest(otlp.count_items(request), otlp.reject_invalid(request), reading)
