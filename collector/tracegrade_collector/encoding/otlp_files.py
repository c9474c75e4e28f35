"""Files of OTLP → requests: one JSON document, JSON lines, or protobuf; each may be compressed.

With `format: proto` or `compression: zstd`, the file exporter of the OpenTelemetry Collector
writes messages with their length before each. A file's content decides its format, never its name.
"""

import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from tracegrade_collector.encoding.otlp import (
    Encoding,
    ExportRequest,
    Rejection,
    Signal,
    empty_request,
    groups,
    read,
    reject_invalid,
)
from tracegrade_collector.encoding.otlp_json import quoted_key, read_json
from tracegrade_collector.encoding.plain_files import READ_ERRORS, plain, plain_bytes
from tracegrade_collector.errors import MalformedRequest

MAX_LINE_BYTES = 64 * 2**20  # OTLP's own limit of a request
MAX_DOCUMENT_BYTES = 2**30  # a document of many requests; it is held in memory
PROBE_BYTES = 4096
LENGTH_BYTES = 4
FIRST_TAG = 0x08  # a message of protobuf begins with no smaller byte, a length below 64 MiB does
SIGNAL_OF_KEY = {
    "resourceSpans": Signal.TRACES,
    "resource_spans": Signal.TRACES,
    "resourceLogs": Signal.LOGS,
    "resource_logs": Signal.LOGS,
}
NO_OTLP_KEYS = "no resourceSpans or resourceLogs in it"
NEITHER = "neither JSON nor an OTLP protobuf request of spans or log records"


class OtlpPart(NamedTuple):
    """One request of a file, or the fault of that part of the file."""

    location: str
    """`file`, or `file:line`."""

    signal: Signal | None
    request: ExportRequest | None
    """Without the items that were rejected. NULL if there is a fault."""

    rejections: list[Rejection]
    fault: str | None
    is_repaired: bool = False
    """Whether some of its values could not be stored unchanged."""


def read_parts(path: Path) -> Iterator[OtlpPart]:
    """Yield the requests of a file in order, and a fault for each invalid part."""
    try:
        with path.open("rb") as file:
            yield from _parts(str(path), plain(file))
    except READ_ERRORS as error:
        yield _faulty(str(path), f"cannot be read: {error}")


def _parts(name: str, file: io.BufferedReader) -> Iterator[OtlpPart]:
    probe = file.peek(PROBE_BYTES)[:PROBE_BYTES]
    if not probe:
        yield _faulty(name, "the file is empty")
    elif _is_text(probe):
        yield from _json_parts(name, file)
    elif probe[0] < FIRST_TAG:
        yield from _framed_parts(name, file)
    else:
        yield _protobuf_part(name, file.read(MAX_DOCUMENT_BYTES + 1))


def _framed_parts(name: str, file: io.BufferedReader) -> Iterator[OtlpPart]:
    """Yield the parts of messages that each have their length, 4 bytes, before them."""
    number = 0
    while head := file.read(LENGTH_BYTES):
        number += 1
        location, length = f"{name}: message {number}", int.from_bytes(head)
        message = file.read(length) if length <= MAX_LINE_BYTES else b""
        if not message or len(message) < length:
            yield _faulty(location, NEITHER if number == 1 else "it is not whole")
            return
        yield from _message_parts(location, message)


def _message_parts(location: str, message: bytes) -> Iterator[OtlpPart]:
    try:
        body = plain_bytes(message, MAX_LINE_BYTES)
    except READ_ERRORS as error:
        yield _faulty(location, f"cannot be read: {error}")
        return
    if len(body) > MAX_LINE_BYTES:
        yield _faulty(location, f"more than {MAX_LINE_BYTES} bytes decompressed")
    elif _is_text(body[:PROBE_BYTES]):
        yield from object_parts(location, body)
    else:
        yield _protobuf_part(location, body)


def _is_text(probe: bytes) -> bool:
    """Protobuf has control characters: its second field of anything is tagged with one, 0x12."""
    return not set(probe) & (set(range(32)) - set(b"\t\n\r"))


