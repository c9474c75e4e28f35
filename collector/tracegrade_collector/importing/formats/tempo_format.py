"""The format `tempo`: a trace as Tempo's HTTP interface and Grafana write it → spans.

It is OTLP under other names: `batches` (or `trace`) for `resourceSpans`, in old files
`instrumentationLibrarySpans` for `scopeSpans`. Ids are in base64 or hex, enums are names or
numbers.

The form is that of https://github.com/grafana/tempo (`pkg/tempopb/tempo.proto`, 01b1150),
compared in December 2026.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tracegrade_collector.encoding.otlp_json import read_json
from tracegrade_collector.errors import MalformedRequest
from tracegrade_collector.importing.import_part import ImportPart, ReadOptions
from tracegrade_collector.importing.records import FileRecord, read_records
from tracegrade_collector.importing.source import open_plain
from tracegrade_collector.importing.span_parts import part_of

FORMAT: Final = "tempo"

_GROUPS: Final = "scopeSpans"
_OLD_GROUPS: Final = "instrumentationLibrarySpans"
_OLD_SCOPE: Final = "instrumentationLibrary"


def fits(record: Any) -> bool:
    """Return whether a file that begins with this record is of this format."""
    batches = _batches(record)
    if not batches or not isinstance(batches[0], dict):
        return False
    return _OLD_GROUPS in batches[0] or ("resourceSpans" not in record and _GROUPS in batches[0])


def read(path: Path, _: ReadOptions) -> Iterator[ImportPart]:
    """Yield a part for each batch of a file, and one for each record without any."""
    with open_plain(path) as file:
        for record in read_records(file):
            yield from _parts(f"{path}:{record.line}", record)


def _parts(location: str, record: FileRecord) -> Iterator[ImportPart]:
    batches = _batches(record.value)
    if record.fault or not batches:
        yield ImportPart(location, fault=record.fault or "no trace of Tempo: it has no batches")
    for batch in batches:
        yield _part(location, batch)


def _part(location: str, batch: Any) -> ImportPart:
    request = ExportTraceServiceRequest()
    try:
        read_json(_as_otlp(batch), request)
    except MalformedRequest as error:
        return ImportPart(location, fault=str(error))
    return part_of(location, request, {})


def _batches(record: Any) -> list[Any]:
    """Return what OTLP calls resource spans, wherever the answer has them."""
    inner = record.get("trace", record) if isinstance(record, dict) else None
    if not isinstance(inner, dict):
        return []
    batches = inner.get("batches", inner.get("resourceSpans"))
    return batches if isinstance(batches, list) else []


def _as_otlp(batch: Any) -> bytes:
    if isinstance(batch, dict) and isinstance(batch.get(_OLD_GROUPS), list):
        batch = {_GROUPS: [_renamed(group) for group in batch[_OLD_GROUPS]], **batch}
    return json.dumps({"resourceSpans": [batch]}).encode()


def _renamed(group: Any) -> Any:
    old = isinstance(group, dict) and _OLD_SCOPE in group
    return {"scope": group[_OLD_SCOPE], **group} if old else group
