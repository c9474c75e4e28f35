"""Several exporters have one time together, however many of them do not answer."""

import threading
import time
from collections.abc import Iterator, Sequence
from functools import partial

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from tracegrade.sending.batches import ExportProcessor
from tracegrade.sending.export import RedactingExporter
from tracegrade.sending.flush import unsent_after


class Silent(SpanExporter):
    """An exporter whose collector answers when it is let go."""

    def __init__(self) -> None:
        self.let_go = threading.Event()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Wait."""
        self.let_go.wait(30)
        return SpanExportResult.SUCCESS


def _itself(exporter: SpanExporter) -> SpanExporter:
    return exporter


@pytest.fixture
def exporters() -> Iterator[list[ExportProcessor]]:
    """Three, each with a span of the same provider."""
    silent = [Silent() for _ in range(3)]
    found = [ExportProcessor(RedactingExporter(partial(_itself, each))) for each in silent]
    provider = TracerProvider(shutdown_on_exit=False)
    for each in found:
        provider.add_span_processor(each)
    provider.get_tracer("tests").start_span("one").end()
    yield found
    for exporter in silent:
        exporter.let_go.set()
    provider.shutdown()


def test_all_of_them_take_one_time(exporters: list[ExportProcessor]) -> None:
    """None of them has sent its span, and the third did not wait for the time of the others."""
    start = time.monotonic()
    assert list(unsent_after(exporters, 0.5)) == exporters
    assert time.monotonic() - start < 1.2
