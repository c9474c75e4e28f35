"""Compares raw files of a format with the lake they become; takes a format and files."""

import importlib
import sys
import tempfile
from pathlib import Path

from tests.collector.importing.imports import imported
from tests.collector.importing.raw_counts import RunCounts
from tests.collector.importing.raw_counts.lake import lake_counts


def compare(format_name: str, *files: str) -> int:
    """Print the counts of the files and of the lake; return 1 if they differ."""
    module = importlib.import_module(f"tests.collector.importing.raw_counts.{format_name}")
    raw = RunCounts()
    for file in files:
        raw = raw.plus(module.raw_counts(Path(file)))
    with tempfile.TemporaryDirectory() as folder:
        found = lake_counts(imported(Path(folder), *map(Path, files)))
    for name, in_files, in_lake in zip(RunCounts._fields, raw, found, strict=True):
        sys.stdout.write(f"{name}: {in_files} in the files, {in_lake} in the lake\n")
    return int(raw != found)


if __name__ == "__main__":
    sys.exit(compare(*sys.argv[1:]))
