"""Values that are far longer than a row keeps, cut in the bytes they came in.

On its way to a row a value is in memory many times: as bytes, as text and in a column. Each
control character in a nested value is written as six. So what will be cut anyway is cut before.
"""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator
from typing import Any, Final, Protocol

from google.protobuf.message import Message
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

from tracegrade_collector.encoding.otlp import Signal, empty_request
from tracegrade_collector.encoding.wire_texts import WireRewriter, field_bytes

LONG_BYTES: Final = 8 << 20
"""Twice the kept length of a value; shorter ones are cut once their rows exist."""

ESCAPE_CHARS: Final = 6
"""Characters that JSON writes for a control character."""

CONTROLS: Final = bytes(range(0x20))
LEAST_BYTES: Final = LONG_BYTES // ESCAPE_CHARS
"""A nested value of fewer is not long as JSON either."""

MOST_NESTED_BYTES: Final = 24 << 20
"""Most bytes of an item's nested values as JSON; values beyond it are replaced by a note of their
length.
"""

PIECE_CHARS: Final = 1 << 20
PIECE_BYTES: Final = 3 << 18
"""Bytes encoded at once: a multiple of three, so the pieces' base64 is that of the whole."""

STRING_VALUE: Final = 1
"""The number of an `AnyValue`'s member."""


class Shorten(Protocol):
    """Shortens a text in UTF-8 if it is too long."""

    def __call__(self, text: bytes, length: int | None = None) -> bytes:
        """Return the text; `length` is that of the whole if it is only a beginning."""


def shortened(body: bytes, signal: Signal, shorten: Shorten) -> bytes:
    """Return a protobuf request without values that are too long; nested ones become texts."""
    return _rewritten(body, empty_request(signal).DESCRIPTOR, shorten)


def shortened_item(item: Message, shorten: Shorten) -> Message:
    """Return a span or log record without values that are too long."""
    if item.ByteSize() < LEAST_BYTES:
        return item
    return type(item).FromString(_rewritten(item.SerializeToString(), item.DESCRIPTOR, shorten))


def _rewritten(body: bytes, descriptor: Any, shorten: Shorten) -> bytes:
    values = _Values(shorten)
    least = 0 if _most_json_bytes(body) > MOST_NESTED_BYTES else LEAST_BYTES
    return WireRewriter(values.text, values.short, least).rewritten(body, descriptor)


def _most_json_bytes(body: bytes) -> int:
    """Return about the most bytes of nested values as JSON; 0 for short messages."""
    if len(body) * ESCAPE_CHARS <= MOST_NESTED_BYTES:
        return 0
    controls = len(body) - len(body.translate(None, CONTROLS))
    return len(body) + (ESCAPE_CHARS - 1) * controls


class _Values:
    """Shortens values of a request; holds none of their forms for longer than it needs it."""

    def __init__(self, shorten: Shorten) -> None:
        self._shorten = shorten
        self._left = MOST_NESTED_BYTES

    def text(self, content: bytes) -> bytes | None:
        """Return a shortened text; None if this one is short enough."""
        return self._shorten(content) if len(content) >= LONG_BYTES else None

    def short(self, content: bytes) -> bytes | None:
        """Return the bytes of an `AnyValue`, shortened; None if it is short enough."""
        before = content
        content = WireRewriter(self.text, None, LONG_BYTES).rewritten(content, AnyValue.DESCRIPTOR)
        value, is_long = AnyValue.FromString(content), len(content) >= LONG_BYTES
        match value.WhichOneof("value"):
            case "bytes_value" if is_long:
                del before, content
                encoded = b64encode(value.bytes_value)
                del value
                return field_bytes(STRING_VALUE, self._shorten(encoded))
            case "array_value" | "kvlist_value":
                text = self._nested_text(value)
                if text is not None:
                    return field_bytes(STRING_VALUE, text)
        return None if content is before else content

    def _nested_text(self, value: AnyValue) -> bytes | None:
        """Return the part of a nested value's JSON to keep; None if all of it may stay."""
        written, length = bytearray(), 0
        most = max(0, min(2 * LONG_BYTES, self._left))
        for piece in _pieces(value):
            length += len(piece)
            if len(written) < most:
                written += piece
        if length <= LONG_BYTES and length <= self._left:
            self._left -= length
            return None
        text = bytes(written)
        short = self._shorten(text) if length == len(text) else self._shorten(text, length)
        self._left -= len(short)
        return short


def _pieces(value: AnyValue) -> Iterator[bytes]:
    match value.WhichOneof("value"):
        case "string_value":
            yield from _quoted(value.string_value)
        case "array_value":
            yield b"["
            yield from _joined(_pieces(each) for each in value.array_value.values)
            yield b"]"
        case "kvlist_value":
            yield b"{"
            yield from _joined(_member(each) for each in value.kvlist_value.values)
            yield b"}"
        case "bytes_value":
            yield from _encoded(value.bytes_value)
        case None | "string_value_strindex":
            yield b"null"
        case kind:
            yield json.dumps(getattr(value, kind)).encode()


def _member(entry: KeyValue) -> Iterator[bytes]:
    yield from _quoted(entry.key)
    yield b":"
    yield from _pieces(entry.value)


def _joined(parts: Iterable[Iterator[bytes]]) -> Iterator[bytes]:
    for number, part in enumerate(parts):
        if number:
            yield b","
        yield from part


def _quoted(text: str) -> Iterator[bytes]:
    yield b'"'
    for start in range(0, len(text), PIECE_CHARS):
        piece = text[start : start + PIECE_CHARS]
        yield json.dumps(piece, ensure_ascii=False)[1:-1].encode()
    yield b'"'


def _encoded(content: bytes) -> Iterator[bytes]:
    yield b'"'
    for start in range(0, len(content), PIECE_BYTES):
        yield b64encode(content[start : start + PIECE_BYTES])
    yield b'"'


class NotedShortening:
    """Shortens texts, and notes whether any was."""

    def __init__(self, shorten: Shorten) -> None:
        """Shorten as this does."""
        self._shorten = shorten
        self.was_needed = False

    def __call__(self, text: bytes, length: int | None = None) -> bytes:
        """Return a text that is not too long."""
        self.was_needed = True
        return self._shorten(text, length)