def _json_parts(name: str, file: io.BufferedReader) -> Iterator[OtlpPart]:
    first = file.readline(MAX_LINE_BYTES)
    if _is_object(first):
        yield from _line_parts(name, _lines(first, file))
        return
    document = first + file.read(MAX_DOCUMENT_BYTES + 1 - len(first))
    if len(document) > MAX_DOCUMENT_BYTES:
        yield _faulty(
            name, f"more than {MAX_DOCUMENT_BYTES} bytes in one document; use JSON lines"
        )
        return
    lines = document.split(b"\n")
    if not _is_object(document) and any(_is_object(line) for line in lines):
        yield from _line_parts(name, lines)  # JSON lines with a broken first line
    else:
        yield from object_parts(name, document)


def _is_object(text: bytes) -> bool:
    try:
        return isinstance(json.loads(text.decode(errors="replace")), dict)
    except (ValueError, RecursionError):
        return False


def _lines(first: bytes, file: io.BufferedReader) -> Iterator[bytes]:
    """Yield the lines; a line above the limit is cut, but stays above it."""
    line = first
    while line:
        yield line
        while line and not line.endswith(b"\n"):
            line = file.readline(MAX_LINE_BYTES)
        line = file.readline(MAX_LINE_BYTES + 1)


def _line_parts(name: str, lines: Iterable[bytes]) -> Iterator[OtlpPart]:
    for number, line in enumerate(lines, start=1):
        if len(line) > MAX_LINE_BYTES:
            yield _faulty(f"{name}:{number}", f"line of more than {MAX_LINE_BYTES} bytes")
        elif line.strip():
            yield from object_parts(f"{name}:{number}", line)


def object_parts(location: str, body: bytes) -> Iterator[OtlpPart]:
    """Yield a part per signal in the object; a file may hold both."""
    keys = [key for key in SIGNAL_OF_KEY if f'"{key}"'.encode() in body]
    signals = dict.fromkeys(SIGNAL_OF_KEY[key] for key in keys)
    try:
        for signal in signals or Signal:
            request = empty_request(signal)
            replaced = read_json(body, request).replaced
            if signals:
                rejections = reject_invalid(request)
                yield OtlpPart(location, signal, request, rejections, None, replaced.total() > 0)
    except MalformedRequest as error:
        yield _faulty(location, str(error))
        return
    if not signals:
        yield _faulty(location, f"{NO_OTLP_KEYS}; found: {_keys(body)}")


def _keys(body: bytes) -> str:
    return (
        ", ".join(
            quoted_key(key).strip("'")
            for key in list(json.loads(body.decode(errors="replace")))[:5]
        )
        or "nothing"
    )


def _protobuf_part(name: str, body: bytes) -> OtlpPart:
    if len(body) > MAX_DOCUMENT_BYTES:
        return _faulty(name, f"more than {MAX_DOCUMENT_BYTES} bytes in one request")
    candidates = [part for signal in Signal if (part := _as_signal(name, body, signal))]
    if not candidates:
        return _faulty(name, NEITHER)
    return max(candidates, key=_likeness)


def _as_signal(name: str, body: bytes, signal: Signal) -> OtlpPart | None:
    try:
        request, reading = read(body, signal, Encoding.PROTOBUF)
    except MalformedRequest:
        return None
    if _clashes(request):
        return None
    is_repaired = reading.replaced.total() > 0
    return OtlpPart(name, signal, request, reject_invalid(request), None, is_repaired)


def _likeness(part: OtlpPart) -> int:
    """Count the items that have no field their signal does not know; protobuf names no signal."""
    return sum(not _unknown_fields(item) for item in _items(part.request))


def _clashes(request: ExportRequest) -> bool:
    """Return whether an item has a known field in a form only metrics have."""
    items = _items(request)
    return bool(items) and all(
        _unknown_fields(item) & set(item.DESCRIPTOR.fields_by_number) for item in items
    )


def _items(request: ExportRequest | None) -> list[Message]:
    return [item for group in groups(request) for item in group.items] if request else []


def _unknown_fields(item: Message) -> set[int]:
    fields = UnknownFieldSet(item)
    return {fields[index].field_number for index in range(len(fields))}


def _faulty(location: str, fault: str) -> OtlpPart:
    return OtlpPart(location, None, None, [], fault)
