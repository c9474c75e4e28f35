"""Changes texts of a protobuf message in its bytes, and leaves all other bytes unchanged.

The library cannot do this. It refuses a whole request for one text that is not UTF-8, and holds
all of a request to change a part of it.
"""

import codecs
from collections.abc import Callable, Iterator
from enum import Enum
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

from google.protobuf.descriptor import Descriptor, FieldDescriptor

LENGTH_DELIMITED: Final = 2
VARINT: Final = 0
FIXED_BYTES: Final = {1: 8, 3: 0, 4: 0, 5: 4}
"""Bytes of other kinds of field; 3 and 4 enclose a group."""

MAX_DEPTH: Final = 100
"""The decoder's own limit."""

REPLACEMENT: Final = "\ufffd"
"""Stands for characters that could not be read."""

MOST_REPLACED: Final = 4 << 20
"""Most characters replaced in a request; each takes three bytes instead of one."""

PIECE_BYTES: Final = 1 << 20
_DECODER: Final = codecs.getincrementaldecoder("utf-8")


class BadWire(ValueError):
    """The bytes are not a protobuf message."""


class _Kind(Enum):
    TEXT = "text"
    MESSAGE = "message"
    VALUE = "value"


class _Field(NamedTuple):
    kind: _Kind
    descriptor: Descriptor | None


Rewrite: TypeAlias = Callable[[bytes], bytes | None]
"""Returns other bytes, or None to keep these."""


class WireRewriter:
    """Rewrites texts, and if wished whole `AnyValue`s, of at least so many bytes."""

    def __init__(self, text: Rewrite, value: Rewrite | None = None, least_bytes: int = 0) -> None:
        self._text = text
        self._value = value
        self._least_bytes = least_bytes

    def rewritten(self, body: bytes, descriptor: Any) -> bytes:
        """Return the rewritten message; the same bytes if nothing changed.

        Raises:
            BadWire: It is not a protobuf message.
        """
        if len(body) < self._least_bytes:
            return body
        found = self._message(memoryview(body), descriptor, 0)
        return body if found is None else found

    def _message(self, body: memoryview, descriptor: Descriptor, depth: int) -> bytes | None:
        if depth > MAX_DEPTH:
            msg = f"more than {MAX_DEPTH} messages inside one another"
            raise BadWire(msg)
        fields = _fields(descriptor)
        written = bytearray()  # a list of pieces takes ten times their bytes if they are short
        copied_to = at = 0
        while at < len(body):
            start = at
            tag, size, at = _head(body, at)
            end = at + size
            if end > len(body):
                msg = f"a field ends at {end} of {len(body)} bytes"
                raise BadWire(msg)
            if tag & 7 == LENGTH_DELIMITED and size >= self._least_bytes:
                field = fields.get(tag >> 3)
                new = self._member(body[at:end], field, depth) if field else None
                if new is not None:
                    written += body[copied_to:start]
                    written += _varint(tag) + _varint(len(new))
                    written += new
                    copied_to = end
            at = end
        return bytes(written + body[copied_to:]) if copied_to else None

    def _member(self, content: memoryview, field: _Field, depth: int) -> bytes | None:
        if field.kind is _Kind.TEXT or field.descriptor is None:
            return self._text(bytes(content))
        if field.kind is _Kind.VALUE and self._value:
            return self._value(bytes(content))
        return self._message(content, field.descriptor, depth + 1)


class Utf8Repair:
    """Replaces bytes that are not UTF-8 in the texts of a request, and counts the texts."""

    def __init__(self) -> None:
        self.count = 0
        self._left = MOST_REPLACED

    def __call__(self, text: bytes) -> bytes | None:
        """Return the text with U+FFFD for invalid UTF-8; None if all of it is valid.

        Beyond `MOST_REPLACED` a text becomes one U+FFFD: many of them would triple a request.
        """
        try:
            for _ in _decoded(text, "strict"):
                pass
        except UnicodeDecodeError:
            self.count += 1
            return self._replaced(text)
        return None

    def _replaced(self, text: bytes) -> bytes:
        found = []
        for piece in _decoded(text, "replace"):
            self._left -= piece.count(REPLACEMENT)
            if self._left < 0:
                return REPLACEMENT.encode()
            found.append(piece.encode())
        return b"".join(found)


def _decoded(text: bytes, errors: str) -> Iterator[str]:
    """Yield a text in pieces: one wide character makes a whole text four times as long."""
    if len(text) <= PIECE_BYTES:
        yield text.decode(errors=errors)
        return
    decoder = _DECODER(errors)
    for start in range(0, len(text), PIECE_BYTES):
        yield decoder.decode(text[start : start + PIECE_BYTES])
    yield decoder.decode(b"", final=True)


def _head(body: memoryview, at: int) -> tuple[int, int, int]:
    """Return a field's tag, the bytes of its content, and where this begins."""
    try:
        tag, at = read_varint(body, at)
        kind = tag & 7
        if kind == LENGTH_DELIMITED:
            size, at = read_varint(body, at)
            return tag, size, at
        if kind == VARINT:
            return tag, read_varint(body, at)[1] - at, at
        return tag, FIXED_BYTES[kind], at
    except (IndexError, KeyError):
        msg = f"no field at byte {at}"
        raise BadWire(msg) from None


def read_varint(body: bytes | memoryview, at: int) -> tuple[int, int]:
    """Return a number and where it ends.

    Raises:
        IndexError: It ends after the body.
    """
    byte = body[at]
    if byte < 0x80:
        return byte, at + 1
    number = byte & 0x7F
    for shift in range(7, 70, 7):
        at += 1
        byte = body[at]
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
    return number, at + 1


def _varint(number: int) -> bytes:
    """Return a number as protobuf writes it."""
    found = bytearray()
    while number >= 0x80:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


def field_bytes(number: int, content: bytes) -> bytes:
    """Return a field of a message as protobuf writes it."""
    return _varint(number << 3 | LENGTH_DELIMITED) + _varint(len(content)) + content


@cache
def _fields(descriptor: Descriptor) -> dict[int, _Field]:
    """Return the fields of a message that are or hold texts, by number."""
    found = {}
    for field in descriptor.fields:
        if field.type == FieldDescriptor.TYPE_STRING:
            found[field.number] = _Field(_Kind.TEXT, None)
        elif field.message_type:
            is_value = field.message_type.name == "AnyValue"
            kind = _Kind.VALUE if is_value else _Kind.MESSAGE
            found[field.number] = _Field(kind, field.message_type)
    return found
