"""Requests in pieces that fit into memory as rows, even if a few bytes become many values.

An empty attribute takes two bytes in a request and some 300 while it becomes rows. So a piece is
bounded by its bytes and by the most values that its requests can hold. Counting the values exactly
takes as long as making rows, so the bytes with which a value could begin are counted.

A resource and a scope are sent once and repeated in each of their rows, so their size in all rows
is bounded, too. A prompt of 50 kB on a command line is 25 MB in a request of 512 spans.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

import numpy as np

from tracegrade_collector.encoding.otlp import Encoding, Signal, decode
from tracegrade_collector.errors import MalformedRequest
from tracegrade_collector.rows.wire import repeated_bytes

T = TypeVar("T")

PIECE_VALUES: Final = 1_000_000
"""As many as one item may hold; each takes some 300 bytes."""

PIECE_REPEATED_BYTES: Final = 64 << 20
"""Bytes of resources and scopes in the rows of a piece; as columns they exist several times in
memory.
"""

_AT_ONCE: Final = 1 << 16
"""Bytes that stay in the processor's cache: 0.2 ns each, ten times less than all at once."""

_KIND_BITS: Final = np.uint8(7)
_LENGTH_DELIMITED: Final = np.uint8(2)


def most_values(body: bytes, encoding: Encoding) -> int:
    """Return how many items and values a request can hold at most.

    In protobuf each begins with a tag whose last three bits say that a length follows; in text
    one byte in thirteen looks like that. In JSON each is an object.
    """
    if encoding is Encoding.JSON:
        return body.count(b"{")
    read = np.frombuffer(body, np.uint8)
    return sum(
        int(np.count_nonzero((read[start : start + _AT_ONCE] & _KIND_BITS) == _LENGTH_DELIMITED))
        for start in range(0, len(read), _AT_ONCE)
    )


def most_repeated_bytes(body: bytes, encoding: Encoding) -> int:
    """Return about how many bytes of resources and scopes the rows of a request repeat."""
    if encoding is Encoding.PROTOBUF:
        return repeated_bytes(body)
    try:
        return sum(
            repeated_bytes(decode(body, signal, encoding).SerializeToString()) for signal in Signal
        )
    except MalformedRequest:
        return 0  # no request, which is said when its rows are made


def pieces(
    requests: Iterable[T], read: Callable[[T], tuple[bytes, Encoding]], most_bytes: int
) -> Iterator[list[T]]:
    """Yield the requests in their order, in lists that become rows one after the other.

    A list is emptied when the next one is asked for, so that its requests can be dropped.

    Args:
        requests: In any order.
        read: Returns the body of a request, and how it is encoded.
        most_bytes: A piece ends with the request that reaches so many bytes of bodies; before, if
            the next one could bring more than `PIECE_VALUES`, or `PIECE_REPEATED_BYTES`. One
            request may do so alone.
    """
    piece: list[T] = []
    bytes_ = values = repeated = 0
    for request in requests:
        body, encoding = read(request)
        more, again = most_values(body, encoding), most_repeated_bytes(body, encoding)
        if piece and (values + more > PIECE_VALUES or repeated + again > PIECE_REPEATED_BYTES):
            yield piece
            piece.clear()
            bytes_ = values = repeated = 0
        piece.append(request)
        bytes_, values, repeated = bytes_ + len(body), values + more, repeated + again
        if bytes_ >= most_bytes:
            yield piece
            piece.clear()
            bytes_ = values = repeated = 0
    if piece:
        yield piece
