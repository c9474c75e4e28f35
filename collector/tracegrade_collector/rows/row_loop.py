"""Requests → rows, message by message: slow, but right about everything that protobuf accepts.

`rows.py` falls back on it, and tests compare the fast way with it, row for row. `sources.py` adds
what spans share (resource, scope, record).
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import pyarrow as pa
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tracegrade_collector.encoding.otlp import NO_SPAN_ID, NO_TRACE_ID, Signal
from tracegrade_collector.rows.anyvalue import value_text
from tracegrade_collector.rows.attributes import Duplicate, attribute_columns, list_column
from tracegrade_collector.rows.sources import Record, items_and_sources, table
from tracegrade_lake.schema import EVENT, LINK, RAW_LOGS, RAW_SPANS

MAX_BIGINT = 2**63 - 1


def span_rows(records: Iterable[Record], collector_id: str) -> pa.Table:
    """Return one row of `raw_spans` per valid span, in the order received.

    Raises:
        MalformedRequest: A record is not a request of spans.
    """
    spans, sources = items_and_sources(records, Signal.TRACES)
    return table(RAW_SPANS, _span_columns(spans), spans, sources, collector_id)


def log_rows(records: Iterable[Record], collector_id: str) -> pa.Table:
    """Return one row of `raw_logs` per valid log record, in the order received.

    Raises:
        MalformedRequest: A record is not a request of logs.
    """
    logs, sources = items_and_sources(records, Signal.LOGS)
    return table(RAW_LOGS, _log_columns(logs), logs, sources, collector_id)


def _span_columns(spans: Sequence[Span]) -> dict[str, Any]:
    own = attribute_columns(("span", span.attributes) for span in spans)
    events, event_duplicates = _events(spans)
    links, link_duplicates = _links(spans)
    statuses = [span.status if span.HasField("status") else None for span in spans]
    return {
        "trace_id": [span.trace_id.hex() for span in spans],
        "span_id": [span.span_id.hex() for span in spans],
        "parent_span_id": [_id(span.parent_span_id, NO_SPAN_ID) for span in spans],
        "trace_state": [span.trace_state for span in spans],
        "flags": [span.flags for span in spans],
        "name": [span.name for span in spans],
        "kind": [span.kind for span in spans],
        "start_ns": [_bigint(span.start_time_unix_nano) for span in spans],
        "end_ns": [_bigint(span.end_time_unix_nano) for span in spans],
        "status_code": [status and status.code for status in statuses],
        "status_message": [status and status.message for status in statuses],
        "attributes": own.attributes,
        "attribute_types": own.types,
        "duplicate_attributes": [
            list(chain(*parts))
            for parts in zip(own.duplicates, event_duplicates, link_duplicates, strict=True)
        ],
        "events": events,
        "links": links,
        "dropped_attributes_count": [span.dropped_attributes_count for span in spans],
        "dropped_events_count": [span.dropped_events_count for span in spans],
        "dropped_links_count": [span.dropped_links_count for span in spans],
        "oversize": [_span_oversize(span) for span in spans],
    }


def _events(spans: Sequence[Span]) -> tuple[pa.ListArray, list[list[Duplicate]]]:
    events = [event for span in spans for event in span.events]
    counts = [len(span.events) for span in spans]
    own = attribute_columns(
        (f"events[{index}]", event.attributes)
        for span in spans
        for index, event in enumerate(span.events)
    )
    columns = {
        "time_ns": [_bigint(event.time_unix_nano) for event in events],
        "name": [event.name for event in events],
        "attributes": own.attributes,
        "attribute_types": own.types,
        "dropped_attributes_count": [event.dropped_attributes_count for event in events],
    }
    return list_column(counts, columns, EVENT), _per_owner(own.duplicates, counts)


def _links(spans: Sequence[Span]) -> tuple[pa.ListArray, list[list[Duplicate]]]:
    links = [link for span in spans for link in span.links]
    counts = [len(span.links) for span in spans]
    own = attribute_columns(
        (f"links[{index}]", link.attributes)
        for span in spans
        for index, link in enumerate(span.links)
    )
    columns = {
        "trace_id": [link.trace_id.hex() for link in links],
        "span_id": [link.span_id.hex() for link in links],
        "trace_state": [link.trace_state for link in links],
        "attributes": own.attributes,
        "attribute_types": own.types,
        "dropped_attributes_count": [link.dropped_attributes_count for link in links],
        "flags": [link.flags for link in links],
    }
    return list_column(counts, columns, LINK), _per_owner(own.duplicates, counts)


def _per_owner(
    duplicates: Iterable[list[Duplicate]], counts: Iterable[int]
) -> list[list[Duplicate]]:
    """Return the duplicates of each span's events (or links) as one list per span."""
    rest = iter(duplicates)
    return [[each for _ in range(count) for each in next(rest)] for count in counts]


def _log_columns(logs: Sequence[LogRecord]) -> dict[str, Any]:
    own = attribute_columns(("log", log.attributes) for log in logs)
    bodies = [value_text(log.body) if log.HasField("body") else (None, None) for log in logs]
    return {
        "time_ns": [_bigint(log.time_unix_nano) for log in logs],
        "observed_time_ns": [_bigint(log.observed_time_unix_nano) for log in logs],
        "severity_number": [log.severity_number for log in logs],
        "severity_text": [log.severity_text for log in logs],
        "event_name": [log.event_name for log in logs],
        "body": [text for _, text in bodies],
        "body_type": [letter for letter, _ in bodies],
        "attributes": own.attributes,
        "attribute_types": own.types,
        "duplicate_attributes": own.duplicates,
        "dropped_attributes_count": [log.dropped_attributes_count for log in logs],
        "trace_id": [_id(log.trace_id, NO_TRACE_ID) for log in logs],
        "span_id": [_id(log.span_id, NO_SPAN_ID) for log in logs],
        "flags": [log.flags for log in logs],
        "oversize": [_log_oversize(log) for log in logs],
    }


def _id(value: bytes, zeros: bytes) -> str | None:
    return value.hex() if value and value != zeros else None


def _bigint(value: int) -> int | None:
    return value if value <= MAX_BIGINT else None


def _span_oversize(span: Span) -> dict[str, str]:
    found = _large(start_ns=span.start_time_unix_nano, end_ns=span.end_time_unix_nano)
    if span.parent_span_id == NO_SPAN_ID:
        found["parent_span_id"] = span.parent_span_id.hex()
    for index, event in enumerate(span.events):
        if event.time_unix_nano > MAX_BIGINT:
            found[f"events[{index}].time_ns"] = str(event.time_unix_nano)
    return found


def _log_oversize(log: LogRecord) -> dict[str, str]:
    found = _large(time_ns=log.time_unix_nano, observed_time_ns=log.observed_time_unix_nano)
    if log.trace_id == NO_TRACE_ID:
        found["trace_id"] = log.trace_id.hex()
    if log.span_id == NO_SPAN_ID:
        found["span_id"] = log.span_id.hex()
    return found


def _large(**times: int) -> dict[str, str]:
    return {field: str(time) for field, time in times.items() if time > MAX_BIGINT}
