"""Writes a report to stdout or to a file; a file is written whole or not at all."""

import os
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

from tracegrade.terminal.visible import echo
from tracegrade_lake.out_files import out_file
from tracegrade_scoring.errors import ReportNotWritten
from tracegrade_scoring.rendering import words


def screen(out: Path | None) -> tuple[int, bool]:
    """Return the width of the terminal, and whether what goes there may have colors."""
    width = shutil.get_terminal_size(fallback=(100, 24)).columns
    return width, out is None and sys.stdout.isatty() and "NO_COLOR" not in os.environ


def put_out(text: str, out: Path | None, name: str) -> None:
    """Write to stdout; or to a file, which stderr then names.

    Raises:
        ReportNotWritten: The file cannot be written.
    """
    if out is None:
        print_text(text)
    else:
        write_text(out, text)
        echo(f"{name}: {out}", err=True)


def is_folder(out: Path, format_: str) -> bool:
    """Return whether a path is for a folder of pages: a folder, or new without a suffix."""
    is_new = not out.exists() and not out.suffix[1:].isalpha()
    return format_ == "html" and (out.is_dir() or is_new)


class WrittenPages(NamedTuple):
    """The numbers of pages below an index."""

    runs: int
    kills: int = 0


def say_folder(written: WrittenPages, out: Path, name: str) -> None:
    """Say where pages were written, those of runs and of kills counted."""
    pages = words.count(written.runs, "run")
    pages += f" and {words.count(written.kills, 'kill')}" if written.kills else ""
    echo(f"{name}: {out / 'index.html'}, and pages of {pages}", err=True)


def print_text(text: str) -> None:
    """Write to stdout; what its encoding lacks becomes a question mark, not an error."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all.

    Raises:
        ReportNotWritten: It cannot be written.
    """
    try:
        with out_file(path) as file:
            file.write(text)
    except OSError as error:
        msg = f"cannot write the report to {path}: {error.strerror}; name another file with --out"
        raise ReportNotWritten(msg) from error
