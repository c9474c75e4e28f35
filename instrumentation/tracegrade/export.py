"""The last step in this process: spans are cleaned and sent, and a lost batch is said once.

Runs in the batch processor's thread.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Final

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from tracegrade.clean import clean_span
from tracegrade.guard import guarded, say

EXIT_MILLIS: Final = 10_000  # how long a process that ends waits for its last spans to be sent
EXIT_RETRIES: Final = 1  # how often it tries again by then: a collector that is down gets a second


class CleanExporter(SpanExporter):
    """Cleans spans by the content mode and the user's `redact=`, then hands them on.

    Lost spans are counted, and said once; the exporter's own complaints are not passed on.
    """

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._closed = False
        self._complaints = _Complaints()
        for kind in type(exporter).__mro__:
            logging.getLogger(kind.__module__).addFilter(self._complaints)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send what may leave; never raises."""
        kept = [span for span in map(clean_span, spans) if span is not None]
        sent = self._send(kept) or SpanExportResult.FAILURE
        if sent is not SpanExportResult.SUCCESS:
            why = self._complaints.first or "the exporter failed"
            say("export", f"spans are being lost, the agent goes on: {why}", count=len(kept))
        return sent

    @guarded
    def _send(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        with self._complaints:
            return self._exporter.export(spans)

    def hurry(self) -> None:
        """Give up what is still being sent once it was tried again `EXIT_RETRIES` times."""
        self._complaints.give_up_after(EXIT_RETRIES, self.shutdown)

    def shutdown(self) -> None:
        """Close the exporter; a batch that is being retried is given up."""
        if not self._closed:
            self._closed = True
            self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Return whether the exporter has sent all it holds."""
        return self._exporter.force_flush(timeout_millis)


class QuickExitProcessor(BatchSpanProcessor):
    """The SDK's batch processor, which a collector that is down delays by a second at exit."""

    def shutdown(self) -> None:
        """Send what is queued, within the time there is."""
        exporter = self.span_exporter
        if isinstance(exporter, CleanExporter):
            exporter.hurry()
        batches = getattr(self, "_batch_processor", None)
        if batches is None:  # an SDK that is built otherwise: it waits for as long as it likes
            super().shutdown()  # type: ignore[no-untyped-call]  # the SDK's
        else:
            batches.shutdown(timeout_millis=EXIT_MILLIS)


class _Complaints(logging.Filter):
    """Keeps to itself what the exporter logs in a `with` block, in that block's thread."""

    def __init__(self) -> None:
        super().__init__()
        self.first = ""
        """The first complaint of all, to be said when spans were lost for it."""
        self._thread = threading.local()
        self._left: int | None = None
        self._give_up: Callable[[], None] = lambda: None

    def __enter__(self) -> None:
        self._thread.sending = True

    def __exit__(self, *_: object) -> None:
        self._thread.sending = False

    def give_up_after(self, retries: int, give_up: Callable[[], None]) -> None:
        """Call `give_up` at the complaint that follows `retries` more."""
        self._left, self._give_up = retries, give_up

    def filter(self, record: logging.LogRecord) -> bool:
        if not getattr(self._thread, "sending", False):
            return True
        self.first = self.first or record.getMessage()
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                self._give_up()
        return False
