"""Checks the files and folders that a suite names."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from tracegrade_harness.suite import paths
from tracegrade_queries.files.shape import dotted
from tracegrade_queries.files.yaml_source import KeyPath, Problem, SourceFile


def check_source(
    source: SourceFile, folder: Path, path: KeyPath, name: str, kind: str
) -> Iterator[Problem]:
    """Yield problems of a source, which must be a file or a folder."""
    shown = f"{dotted(path)} '{name}'"
    if fault := paths.source_fault(name):
        yield source.problem(path, f"{shown} {fault[0]}", fault[1])
        return
    place = paths.source(folder, name)
    if not place.exists():
        yield source.problem(path, f"{shown} does not exist", f"expected the {kind} '{place}'")
    elif not (place.is_dir() if kind == "folder" else place.is_file()):
        yield source.problem(path, f"{shown} is not a {kind}", f"give a {kind}")


def check_read(
    source: SourceFile, folder: Path, path: KeyPath, names: Sequence[str]
) -> Iterator[Problem]:
    """Yield problems of the files and folders that a command may read."""
    for i, name in enumerate(names):
        place = (*path, "read", i)
        expanded = os.path.expanduser(name)
        shown = f"{dotted(place)} '{name}'"
        if fault := paths.source_fault(expanded):
            yield source.problem(place, f"{shown} {fault[0]}", fault[1])
        elif not paths.source(folder, expanded).exists():
            expected = f"expected the file or folder '{paths.source(folder, expanded)}'"
            yield source.problem(place, f"{shown} does not exist", expected)
        elif paths.source(folder, expanded).resolve() == Path("/"):
            yield source.problem(place, f"{shown} is the whole machine", "name what is needed")
