"""Holds ended spans briefly, until a thread of its own has sent them.

The SDK's batch processor drops spans without counting them once 2048 wait, which a tight loop
reaches even with a healthy collector. This one lets more spans wait, and puts more into one
request when more wait. The host never waits for room, so it runs at its own pace; dropped spans
are counted.
"""

import os
import queue
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from opentelemetry import context as otel_context
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan

from tracegrade.attachment import attach_in_thread
from tracegrade.guard import LOST, gauges, guarded, note, say
from tracegrade.processor import TracegradeProcessor
from tracegrade.sending.delivery import NO_ANSWER
from tracegrade.sending.export import RedactingExporter, say_what_was_lost

EXIT_SECS: Final = 8.0
"""Longest time that an ending process waits for its last spans to be sent."""
STUCK_EXIT_SECS: Final = 1.0
"""The same if the collector did not answer in the time of the last `flush`."""

NAME: Final = "tracegrade-export"
SUPPRESSED: Final = getattr(
    otel_context, "_SUPPRESS_INSTRUMENTATION_KEY", "suppress_instrumentation"
)
"""Key in the context that keeps instrumentations from tracing the sending of spans."""

FULL: Final = "queue full"
LATE: Final = "ended after the end"

_MOST_SPANS: Final = 16_384
_MOST_CHARS: Final = 64 * 1024**2
_FEW_SPANS: Final = 2048
"""That many may wait, however large they are: the SDK's own limit."""
_SAMPLE: Final = 8
_WAKE_AT: Final = 512
_DELAY_SECS: Final = 1.0
_PAUSE_SECS: Final = 0.2
"""Least time after a request before the end of a run alone causes another."""
_RETRY_SECS: Final = 5.0
_LONGEST_WAIT_SECS: Final = 60.0


@dataclass(frozen=True)
class QueueLimits:
    """Limits on the spans that wait: their number, their time, and the size of a request."""

    queue: int | None = None
    """Spans that may wait; None lets tracegrade decide."""
    delay_secs: float = _DELAY_SECS
    """How long a span waits for others."""
    batch: int | None = None
    """The most spans of a request; None if the exporter says."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> "QueueLimits":
        """Return the limits of `OTEL_BSP_*`; report and ignore values that are not positive."""
        delay = _positive(environment, "OTEL_BSP_SCHEDULE_DELAY")
        return cls(
            queue=_positive(environment, "OTEL_BSP_MAX_QUEUE_SIZE"),
            delay_secs=delay / 1000 if delay else _DELAY_SECS,
            batch=_positive(environment, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE"),
        )


def _positive(environment: Mapping[str, str], name: str) -> int | None:
    text = environment.get(name, "").strip()
    if text.isascii() and text.isdecimal() and 0 < int(text) < 2**31:
        return int(text)
    if text:
        say(f"settings: {name}", f"{name} must be a positive number, got '{text[:40]}'; ignored")
    return None


class _Flush:
    """Asks the thread to send all that waits."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.at = time.monotonic()
        self.all_sent = False


