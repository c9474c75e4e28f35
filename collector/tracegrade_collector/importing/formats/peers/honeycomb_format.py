"""The format `honeycomb`: span events of Honeycomb's query results → spans.

A file is JSON or CSV as Honeycomb's user interface downloads events, or an answer of its Query
Data API that groups by the columns of spans. Each event is one span, and its columns are the
attributes that the agent sent. Columns of a service are the resource, `library.name` is the scope.

The form is that of https://docs.honeycomb.io/investigate/analyze/explore-events and
https://docs.honeycomb.io/api/tag/Query-Data, read in November 2026.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from tracegrade import names
from tracegrade_collector.importing.import_part import ImportPart, ReadOptions
from tracegrade_collector.importing.records import FileRecord, JsonObject, read_records
from tracegrade_collector.importing.source import open_plain
from tracegrade_collector.importing.span_parts import (
    TIMES,
    add_attributes,
    as_json,
    one_scope,
    part_of,
    span_id_of,
    trace_id_of,
)
from tracegrade_collector.importing.spellings import as_list, as_object
from tracegrade_collector.importing.tables import csv_rows, time_ns

FORMAT: Final = "honeycomb"

_TRACE: Final = "trace.trace_id"
_SPAN: Final = "trace.span_id"
_PARENT: Final = "trace.parent_id"
_LACKS: Final = "no span of Honeycomb: it lacks trace.trace_id or trace.span_id"
_TIMES: Final = ("Timestamp", "timestamp", "time")
_OF_EVENTS: Final = frozenset(
    {
        *(_TRACE, _SPAN, _PARENT, "name", "duration_ms", "status_code", "status_message"),
        *("error", "span.kind", "type", "library.name", "library.version", "samplerate"),
        *("parent_name", "span.num_events", "span.num_links", "meta.signal_type", *_TIMES),
    }
)
"""Columns that Honeycomb or its form of spans adds; they are not attributes."""
_RESOURCE: Final = re.compile(
    r"(service|telemetry|deployment|host|process|container|k8s|cloud|os)\..+"
)
_NUMBER: Final = re.compile(
    r"(gen_ai\.usage|llm\.token_count|llm\.usage|gen_ai\.request)\..+|.+_tokens"
)
"""Columns whose cells are numbers in CSV, where every cell is text."""
_STATUS: Final = {
    "1": Status.STATUS_CODE_OK,
    "OK": Status.STATUS_CODE_OK,
    "2": Status.STATUS_CODE_ERROR,
    "ERROR": Status.STATUS_CODE_ERROR,
}


def fits(head: bytes, record: Any) -> bool:
    """Return whether a file that begins so is of this format."""
    if record is None:
        heading = head.split(b"\n", 1)[0]
        return _TRACE.encode() in heading and _SPAN.encode() in heading
    return any(map(_is_span, _events(record)[:1]))


def read(path: Path, _: ReadOptions) -> Iterator[ImportPart]:
    """Yield a part for each event, and one for each record without any."""
    for record in _records(path):
        location, events = f"{path}:{record.line}", _events(record.value)
        if record.fault or not events:
            yield ImportPart(location, fault=record.fault or _LACKS)
        for event in events:
            yield _part(location, event)


def _records(path: Path) -> Iterator[FileRecord]:
    with open_plain(path) as file:
        is_json = file.peek(64).lstrip(b" \t\r\n\xef\xbb\xbf")[:1] in (b"{", b"[")
        yield from read_records(file) if is_json else csv_rows(file)


def _events(record: Any) -> list[JsonObject]:
    """Return the events in a record: itself, or those of an answer of the Query Data API."""
    found = as_object(record)
    if not found or _TRACE in found:
        return [found] if found else []
    data = as_object(found.get("data"))
    rows = found.get("results", data.get("results"))
    if rows is None:
        return [{"time": found.get("time"), **data}] if data else [found]
    return [as_object(as_object(row).get("data", row)) for row in as_list(rows)]


def _is_span(event: JsonObject) -> bool:
    return bool(event.get(_TRACE) and event.get(_SPAN))


def _part(location: str, event: JsonObject) -> ImportPart:
    """Return the part that an event is; events and links of spans are counted."""
    kind = event.get("meta.annotation_type")
    if kind in ("span_event", "link") and event.get(_TRACE):
        return ImportPart(location, ignored={f"events of kind '{kind}'": 1})
    if not _is_span(event):
        return ImportPart(location, fault=_LACKS)
    event = dict(sorted(event.items()))  # the order of columns differs from file to file
    resource = {key: value for key, value in event.items() if _RESOURCE.fullmatch(key)}
    scope, version = (as_json(event.get(f"library.{key}") or "") for key in ("name", "version"))
    return part_of(location, one_scope([_span(event)], resource, scope, version), {})


def _span(event: JsonObject) -> Span:
    start = next((time for key in _TIMES if (time := time_ns(event.get(key)))), 0)
    end = start + _nanoseconds(event.get("duration_ms"))
    span = Span(
        trace_id=trace_id_of(FORMAT, event[_TRACE]),
        span_id=span_id_of(FORMAT, event[_SPAN]),
        name=as_json(event.get("name") or ""),
        start_time_unix_nano=start,
        end_time_unix_nano=end if end in TIMES else start,
    )
    if event.get(_PARENT):
        span.parent_span_id = span_id_of(FORMAT, event[_PARENT])
    span.status.code = _status(event)
    span.status.message = as_json(event.get("status_message") or "")
    attributes = {
        key: _value(key, value)
        for key, value in event.items()
        if key not in _OF_EVENTS and not _RESOURCE.fullmatch(key) and value not in (None, "")
    }
    if not event.get(_PARENT):
        attributes[names.IMPORT_FORMAT] = FORMAT
    add_attributes(span.attributes, attributes)
    return span


def _status(event: JsonObject) -> Status.StatusCode.ValueType:
    """Return the status; `error` decides where there is no code."""
    given = str(event.get("status_code") or "").upper()
    failed = str(event.get("error") or "").lower() == "true"
    unset = Status.STATUS_CODE_ERROR if failed else Status.STATUS_CODE_UNSET
    return _STATUS.get(given, unset)


def _nanoseconds(milliseconds: Any) -> int:
    """Return a duration; 0 for what is none."""
    try:
        return max(0, int(float(milliseconds) * 1e6))
    except (TypeError, ValueError, OverflowError):
        return 0


def _value(key: str, value: Any) -> Any:
    """Return an attribute's value; numbers of usage and of requests are texts in CSV."""
    if not isinstance(value, str) or not _NUMBER.fullmatch(key):
        return value
    try:
        number = float(value)
    except ValueError:
        return value
    return int(number) if number.is_integer() else number
