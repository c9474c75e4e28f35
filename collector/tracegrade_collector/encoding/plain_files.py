"""Files without their compression, which their first bytes show: gzip or Zstandard."""

import gzip
import io
import sys
import zlib
from typing import Final

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

GZIP_MAGIC: Final = b"\x1f\x8b"
ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
READ_ERRORS: Final = (OSError, EOFError, zlib.error, zstd.ZstdError)
"""Errors that reading a file can raise."""


def plain(file: io.BufferedReader) -> io.BufferedReader:
    """Return the file, or its decompressed content, without inflating more than requested."""
    magic = file.peek(len(ZSTD_MAGIC))
    if magic.startswith(GZIP_MAGIC):
        return io.BufferedReader(gzip.GzipFile(fileobj=file))
    if magic.startswith(ZSTD_MAGIC):
        return io.BufferedReader(zstd.ZstdFile(file))
    return file


def plain_bytes(data: bytes, max_bytes: int) -> bytes:
    """Return the content of compressed bytes, at most one byte more than `max_bytes` of it.

    Raises:
        EOFError: It ends too early; also the other `READ_ERRORS`.
    """
    return plain(io.BufferedReader(io.BytesIO(data))).read(max_bytes + 1)
