"""A file to import: its bytes without compression, and its name in ids."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from tracegrade_collector.encoding.plain_files import plain


@contextmanager
def open_plain(path: Path) -> Iterator[BufferedReader]:
    """Yield the file, or its decompressed content, without inflating more than requested."""
    with path.open("rb") as file:
        yield plain(file)


def source_of(path: Path) -> str:
    """Return the name of a file in ids: its path from the root, links followed."""
    return os.path.realpath(path)
