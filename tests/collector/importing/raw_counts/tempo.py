"""Counts a trace of Tempo, in batches."""

import json
from pathlib import Path
from typing import Any

from tests.collector.importing.raw_counts import RunCounts
from tests.collector.importing.raw_counts.span_counts import PlainSpan, span_counts


def raw_counts(path: Path) -> RunCounts:
    """Return the counts of one file."""
    batches = json.loads(path.read_text("utf-8"))["batches"]
    scopes = [
        scope
        for batch in batches
        for scope in batch.get("scopeSpans") or batch["instrumentationLibrarySpans"]
    ]
    return span_counts([_plain(span) for scope in scopes for span in scope["spans"]])


def _plain(span: dict[str, Any]) -> PlainSpan:
    attributes = {each["key"]: next(iter(each["value"].values())) for each in span["attributes"]}
    failed = (span.get("status") or {}).get("code") in {2, "STATUS_CODE_ERROR"}
    return PlainSpan(span["traceId"], span["name"], attributes, failed)
