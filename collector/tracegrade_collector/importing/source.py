"""A file to import: its bytes without gzip, and its name in ids."""

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Final

GZIP_MAGIC: Final = b"\x1f\x8b"
READ_ERRORS: Final = (OSError, EOFError, zlib.error)
"""Errors that reading a file can raise."""


@contextmanager
def open_plain(path: Path) -> Iterator[BufferedReader]:
    """Yield the file, or its gzipped content, without inflating more than requested."""
    with path.open("rb") as file:
        if file.peek(2).startswith(GZIP_MAGIC):
            yield BufferedReader(gzip.GzipFile(fileobj=file))
        else:
            yield file


def source_of(path: Path) -> str:
    """Return the name of a file in ids: its path from the root, links followed."""
    return os.path.realpath(path)
