"""The last step in this process: spans are redacted and sent, and lost ones counted and reported.

Runs in the thread of `ExportProcessor`.
"""

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from tracegrade.guard import LOST, failures, guarded, logger, note, say
from tracegrade.redacting_exporter import clean_span
from tracegrade.sending.delivery import Delivers, Delivery
from tracegrade.whole_texts import whole_span

EXIT_RETRIES: Final = 1  # how often a process that ends tries again: about a second, if it is down
BATCH: Final = 512  # spans for an exporter that does not say how many it takes
FAILED: Final = "the exporter failed"

_BELOW: Final = ("urllib3.connectionpool", "urllib3.util.retry", "grpc._channel")
"""Loggers of the transports, whose lines would appear in the host's log."""


class RedactingExporter:
    """Redacts spans by the content mode and the user's `redact=`, then passes them on.

    Lost spans are counted by reason, and each reason is logged once; the exporter's own log lines
    are suppressed.
    """

    def __init__(self, make: Callable[[], SpanExporter]) -> None:
        """Export by what `make` returns, which is called once there is something to send."""
        self._make = make
        self._exporter: SpanExporter | None = None
        self.is_closed = False
        """Whether nothing more is sent."""
        self._quiet = False
        self._has_reported_wait = False
        self._warnings = _ExportWarnings()

    @guarded
    def open(self) -> None:
        """Make the exporter, if that has not been done."""
        if self._exporter is None:
            self._exporter = self._make()
            for kind in type(self._exporter).__mro__:
                logging.getLogger(kind.__module__).addFilter(self._warnings)
            for name in _BELOW:
                logging.getLogger(name).addFilter(self._warnings)

    def start_over(self) -> None:
        """Leave the exporter to the process that this one was forked from, with its connection."""
        self._exporter = None

    def batch_size(self) -> int:
        """Return how many spans to send at a time."""
        exporter = self._exporter
        return exporter.batch_size() if isinstance(exporter, Delivers) else BATCH

    def clean(self, spans: Iterable[ReadableSpan]) -> list[ReadableSpan]:
        """Return the spans that may leave; the guard counts spans that cannot be redacted."""
        return [span for span in map(clean_span, spans) if span is not None]

    def send(self, spans: Sequence[ReadableSpan]) -> Delivery:
        """Send clean spans, count the lost ones, and return the result; never raises."""
        self.open()
        self._warnings.last = ""
        delivery = self._deliver(spans)
        if delivery is None:
            delivery = Delivery(lost=Counter({FAILED: len(spans)}))
        for reason, count in delivery.lost.items():
            self.lose(reason, count, delivery.details.get(reason, ""))
        if delivery.waiting:
            self._say_wait(delivery)
        elif detail := delivery.details.get(""):
            self._say_once(f"the collector says: {detail}")
        return delivery

    @guarded
    def _deliver(self, spans: Sequence[ReadableSpan]) -> Delivery | None:
        exporter = self._exporter
        if exporter is None or self.is_closed:
            return None
        with self._warnings:
            if isinstance(exporter, Delivers):
                return exporter.deliver(spans)
            whole = [whole_span(span) for span in spans]  # as our own encoding does
            taken = exporter.export(whole) is SpanExportResult.SUCCESS
            return Delivery() if taken else None

    def lose(self, reason: str, count: int, detail: str = "") -> None:
        """Count lost spans, and log the first for each reason."""
        if self._quiet:
            note(LOST + reason, count)
            return
        why = detail or self._warnings.last
        text = f"spans are being lost, the agent continues: {reason}{why and ': '}{why}"
        say(LOST + reason, text, count)

    def _say_wait(self, delivery: Delivery) -> None:
        why = delivery.details.get(delivery.why) or self._warnings.last
        self._say_once(
            f"spans wait to be sent, the agent continues: {delivery.why}{why and ': '}{why}"
        )

    def _say_once(self, text: str) -> None:
        if not self._has_reported_wait and not self._quiet:
            self._has_reported_wait = True
            logger.warning("tracegrade: %s", text)

    def hurry(self) -> None:
        """Give up the current request after `EXIT_RETRIES` more attempts.

        From here on losses are counted, and reported together.
        """
        self._quiet = True
        self._warnings.give_up_after(EXIT_RETRIES, self.shutdown)

    def shutdown(self) -> None:
        """Close the exporter; a batch that is being retried is given up."""
        if not self.is_closed:
            self.is_closed = True
            if self._exporter is not None:
                with self._warnings:
                    self._exporter.shutdown()

    def force_flush(self, timeout_millis: int) -> bool:
        """Return whether the exporter has sent all it holds."""
        return self._exporter is None or self._exporter.force_flush(timeout_millis)


_reported: Counter[str] = Counter()


def say_what_was_lost() -> None:
    """Report how many spans of this process are lost, by reason, except those already reported."""
    lost = Counter({key: count for key, count in failures().items() if key.startswith(LOST)})
    if lost and lost != _reported:
        reasons = ", ".join(f"{key.removeprefix(LOST)} ({count})" for key, count in lost.items())
        logger.warning("tracegrade: %d spans were lost: %s", lost.total(), reasons)
    _reported.clear()
    _reported.update(lost)


class _ExportWarnings(logging.Filter):
    """Suppresses the exporter's log lines in a `with` block, in that block's thread."""

    def __init__(self) -> None:
        super().__init__()
        self.last = ""
        """The last suppressed log line, reported if spans were lost for it."""
        self._thread = threading.local()
        self._left: int | None = None
        self._give_up: Callable[[], None] = lambda: None

    def __enter__(self) -> None:
        self._thread.sending = getattr(self._thread, "sending", 0) + 1

    def __exit__(self, *_: object) -> None:
        self._thread.sending -= 1

    def give_up_after(self, retries: int, give_up: Callable[[], None]) -> None:
        """Call `give_up` at the complaint that follows `retries` more."""
        self._left, self._give_up = retries, give_up

    def filter(self, record: logging.LogRecord) -> bool:
        if not getattr(self._thread, "sending", 0):
            return True
        if record.levelno < logging.WARNING or record.name in _BELOW:
            return False
        self.last = record.getMessage()
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                self._give_up()
        return False
