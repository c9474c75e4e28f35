"""Parts that the formats of coding agents' sessions share."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tracegrade_collector.encoding.otlp import Signal
from tracegrade_collector.importing.import_part import ImportPart
from tracegrade_collector.importing.records import FileRecord, read_records
from tracegrade_collector.importing.source import open_plain
from tracegrade_collector.importing.trajectory import Trajectory, counts, left_out, spans_of

MAX_SESSION_BYTES: Final = 2**28
"""Bytes of a file that are read: a session is held in memory as a whole."""


def read_session(path: Path) -> Iterator[FileRecord]:
    """Yield the records of a session's file, each an object or a fault, up to a limit."""
    with open_plain(path) as file:
        for record in read_records(file):
            if record.fault or isinstance(record.value, dict):
                yield record
            else:
                yield FileRecord(record.line, None, "a line of a session is an object")
            if file.tell() > MAX_SESSION_BYTES:
                fault = f"only the first {MAX_SESSION_BYTES} bytes of a session are read"
                yield FileRecord(record.line, None, fault)
                return


def session_part(path: Path, line: int, run: Trajectory, ignored: Counter[str]) -> ImportPart:
    """Return the spans of a run that begins at a line, with counts of its content.

    A run whose messages are all empty is a fault: its form is another.
    """
    if not any(message.pieces or message.usage for message in run.messages):
        fault = f"nothing of its {len(run.messages)} messages is understood"
        return ImportPart(f"{path}:{line}", fault=fault, ignored=ignored)
    return ImportPart(
        f"{path}:{line}",
        Signal.TRACES,
        spans_of(run),
        understood=counts(run),
        ignored=ignored + left_out(run),
    )


def without_images(content: Any, ignored: Counter[str]) -> Any:
    """Return the content of a tool's result; images in a list of blocks are only counted."""
    if not isinstance(content, list):
        return content
    kept = [block for block in content if not _is_image(block)]
    ignored["images in tool results"] += len(content) - len(kept)
    return kept


def _is_image(block: Any) -> bool:
    return isinstance(block, dict) and str(block.get("type")).endswith("image")
