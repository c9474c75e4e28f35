"""Rows of `raw_spans` and `raw_logs` → OTLP requests equal to the received ones.

The inverse of `rows.py`. A row is a dict as `pyarrow.Table.to_pylist` returns it: a map is a list
of (key, value) pairs, in order. Later entries of equal keys return to their positions. Redacted
items get one more attribute, which lists the redactions.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ResourceLogs, ScopeLogs
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from tracegrade_collector.encoding.otlp_json import read_json
from tracegrade_collector.rows.anyvalue import set_entry, set_value

TableRow = Mapping[str, Any]
REDACTED = "tracegrade.collector.redacted"
"""Attribute of an exported item: a list of `path rule`, such as `attributes.password named`."""

RESOURCE_COLUMNS = (
    "resource_attributes",
    "resource_attribute_types",
    "resource_dropped_attributes_count",
    "resource_entity_refs",
    "resource_schema_url",
)
SCOPE_COLUMNS = (
    "scope_attributes",
    "scope_attribute_types",
    "scope_dropped_attributes_count",
    "scope_name",
    "scope_version",
    "scope_schema_url",
)


def span_request(rows: Iterable[TableRow]) -> ExportTraceServiceRequest:
    """Return one request with these spans, in this order; neighbors share resource and scope."""
    request = ExportTraceServiceRequest()
    for starts_resource, spans in _by_scope(rows):
        if starts_resource:
            _set_resource(request.resource_spans.add(), spans[0])
        group = request.resource_spans[-1].scope_spans.add()
        _set_scope(group, spans[0])
        for row in spans:
            _set_span(group.spans.add(), row)
    return request


def log_request(rows: Iterable[TableRow]) -> ExportLogsServiceRequest:
    """Return one request with these log records, as `span_request` does."""
    request = ExportLogsServiceRequest()
    for starts_resource, logs in _by_scope(rows):
        if starts_resource:
            _set_resource(request.resource_logs.add(), logs[0])
        group = request.resource_logs[-1].scope_logs.add()
        _set_scope(group, logs[0])
        for row in logs:
            _set_log(group.log_records.add(), row)
    return request


def _by_scope(rows: Iterable[TableRow]) -> Iterator[tuple[bool, list[TableRow]]]:
    """Yield neighbors of one scope, and whether they are the first of their resource."""
    for _, of_resource in groupby(rows, _resource_key):
        for index, (_, of_scope) in enumerate(groupby(of_resource, _scope_key)):
            yield index == 0, list(of_scope)


def _resource_key(row: TableRow) -> list[Any]:
    return [*(row[name] for name in RESOURCE_COLUMNS), _duplicates(row, "resource")]


def _scope_key(row: TableRow) -> list[Any]:
    return [*(row[name] for name in SCOPE_COLUMNS), _duplicates(row, "scope")]


def _duplicates(row: TableRow, location: str) -> list[TableRow]:
    return [each for each in row["duplicate_attributes"] or () if each["place"] == location]


def _set_resource(group: ResourceSpans | ResourceLogs, row: TableRow) -> None:
    group.schema_url = row["resource_schema_url"]
    if row["resource_attributes"] is None:
        return
    resource = group.resource
    resource.SetInParent()
    resource.dropped_attributes_count = row["resource_dropped_attributes_count"]
    pairs, letters = row["resource_attributes"], row["resource_attribute_types"]
    _set_attributes(resource.attributes, pairs, letters, _duplicates(row, "resource"))
    for ref in json.loads(row["resource_entity_refs"] or "[]"):
        read_json(json.dumps(ref).encode(), resource.entity_refs.add())


def _set_scope(group: ScopeSpans | ScopeLogs, row: TableRow) -> None:
    group.schema_url = row["scope_schema_url"]
    if row["scope_attributes"] is None:
        return
    scope = group.scope
    scope.SetInParent()
    scope.name, scope.version = row["scope_name"], row["scope_version"]
    scope.dropped_attributes_count = row["scope_dropped_attributes_count"]
    pairs, letters = row["scope_attributes"], row["scope_attribute_types"]
    _set_attributes(scope.attributes, pairs, letters, _duplicates(row, "scope"))


def _set_attributes(
    target: Any,
    pairs: Iterable[tuple[str, str | None]],
    letters: str,
    repeated: Iterable[TableRow],
) -> None:
    entries = [(key, letter, text) for (key, text), letter in zip(pairs, letters, strict=True)]
    for each in sorted(
        repeated, key=itemgetter("position")
    ):  # so that each index is right by then
        entries.insert(each["position"], (each["key"], each["type"], each["value"]))
    for entry in entries:
        set_entry(target.add(), *entry)


def _set_span(span: Span, row: TableRow) -> None:
    oversize = dict(row["oversize"] or ())
    span.trace_id, span.span_id = bytes.fromhex(row["trace_id"]), bytes.fromhex(row["span_id"])
    span.parent_span_id = _id(row["parent_span_id"], oversize.get("parent_span_id"))
    span.trace_state, span.flags = row["trace_state"], row["flags"]
    span.name, span.kind = row["name"], row["kind"]
    span.start_time_unix_nano = _time(row["start_ns"], oversize.get("start_ns"))
    span.end_time_unix_nano = _time(row["end_ns"], oversize.get("end_ns"))
    if row["status_code"] is not None:
        span.status.SetInParent()
        span.status.code, span.status.message = row["status_code"], row["status_message"]
    _set_attributes(
        span.attributes, row["attributes"], row["attribute_types"], _duplicates(row, "span")
    )
    _mark_redacted(span, row)
    span.dropped_attributes_count = row["dropped_attributes_count"]
    span.dropped_events_count = row["dropped_events_count"]
    span.dropped_links_count = row["dropped_links_count"]
    for index, event in enumerate(row["events"]):
        location = f"events[{index}]"
        time = _time(event["time_ns"], oversize.get(f"{location}.time_ns"))
        _set_event(span.events.add(time_unix_nano=time), event, _duplicates(row, location))
    for index, link in enumerate(row["links"]):
        _set_link(span.links.add(), link, _duplicates(row, f"links[{index}]"))


def _set_event(event: Span.Event, row: TableRow, repeated: Iterable[TableRow]) -> None:
    event.name = row["name"]
    event.dropped_attributes_count = row["dropped_attributes_count"]
    _set_attributes(event.attributes, row["attributes"], row["attribute_types"], repeated)


def _set_link(link: Span.Link, row: TableRow, repeated: Iterable[TableRow]) -> None:
    link.trace_id, link.span_id = bytes.fromhex(row["trace_id"]), bytes.fromhex(row["span_id"])
    link.trace_state, link.flags = row["trace_state"], row["flags"]
    link.dropped_attributes_count = row["dropped_attributes_count"]
    _set_attributes(link.attributes, row["attributes"], row["attribute_types"], repeated)


def _set_log(log: LogRecord, row: TableRow) -> None:
    oversize = dict(row["oversize"] or ())
    log.time_unix_nano = _time(row["time_ns"], oversize.get("time_ns"))
    log.observed_time_unix_nano = _time(row["observed_time_ns"], oversize.get("observed_time_ns"))
    log.severity_number, log.severity_text = row["severity_number"], row["severity_text"]
    log.event_name, log.flags = row["event_name"], row["flags"]
    log.trace_id = _id(row["trace_id"], oversize.get("trace_id"))
    log.span_id = _id(row["span_id"], oversize.get("span_id"))
    log.dropped_attributes_count = row["dropped_attributes_count"]
    if row["body_type"] is not None:
        log.body.SetInParent()
        set_value(log.body, row["body_type"], row["body"])
    _set_attributes(
        log.attributes, row["attributes"], row["attribute_types"], _duplicates(row, "log")
    )
    _mark_redacted(log, row)


def _mark_redacted(item: Span | LogRecord, row: TableRow) -> None:
    found = row.get("redacted")  # a table of an earlier version has no such column
    if found:
        values = item.attributes.add(key=REDACTED).value.array_value.values
        for each in found:
            values.add(string_value=f"{each['path']} {each['rule']}")


def _id(column: str | None, oversize: str | None) -> bytes:
    return bytes.fromhex(column or oversize or "")


def _time(column: int | None, oversize: str | None) -> int:
    return int(oversize or 0) if column is None else column
