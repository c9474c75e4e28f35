"""The format `jaeger`: traces as Jaeger's HTTP interface and its pages write them → spans.

A file is an answer (`{"data": [trace, …]}`), traces, or spans as storage keeps them, one a line.
Ids, times (microseconds), tags, logs, references and processes are kept.

The form is that of https://github.com/jaegertracing/jaeger (`internal/uimodel`, a403f4b),
compared in December 2026.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from tracegrade.names import SERVICE_NAME
from tracegrade_collector.encoding.otlp import SPAN_ID_BYTES, TRACE_ID_BYTES
from tracegrade_collector.importing.import_part import ImportPart, ReadOptions
from tracegrade_collector.importing.records import FileRecord, JsonObject, read_records
from tracegrade_collector.importing.source import open_plain
from tracegrade_collector.importing.span_parts import (
    TIMES,
    add_attributes,
    decoded,
    padded_id,
    part_of,
)

FORMAT: Final = "jaeger"

_KINDS: Final = {
    name.removeprefix("SPAN_KIND_").lower(): number for name, number in Span.SpanKind.items()
}
_STATUS: Final = {"OK": Status.STATUS_CODE_OK, "ERROR": Status.STATUS_CODE_ERROR}
_SPENT: Final = (
    "span.kind",
    "otel.scope.name",
    "otel.scope.version",
    "otel.library.name",
    "otel.library.version",
    "otel.status_code",
    "otel.status_description",
    "w3c.tracestate",
)
"""Tags that Jaeger makes from fields that are not attributes in OTLP."""


def fits(record: Any) -> bool:
    """Return whether a file that begins with this record is of this format."""
    return any(_is_span(span) for trace in _traces(record) for span in _spans(trace)[:1])


def read(path: Path, _: ReadOptions) -> Iterator[ImportPart]:
    """Yield a part for each trace of a file, and one for each invalid record."""
    with open_plain(path) as file:
        for record in read_records(file):
            yield from _parts(f"{path}:{record.line}", record)


def _parts(location: str, record: FileRecord) -> Iterator[ImportPart]:
    traces = _traces(record.value)
    if record.fault or not traces:
        fault = record.fault or "no trace of Jaeger: it has neither spans nor data with traces"
        yield ImportPart(location, fault=fault)
    for trace in traces:
        ignored: Counter[str] = Counter()
        yield part_of(location, _request(trace, ignored), ignored)


def _traces(record: Any) -> Sequence[JsonObject]:
    """Return the traces in a record; a span alone is one."""
    if not isinstance(record, dict):
        return ()
    data = record.get("data")
    found = data if isinstance(data, list) else [data or record]
    return [trace for trace in found if isinstance(trace, dict) and _spans(trace)]


def _spans(trace: JsonObject) -> Sequence[Any]:
    spans = trace.get("spans")
    return spans if isinstance(spans, list) else [trace] if _is_span(trace) else []


def _is_span(value: Any) -> bool:
    return isinstance(value, dict) and "traceID" in value and "spanID" in value


def _request(trace: JsonObject, ignored: Counter[str]) -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    processes = trace.get("processes")
    resources: dict[str, Any] = {}
    scopes: dict[tuple[str, str, str], Any] = {}
    for found in _spans(trace):
        if not _is_span(found):
            ignored["spans without a traceID or spanID"] += 1
            continue
        tags = _tags(found.get("tags"), ignored)
        process_id = str(found.get("processID", ""))
        scope = (
            process_id,
            str(tags.get("otel.scope.name") or tags.get("otel.library.name") or ""),
            str(tags.get("otel.scope.version") or tags.get("otel.library.version") or ""),
        )
        if process_id not in resources:
            process = found.get("process") or _at(processes, process_id)
            resources[process_id] = _resource(request, process, ignored)
        if scope not in scopes:
            scopes[scope] = resources[process_id].scope_spans.add()
            scopes[scope].scope.name, scopes[scope].scope.version = scope[1:]
        _write(scopes[scope].spans.add(), found, tags, ignored)
    return request


def _resource(request: ExportTraceServiceRequest, process: Any, ignored: Counter[str]) -> Any:
    group = request.resource_spans.add()
    name = {SERVICE_NAME: _at(process, "serviceName")}
    add_attributes(group.resource.attributes, name | _tags(_at(process, "tags"), ignored))
    return group


def _write(span: Span, found: JsonObject, tags: dict[str, Any], ignored: Counter[str]) -> None:
    span.trace_id = padded_id(found["traceID"], TRACE_ID_BYTES)
    span.span_id = padded_id(found["spanID"], SPAN_ID_BYTES)
    span.name = str(found.get("operationName", ""))
    span.kind = _KINDS.get(str(tags.get("span.kind")), Span.SPAN_KIND_UNSPECIFIED)
    span.start_time_unix_nano = _nanos(found.get("startTime"))
    span.end_time_unix_nano = span.start_time_unix_nano + _nanos(found.get("duration"))
    span.trace_state = str(tags.get("w3c.tracestate", ""))
    failed = "ERROR" if tags.get("error") in (True, "true") else ""
    span.status.code = _STATUS.get(
        str(tags.get("otel.status_code") or failed), Status.STATUS_CODE_UNSET
    )
    span.status.message = str(tags.get("otel.status_description", ""))
    add_attributes(
        span.attributes, {key: value for key, value in tags.items() if key not in _SPENT}
    )
    _write_references(span, found)
    for log in _list(found.get("logs")):
        fields = _tags(_at(log, "fields"), ignored)
        event = span.events.add(
            name=str(fields.pop("event", "")), time_unix_nano=_nanos(_at(log, "timestamp"))
        )
        add_attributes(event.attributes, fields)
    if found.get("warnings"):
        ignored["warnings of Jaeger"] += 1


def _write_references(span: Span, found: JsonObject) -> None:
    """Write the parent, which is a CHILD_OF reference if there is one, and links to others."""
    references = [
        (
            str(_at(each, "refType")),
            padded_id(_at(each, "traceID"), TRACE_ID_BYTES),
            padded_id(_at(each, "spanID"), SPAN_ID_BYTES),
        )
        for each in _list(found.get("references"))
    ]
    own = [each for each in references if each[1] == span.trace_id]
    parent = min(own, key=lambda each: each[0] != "CHILD_OF", default=None)
    if parent:
        span.parent_span_id = parent[2]
    else:
        span.parent_span_id = padded_id(found.get("parentSpanID"), SPAN_ID_BYTES)
    for each in references:
        if each is not parent:
            span.links.add(trace_id=each[1], span_id=each[2])


def _tags(tags: Any, ignored: Counter[str]) -> dict[str, Any]:
    """Return tags as attributes: a list of them, or an object as storage may keep them."""
    if isinstance(tags, dict):
        return dict(tags)
    found = {}
    for tag in _list(tags):
        if isinstance(tag, dict) and "key" in tag:
            value = tag.get("value")
            found[str(tag["key"])] = decoded(value) if tag.get("type") == "binary" else value
        else:
            ignored["tags without a key"] += 1
    return found


def _nanos(micros: Any) -> int:
    """Return microseconds as nanoseconds; anything else is 0."""
    try:
        nanos = int(micros) * 1000
    except (TypeError, ValueError, OverflowError):
        return 0
    return nanos if nanos in TIMES else 0


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _at(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None
