"""Flushes several exporters within one common time."""

import time
from collections.abc import Iterable, Iterator

from tracegrade.sending.batches import ExportProcessor


def unsent_after(exporters: Iterable[ExportProcessor], secs: float) -> Iterator[ExportProcessor]:
    """Flush the exporters, and yield those that have not sent all their spans in time.

    Args:
        exporters: They are flushed one after the other, each within the rest of the time.
        secs: How long all of them together may take.
    """
    end = time.monotonic() + secs
    for exporter in exporters:
        if not exporter.force_flush(max(0, int((end - time.monotonic()) * 1000))):
            yield exporter
