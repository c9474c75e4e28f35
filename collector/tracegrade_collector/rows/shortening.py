"""Values that are far longer than a row keeps, cut in the bytes they came in.

On its way to a row a value is in memory many times over, as bytes, as text and in a column, and
each control character in a nested one is written as six. So what will be cut anyway is cut before.
"""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator
from typing import Final, Protocol

from google.protobuf.message import Message
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

from tracegrade_collector.encoding.otlp import Signal, empty_request
from tracegrade_collector.encoding.wire_texts import WireRewriter, field_bytes

LONG_BYTES: Final = 8 << 20
"""Twice what is kept of a value; shorter ones are cut when their rows are there."""

PIECE_CHARS: Final = 1 << 20
PIECE_BYTES: Final = 3 << 18
"""Encoded at once: a multiple of three, so that base64 of all pieces is that of the whole."""

STRING_VALUE: Final = 1
"""The number of an `AnyValue`'s member."""


class Shorten(Protocol):
    """Makes a text in UTF-8 one that is not too long."""

    def __call__(self, text: bytes, length: int | None = None) -> bytes:
        """Return it; of a text that is only the beginning of another, with the length of that."""


def shortened(body: bytes, signal: Signal, shorten: Shorten) -> bytes:
    """Return a protobuf request without values that are too long; nested ones become texts."""
    rewriter = WireRewriter(shorten, _Values(shorten).short, LONG_BYTES)
    return rewriter.rewritten(body, empty_request(signal).DESCRIPTOR)


def shortened_item(item: Message, shorten: Shorten) -> Message:
    """Return a span or log record without values that are too long."""
    if item.ByteSize() < LONG_BYTES:
        return item
    rewriter = WireRewriter(shorten, _Values(shorten).short, LONG_BYTES)
    short = rewriter.rewritten(item.SerializeToString(), item.DESCRIPTOR)
    return type(item).FromString(short)


class _Values:
    """Shortens values whole; holds none of their forms for longer than it needs it."""

    def __init__(self, shorten: Shorten) -> None:
        self._shorten = shorten

    def short(self, content: bytes) -> bytes:
        """Return a value, given as the bytes of an `AnyValue`, that is not too long."""
        rewriter = WireRewriter(self._shorten, None, LONG_BYTES)
        content = rewriter.rewritten(content, AnyValue.DESCRIPTOR)
        value, is_long = AnyValue.FromString(content), len(content) >= LONG_BYTES // 2
        match value.WhichOneof("value"):
            case "bytes_value":
                del content
                encoded = b64encode(value.bytes_value)
                del value
                return field_bytes(STRING_VALUE, self._shorten(encoded))
            case "array_value" | "kvlist_value" if is_long:
                del content
                return field_bytes(STRING_VALUE, _nested_text(value, self._shorten))
            case _:
                return content


def _nested_text(value: AnyValue, shorten: Shorten) -> bytes:
    """Return a nested value as JSON, as far as it may be kept."""
    written, length = bytearray(), 0
    for piece in _pieces(value):
        length += len(piece)
        if len(written) <= 2 * LONG_BYTES:
            written += piece
    text = bytes(written)
    return shorten(text) if length == len(text) else shorten(text, length)


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
