"""The part of an import that one session of a coding agent becomes."""

from collections import Counter
from pathlib import Path

from tracegrade_collector.encoding.otlp import Signal
from tracegrade_collector.importing.import_part import ImportPart
from tracegrade_collector.importing.trajectory import Trajectory, counts, left_out, spans_of


def session_part(path: Path, line: int, run: Trajectory, ignored: Counter[str]) -> ImportPart:
    """Return the spans of a run that begins at a line, with counts of its content."""
    return ImportPart(
        f"{path}:{line}",
        Signal.TRACES,
        spans_of(run),
        understood=counts(run),
        ignored=ignored + left_out(run),
    )
