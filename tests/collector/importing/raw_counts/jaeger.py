"""Counts an answer of Jaeger's interface."""

import json
from pathlib import Path
from typing import Any

from tests.collector.importing.raw_counts import RunCounts
from tests.collector.importing.raw_counts.span_counts import PlainSpan, span_counts


def raw_counts(path: Path) -> RunCounts:
    """Return the counts of one file."""
    traces = json.loads(path.read_text("utf-8"))["data"]
    return span_counts([_plain(span) for trace in traces for span in trace["spans"]])


def _plain(span: dict[str, Any]) -> PlainSpan:
    tags = {tag["key"]: tag["value"] for tag in span["tags"]}
    failed = tags.get("otel.status_code") == "ERROR"
    return PlainSpan(span["traceID"], span["operationName"], tags, failed)
