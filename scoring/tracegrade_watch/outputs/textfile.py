"""Writes metrics into the folder of a textfile collector: whole, and readable by its user."""

import os
from pathlib import Path
from typing import Final

from tracegrade_lake.out_files import out_file
from tracegrade_watch.errors import ExportNotWritten

MODE: Final = 0o644
"""A collector runs as another user."""


def write_textfile(path: Path, text: str) -> None:
    """Write a file whole or not at all.

    Raises:
        ExportNotWritten: It cannot be written.
    """
    try:
        with out_file(path) as file:
            if path.is_file() or not path.exists():
                os.fchmod(file.fileno(), MODE)
            file.write(text)
    except OSError as error:
        msg = f"cannot write the metrics to {path}: {error.strerror}; name another file"
        raise ExportNotWritten(msg) from error
