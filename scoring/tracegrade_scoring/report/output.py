"""Where a report goes: to stdout, or to a file whole or not at all."""

import os
import sys
from pathlib import Path

from tracegrade_scoring.errors import ReportNotWritten


def print_text(text: str) -> None:
    """Write to stdout; what its encoding lacks becomes a question mark, not an error."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all.

    Raises:
        ReportNotWritten: It cannot be written.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        msg = f"cannot write the report to {path}: {error.strerror}; name another file with --out"
        raise ReportNotWritten(msg) from error
