"""Records of other tools → parts of spans: attributes, ids, requests of one resource."""

import hashlib
import json
from base64 import b64decode
from collections.abc import Iterable, Mapping
from typing import Any, Final

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tracegrade_collector.encoding.otlp import (
    SPAN_ID_BYTES,
    TRACE_ID_BYTES,
    Signal,
    count_items,
    reject_invalid,
)
from tracegrade_collector.importing.import_part import ImportPart

INTEGERS: Final = range(-(2**63), 2**63)
TIMES: Final = range(2**64)


def fill(value: AnyValue, found: Any) -> None:
    """Set an attribute's value; what OTLP has no type for becomes JSON."""
    if isinstance(found, bool):
        value.bool_value = found
    elif isinstance(found, int) and found in INTEGERS:
        value.int_value = found
    elif isinstance(found, float):
        value.double_value = found
    elif isinstance(found, bytes):
        value.bytes_value = found
    else:
        value.string_value = as_json(found)


def as_json(found: Any) -> str:
    """Return a text unchanged, any other value as JSON."""
    if isinstance(found, str):
        return found
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"), default=str)


def add_attributes(attributes: Any, found: Mapping[str, Any]) -> None:
    """Add attributes; those that are None are left out."""
    for key, value in found.items():
        if value is not None:
            fill(attributes.add(key=str(key)).value, value)


def search_attributes(query: Any, documents: Any) -> dict[str, Any]:
    """Return the attributes of a search: its query, and what it found; None for what is absent."""
    text = query
    if isinstance(query, dict):
        text = next((query[key] for key in _QUERIES if isinstance(query.get(key), str)), query)
    given = {"gen_ai.retrieval.query.text": text, "gen_ai.retrieval.documents": documents}
    return {key: None if value in (None, "") else as_json(value) for key, value in given.items()}


_QUERIES: Final = ("query", "input", "question", "text")
"""Names that programs give to the query of a search."""


def trace_id_of(format_: str, name: Any) -> bytes:
    """Return the trace id that a name is, or one made from it."""
    return _id(format_, "trace", name, TRACE_ID_BYTES)


def span_id_of(format_: str, name: Any) -> bytes:
    """Return the span id that a name is, or one made from it."""
    return _id(format_, "span", name, SPAN_ID_BYTES)


def _id(format_: str, kind: str, name: Any, size: int) -> bytes:
    """Hex of an id's length is the id; UUIDs are hex of a trace's length."""
    text = str(name)
    try:
        found = bytes.fromhex(text.replace("-", ""))
    except ValueError:
        found = b""
    if len(found) == size and any(found):
        return found
    key = "\0".join((format_, kind, text))
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()[:size]


def padded_id(name: Any, size: int) -> bytes:
    """Return the id of a hex text, padded with zeros; other text as no id."""
    text = name if isinstance(name, str) else ""
    try:
        return bytes.fromhex(text.rjust(2 * size, "0")) if text else b""
    except ValueError:
        return b""


def decoded(text: Any) -> Any:
    """Return the decoded bytes of base64; any other value unchanged."""
    try:
        return b64decode(text, validate=True)
    except (TypeError, ValueError):
        return text


def one_scope(
    spans: Iterable[Span], resource: Mapping[str, Any], scope: str, version: str = ""
) -> ExportTraceServiceRequest:
    """Return a request of spans that one scope of one resource has sent."""
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    add_attributes(group.resource.attributes, resource)
    scope_spans = group.scope_spans.add()
    scope_spans.scope.name, scope_spans.scope.version = scope, version
    scope_spans.spans.extend(spans)
    return request


def part_of(
    location: str,
    request: ExportTraceServiceRequest,
    ignored: Mapping[str, int],
) -> ImportPart:
    """Return the part that a request is, without the spans whose ids are invalid."""
    rejections = reject_invalid(request)
    understood = {"spans": count_items(request)}
    return ImportPart(
        location, Signal.TRACES, request, rejections, understood=understood, ignored=dict(ignored)
    )
