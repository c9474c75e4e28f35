"""What the formats of coding agents' sessions share."""

from collections import Counter
from pathlib import Path
from typing import Any

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


def without_images(content: Any, ignored: Counter[str]) -> Any:
    """Return the content of a tool's result; images in a list of blocks are only counted."""
    if not isinstance(content, list):
        return content
    kept = [block for block in content if not _is_image(block)]
    ignored["images in tool results"] += len(content) - len(kept)
    return kept


def _is_image(block: Any) -> bool:
    return isinstance(block, dict) and str(block.get("type")).endswith("image")
