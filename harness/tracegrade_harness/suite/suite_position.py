"""The position of a mapping in a suite file, for error messages."""

from pathlib import Path
from typing import NamedTuple

from tracegrade_queries.files.shape import dotted
from tracegrade_queries.files.yaml_source import KeyPath, Problem, SourceFile


class At(NamedTuple):
    """The position of a mapping in a suite."""

    source: SourceFile
    folder: Path
    """The folder of the file; paths in a suite are relative to it."""
    path: KeyPath
    """The keys that lead to the mapping."""

    def below(self, *keys: str | int) -> KeyPath:
        """Return the keys that lead to a value in the mapping."""
        return (*self.path, *keys)

    def problem(self, key: str, fact: str, way_out: str) -> Problem:
        """Return a problem of the value of a key; the fact begins with the key's path."""
        path = self.below(key)
        return self.source.problem(path, f"{dotted(path)} {fact}", way_out)
