"""The format `otlp`: spans and log records as OTLP writes them → requests.

A file is one JSON document, JSON lines, or protobuf. It may also be a list in JSON, of requests or
of their `resourceSpans`. With `format: proto` or `compression: zstd`, the file exporter of the
OpenTelemetry Collector writes messages with their length before each, which are read as well. A
file's content decides its format, never its name.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tracegrade_collector.encoding.agent_records import spans_of_agents
from tracegrade_collector.encoding.otlp import Signal
from tracegrade_collector.encoding.otlp_files import (
    SIGNAL_OF_KEY,
    OtlpPart,
    object_parts,
    read_parts,
)
from tracegrade_collector.importing.formats import tempo_format
from tracegrade_collector.importing.import_part import ImportPart, ReadOptions
from tracegrade_collector.importing.layout import BLANK
from tracegrade_collector.importing.records import read_records
from tracegrade_collector.importing.source import open_plain

_KEY_OF_GROUP: Final = {
    "scopeSpans": "resourceSpans",
    "scope_spans": "resourceSpans",
    "scopeLogs": "resourceLogs",
    "scope_logs": "resourceLogs",
}
"""The key of a request's list, by a key of its items."""
_HEAD_BYTES: Final = 4096


def fits(record: Any) -> bool:
    """Return whether a file that begins with this record is of this format."""
    if not isinstance(record, dict) or tempo_format.fits(record):
        return False
    return any(key in record for key in (*SIGNAL_OF_KEY, *_KEY_OF_GROUP))


def read(path: Path, _: ReadOptions) -> Iterator[ImportPart]:
    """Yield a part for each request, and one for the spans that its log records represent."""
    for part in _listed_parts(path) if _is_list(path) else read_parts(path):
        yield ImportPart(*part)
        if part.request and (made := spans_of_agents(part.request)):
            yield ImportPart(part.location, Signal.TRACES, made)


def _is_list(path: Path) -> bool:
    with open_plain(path) as file:
        return file.peek(_HEAD_BYTES).lstrip(BLANK).startswith(b"[")


def _listed_parts(path: Path) -> Iterator[OtlpPart]:
    is_empty = True
    with open_plain(path) as file:
        for record in read_records(file):
            is_empty = False
            location = f"{path}:{record.line}"
            if record.fault:
                yield OtlpPart(location, None, None, [], record.fault)
            else:
                yield from object_parts(location, json.dumps(_request(record.value)).encode())
    if is_empty:
        yield OtlpPart(str(path), None, None, [], "the list is empty")


def _request(value: Any) -> Any:
    """Return a request, from a request or one of the groups that its list holds."""
    if not isinstance(value, dict) or any(key in value for key in SIGNAL_OF_KEY):
        return value
    keys = (_KEY_OF_GROUP[key] for key in _KEY_OF_GROUP if key in value)
    return {key: [value]} if (key := next(keys, None)) else value
