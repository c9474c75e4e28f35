"""Sends what several exporters have, in one time for all of them."""

import time
from collections.abc import Iterable, Iterator

from tracegrade.sending.batches import ExportProcessor


def unsent_after(exporters: Iterable[ExportProcessor], secs: float) -> Iterator[ExportProcessor]:
    """Send what is queued, and yield the exporters that have not sent it in time.

    Args:
        exporters: They are asked one after the other, each in what is left of the time.
        secs: How long all of them together may take.
    """
    end = time.monotonic() + secs
    for exporter in exporters:
        if not exporter.force_flush(max(0, int((end - time.monotonic()) * 1000))):
            yield exporter
