"""Inflates a layer into a temporary file, and checks its digest."""

import hashlib
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from gzip import GzipFile
from io import BufferedReader
from pathlib import Path
from typing import IO, Final

from tracegrade_harness.errors import ImageRefused

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_BLOCK: Final = 1 << 20
_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_BROKEN: Final = (EOFError, zlib.error, zstd.ZstdError)


@contextmanager
def layer_content(
    packed: BufferedReader, diff_id: str, folder: Path, most_bytes: int
) -> Iterator[IO[bytes]]:
    """Provide the content of a layer without compression, during a block.

    Args:
        packed: The layer as an archive contains it: plain, with gzip or with zstd.
        diff_id: The digest of its content.
        folder: Folder for a temporary file.
        most_bytes: Bytes that the content may have.

    Raises:
        ImageRefused: It is broken, too large, or has another digest.
    """
    with tempfile.TemporaryFile(dir=folder) as plain:
        algorithm = diff_id.partition(":")[0]
        digest = hashlib.new(algorithm)
        try:
            for block in _inflated(packed):
                most_bytes -= len(block)
                if most_bytes < 0:
                    msg = f"layer '{diff_id}' is too large without compression; make it smaller"
                    raise ImageRefused(msg)
                digest.update(block)
                plain.write(block)
        except (*_BROKEN, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            msg = f"layer '{diff_id}' cannot be inflated: {error}; save the image again"
            raise ImageRefused(msg) from error
        if (found := f"{algorithm}:{digest.hexdigest()}") != diff_id:
            msg = f"layer '{diff_id}' has the digest '{found}'; save the image again"
            raise ImageRefused(msg)
        yield plain


def _inflated(packed: BufferedReader) -> Iterator[bytes]:
    start = packed.peek(len(_ZSTD))
    if start.startswith(_GZIP):
        with GzipFile(fileobj=packed) as file:
            yield from iter(lambda: file.read(_BLOCK), b"")
    elif start.startswith(_ZSTD):
        with zstd.ZstdFile(packed) as file:
            yield from iter(lambda: file.read(_BLOCK), b"")
    else:
        yield from iter(lambda: packed.read(_BLOCK), b"")
