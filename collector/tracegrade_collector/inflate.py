"""Decompression of request bodies, never beyond a limit.

A gigabyte of zeros is a megabyte of gzip, so inflating stops at the first byte too many.
"""

import zlib

from tracegrade_collector.errors import MalformedRequest

WINDOWS = {
    "gzip": 16 + zlib.MAX_WBITS,  # zlib's way to say: gzip's header and checksum
    "deflate": zlib.MAX_WBITS,
}


class TooLarge(Exception):
    """More bytes came, or came out, than allowed."""


def inflate(compressed: bytes, coding: str, max_bytes: int) -> bytes:
    """Return what a body holds; gzip may have several members.

    Args:
        compressed: The body as received.
        coding: Its `Content-Encoding`, one of `WINDOWS`.
        max_bytes: How much may come out.

    Raises:
        TooLarge: It holds more than `max_bytes`.
        MalformedRequest: It is not compressed in this way, or not whole.
    """
    pieces: list[bytes] = []
    while compressed or not pieces:
        member = zlib.decompressobj(WINDOWS[coding])
        piece = _inflate_member(member, compressed, coding, max_bytes + 1)
        max_bytes -= len(piece)
        if max_bytes < 0:
            raise TooLarge
        if not member.eof:
            msg = f"the {coding} body ends too early"
            raise MalformedRequest(msg)
        pieces.append(piece)
        compressed = member.unused_data
    return b"".join(pieces)


def _inflate_member(
    member: "zlib._Decompress", compressed: bytes, coding: str, max_bytes: int
) -> bytes:
    try:
        return member.decompress(compressed, max_bytes)
    except zlib.error as error:
        msg = f"the body is not {coding} as Content-Encoding says: {error}"
        raise MalformedRequest(msg) from error
