"""Output files that a user names: written whole or not at all, also through links."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, TextIO

from tracegrade_lake.files import private_opener

_DESCRIPTORS: Final = ("/dev/std", "/dev/fd/", "/proc/")
"""Prefixes of paths that name an open descriptor of a process."""


@contextmanager
def out_file(path: Path, *, private: bool = False) -> Iterator[TextIO]:
    """Yield a file for UTF-8 text that takes its name only if the block succeeds.

    A link stays one, and leads to the new text. A device or a pipe, such as /dev/stdout, is never
    replaced: it is written to.

    Args:
        path: The file; an old one is replaced.
        private: Readable by its owner only, if it is a file.

    Raises:
        OSError: It cannot be written.
    """
    if _is_stream(path):
        with path.open("a", encoding="utf-8") as stream:
            yield stream
        return
    target = path.resolve()
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    opener = private_opener if private else None
    try:
        with open(unfinished, "w", encoding="utf-8", opener=opener) as file:
            yield file
        unfinished.replace(target)
    finally:
        with suppress(OSError):  # it has its name already, or could not be made
            unfinished.unlink()


def _is_stream(path: Path) -> bool:
    is_special = path.exists() and not path.is_file() and not path.is_dir()
    return is_special or str(path.absolute()).startswith(_DESCRIPTORS)
