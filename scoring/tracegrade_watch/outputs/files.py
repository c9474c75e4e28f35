"""Writes the files of other programs: metrics whole and readable by all, summaries appended."""

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


def append_text(path: Path, text: str) -> None:
    """Append to a file.

    Raises:
        ExportNotWritten: It cannot be written.
    """
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        msg = f"cannot append the summary to {path}: {error.strerror}"
        raise ExportNotWritten(msg) from error