class ExportProcessor(TracegradeProcessor):
    """Passes spans to the exporter in batches, from a thread that starts with the first span.

    It starts so late because a host may still patch threads, as gevent does. A forked child starts
    with no spans, and with a thread and an exporter of its own.
    """

    def __init__(self, exporter: RedactingExporter, limits: QueueLimits | None = None) -> None:
        self._exporter = exporter
        self._limits = limits or QueueLimits.from_environment()
        limited = [each for each in (self._limits.batch, self._limits.queue) if each]
        self._wake_at = min([_WAKE_AT, *limited])
        self._most = self._fewest = self._limits.queue or _FEW_SPANS
        self._closed = False
        self._has_dropped = self._has_reported = False
        self._start_over()
        gauges.append(self._waiting)
        after_fork = weakref.WeakMethod(self._start_over)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=lambda: (start := after_fork()) and start())

    def _start_over(self) -> None:
        self._spans: deque[ReadableSpan] = deque()
        self._sending: list[ReadableSpan] = []
        """Clean spans that are being sent, or wait for the next try."""
        self._taken: deque[int] = deque(maxlen=_MOST_SPANS)
        """The ids of the spans that were taken out of the queue last, of several batches."""
        self._why = ""
        """Why they do, if the last try failed."""
        self._retry_at = self._sent_at = 0.0
        self._asks: queue.SimpleQueue[_Flush | None] | None = None
        self._is_called = self._is_stuck = False
        self._thread: threading.Thread | None = None
        self._is_starting = deque([True])
        self._exporter.start_over()

    def _waiting(self) -> Iterator[tuple[str, int]]:
        """Count what waits for a collector that did not take it, while it does not."""
        waiting = len(self._sending) + len(self._spans)
        if self._why and waiting:
            yield LOST + self._why, waiting

    def on_end(self, span: ReadableSpan) -> None:
        """Queue a span; takes no lock, so it may be called wherever a program is interrupted."""
        context = span.context
        if context is None or not context.trace_flags & 1:
            return
        spans = self._spans
        spans.append(span)
        if self._asks is None:
            self._start()
        waiting = len(spans)
        if waiting >= self._wake_at or span.parent is None or span.parent.is_remote:
            self._call(waiting)
        if self._closed:
            self._drop(0, LATE)

    def make_sure(self, span: ReadableSpan) -> None:
        """Queue a span whose end was interrupted, unless that came after it was queued."""
        waiting = [*self._spans]
        if _id(span) not in {*map(_id, waiting), *self._taken}:
            self.on_end(span)

    def _call(self, waiting: int) -> None:
        """Have the thread send the waiting spans; drop the oldest beyond the limit."""
        if not self._is_called and self._asks is not None:
            self._is_called = True
            self._asks.put(None)
        if waiting > self._most and not self._has_more_room():
            self._drop(self._most, FULL)

    def _has_more_room(self) -> bool:
        """Make room for twice as many spans, if the current ones are not too large for it."""
        if self._limits.queue or self._most >= _MOST_SPANS:
            return False
        if self._most * 2 * _chars(self._spans) > _MOST_CHARS:
            return False
        self._most *= 2
        return True

    def _drop(self, room: int, reason: str) -> None:
        while len(self._spans) > room:
            try:
                self._spans.popleft()
            except IndexError:  # already sent
                return
            note(LOST + reason)
            self._has_dropped |= reason is FULL

    @guarded
    def _start(self) -> None:
        try:
            self._is_starting.pop()  # atomic: only one of several threads continues
        except IndexError:
            return
        try:
            asks: queue.SimpleQueue[_Flush | None] = queue.SimpleQueue()
            self._exporter.open()
            thread = threading.Thread(target=self._work, args=(asks,), daemon=True, name=NAME)
            thread.start()
            self._thread, self._asks = thread, asks
        except BaseException:
            self._is_starting.append(True)  # the next span tries again
            raise

    @guarded
    def _work(self, asks: "queue.SimpleQueue[_Flush | None]") -> None:
        """Send spans until there are no more; instrumentations must not trace this."""
        attach_in_thread(otel_context.set_value(SUPPRESSED, True, Context()))
        while not self._closed:
            ask = self._next(asks)
            self._say_what_was_dropped()
            # A try that has failed since the asking is an answer.
            has_failed = ask is not None and self._sending and self._sent_at > ask.at
            self._answer(ask, not has_failed and self._send_all(send_now=ask is not None))
        all_sent = self._send_all(send_now=True)
        while not asks.empty():
            self._answer(asks.get(), all_sent)

    def _answer(self, ask: _Flush | None, all_sent: bool) -> None:
        if ask is not None:
            ask.all_sent = all_sent
            ask.done.set()

    def _next(self, asks: "queue.SimpleQueue[_Flush | None]") -> _Flush | None:
        """Wait for work; for the end of a run, not right after a request."""
        now = time.monotonic()
        ask = _get(asks, self._retry_at - now if self._sending else self._limits.delay_secs)
        self._is_called = False
        pause = self._sent_at + _PAUSE_SECS - time.monotonic()
        if ask is None and pause > 0 and len(self._spans) < self._wake_at and not self._closed:
            ask = _get(asks, pause)
            self._is_called = False
        return ask

    def _say_what_was_dropped(self) -> None:
        if self._has_dropped and not self._has_reported:
            self._has_reported = True
            self._exporter.lose(FULL, 0, "spans come faster than they are sent")

    def _send_all(self, *, send_now: bool) -> bool:
        """Send what waits: all that waits now if that was asked, else until few are left.

        Returns:
            Whether nothing waits for another try.
        """
        if self._sending and not send_now and time.monotonic() < self._retry_at:
            return False
        left, few = len(self._spans), 1
        while self._sending or (left > 0 if send_now else len(self._spans) >= few):
            if not self._sending:
                left -= self._take()
            if self._sending and (self._exporter.is_closed or not self._send()):
                return False
            few = self._wake_at
        return True

    def _take(self) -> int:
        """Take a batch out of the queue and hold it until it is sent; return its size."""
        size = self._limits.batch or self._exporter.batch_size()
        taken = self._sending
        for _ in range(min(size, len(self._spans))):
            try:
                self._taken.append(_id(self._spans[0]))  # before it is no longer in the queue
                taken.append(self._spans.popleft())
            except IndexError:  # already dropped
                break
        self._sending = self._exporter.clean(taken)
        return max(1, len(taken))

    def _send(self) -> bool:
        delivery = self._exporter.send(self._sending)
        self._sending, self._why = delivery.waiting, delivery.why
        now = self._sent_at = time.monotonic()
        if len(self._spans) < self._fewest:
            self._most = self._fewest
        if delivery.waiting:
            wait = delivery.wait_secs or _RETRY_SECS
            self._retry_at = now + min(wait, _LONGEST_WAIT_SECS)
        return not delivery.waiting

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Send all waiting spans in time, and return whether they were accepted or refused."""
        if self._closed and self._thread is not None:  # asked while it ends, by a signal's handler
            self._thread.join(timeout_millis / 1000)
        if self._closed or not (self._spans or self._sending):
            return not (self._spans or self._sending)
        ask = _Flush()
        if self._asks is None:
            self._answer(ask, self._send_all(send_now=True))
        else:
            self._asks.put(ask)
        self._is_stuck = not ask.done.wait(timeout_millis / 1000)
        return ask.all_sent and self._exporter.force_flush(timeout_millis)

    def say_what_waits(self) -> None:
        """Count waiting spans as lost, and report them: another program replaces this process."""
        left = len(self._sending) + len(self._spans)
        if left:
            self._exporter.lose(self._why or NO_ANSWER, left)

    def shutdown(self) -> None:
        """Send the waiting spans within the time left, and count the rest."""
        if self._closed:
            return
        self._closed = True
        self._exporter.hurry()
        if self._thread is None or self._asks is None:
            self._send_all(send_now=True)
        else:
            self._asks.put(None)
            self._thread.join(STUCK_EXIT_SECS if self._is_stuck else EXIT_SECS)
        left, why = len(self._sending) + len(self._spans), self._why or NO_ANSWER
        self._why = ""
        gauges.remove(self._waiting)
        if left:
            self._exporter.lose(why, left)
        self._exporter.shutdown()
        say_what_was_lost()


def _id(span: ReadableSpan) -> int:
    return span.context.span_id if span.context else 0


def _chars(spans: deque[ReadableSpan]) -> float:
    """Return how long the texts of a span are, by the mean of the last few."""
    few = [spans[-number] for number in range(1, _SAMPLE + 1)]
    values = [value for span in few for value in (span.attributes or {}).values()]
    return sum(len(value) for value in values if type(value) is str) / _SAMPLE


def _get(asks: "queue.SimpleQueue[_Flush | None]", secs: float) -> _Flush | None:
    try:
        return asks.get(timeout=max(0.0, secs))
    except queue.Empty:
        return None
