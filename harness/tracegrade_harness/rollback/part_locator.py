"""Maps paths in a trial's folder to names of objects, and names to paths.

Agents use paths, states use objects: `data/clean/a.csv` is `files:data/clean/a.csv` if the part
`data` is at `data`.
"""

import posixpath
from pathlib import Path
from typing import Final

from tracegrade_harness.parts.names import path_text, plain_text
from tracegrade_harness.parts.registry import part_kinds, paths_in
from tracegrade_harness.suite.model import Environment

_OTHER_KINDS: Final = frozenset(
    {*Environment.model_fields, "record", "process", "port"} - {"locks"}
)
"""Kinds in names of objects that belong to no part."""


def is_object_name(text: str) -> bool:
    """Return whether a text is an object's name, which starts with a kind, such as `files:`."""
    kind, mark, _ = text.partition(":")
    return bool(mark) and (kind in _OTHER_KINDS or kind in part_kinds())


class PartLocator:
    """The parts of an environment, by their paths."""

    def __init__(self, environment: Environment, folder: Path) -> None:
        """Take the path of each part.

        Args:
            environment: The parts.
            folder: The trial's folder; absolute paths below it are understood, too.
        """
        self._folder = folder
        self._parts = {title: _clean(at) for title, at in paths_in(environment).items()}

    def object_at(self, path: str) -> str | None:
        """Return the object at a path of the trial's folder; None outside of all parts.

        An absolute path is below the trial's folder, or is a path of a sandbox whose root is that
        folder. A database is not an object, but its rows are; the database's path gives the prefix
        of their names.
        """
        found = self._inside(path)
        holders = [
            (at, part)
            for part, at in self._parts.items()
            if found is not None and (found == at or found.startswith(f"{at}/") or at == ".")
        ]
        if found is None or not holders:
            return None
        at, part = max(holders, key=lambda holder: (holder[0] != ".", len(holder[0])))
        rest = found if at == "." else found[len(at) + 1 :]
        return f"{part}/{path_text(rest)}" if rest else part

    def path_of(self, name: str) -> str | None:
        """Return the path of an object, relative to the trial's folder; for a row, its database's.

        None if it is in no part.
        """
        part, _, rest = name.partition("/")
        at = self._parts.get(part)
        if at is None or part_kinds()[part.partition(":")[0]].placed == "file":
            return at
        return posixpath.normpath(posixpath.join(at, plain_text(rest)))

    def _inside(self, path: str) -> str | None:
        """Return a path relative to the trial's folder; None if it leads out of it."""
        root = f"{self._folder}/"
        found = _clean(path[len(root) :] if path.startswith(root) else path)
        return None if found == ".." or found.startswith("../") else found


def _clean(path: str) -> str:
    return posixpath.normpath(path.lstrip("/") or ".")
