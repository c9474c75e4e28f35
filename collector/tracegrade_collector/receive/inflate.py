"""Decompression of request bodies, never beyond a limit.

A gigabyte of zeros is a megabyte of gzip and 33 kB of zstd, so inflating stops at the first byte
too many.
"""

import sys
import zlib
from collections.abc import Callable
from typing import Final, Protocol

from tracegrade_collector.errors import MalformedRequest, TooLarge

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

BLOCK_BYTES = 16 << 10  # fed at once; 16 MiB may come out, and what follows a member is copied
MAX_MEMBERS = 10_000  # an empty member has 20 bytes, and takes as long as a kilobyte
MAX_ZSTD_WINDOW_LOG = 23  # 8 MiB, RFC 9659; a frame could ask for 2 GiB


class Decompressor(Protocol):
    """Decompresses one member; `zlib` and `zstd` have the same methods for it."""

    @property
    def eof(self) -> bool:
        """Whether the member is whole."""

    @property
    def unused_data(self) -> bytes:
        """Bytes that follow the end of the stream."""

    def decompress(self, data: memoryview, max_length: int, /) -> bytes:
        """Return at most so many bytes more."""


def _gzip() -> Decompressor:
    return zlib.decompressobj(16 + zlib.MAX_WBITS)  # zlib's way to say: gzip's header and checksum


def _deflate() -> Decompressor:
    return zlib.decompressobj()


def _zstd() -> Decompressor:
    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: MAX_ZSTD_WINDOW_LOG}
    return zstd.ZstdDecompressor(options=options)


CODINGS: Final[dict[str, Callable[[], Decompressor]]] = {
    "gzip": _gzip,
    "deflate": _deflate,
    "zstd": _zstd,
}
"""By their name in `Content-Encoding`."""


def inflate(compressed: bytes, coding: str, max_bytes: int) -> bytes:
    """Return the content of a body; it may have several members, or frames.

    Args:
        compressed: The body as received.
        coding: Its `Content-Encoding`, one of `CODINGS`.
        max_bytes: Most bytes of the content.

    Raises:
        TooLarge: It holds more than `max_bytes`.
        MalformedRequest: It is not compressed in this way, or not whole.
    """
    try:
        return _inflate(memoryview(compressed), coding, max_bytes)
    except (zlib.error, zstd.ZstdError) as error:
        msg = f"the body is not {coding} as Content-Encoding says: {error}"
        raise MalformedRequest(msg) from error


def _inflate(left: memoryview, coding: str, max_bytes: int) -> bytes:
    pieces: list[bytes] = []
    size = members = 0
    member = CODINGS[coding]()
    while left or not member.eof:
        if not left:
            msg = f"the {coding} body ends too early"
            raise MalformedRequest(msg)
        if member.eof:
            member = CODINGS[coding]()
            members += 1
        block = left[:BLOCK_BYTES]
        pieces.append(member.decompress(block, max_bytes + 1 - size))
        size += len(pieces[-1])
        if size > max_bytes:
            msg = (
                f"the request is larger than {max_bytes} bytes decompressed; send smaller batches"
            )
            raise TooLarge(msg)
        if members > MAX_MEMBERS:
            msg = f"the {coding} body has more than {MAX_MEMBERS} members"
            raise MalformedRequest(msg)
        left = left[len(block) - len(member.unused_data) :]
    return b"".join(pieces)
