"""Paths of an environment's parts, checked to be inside the trial's folder and not to overlap."""

from collections.abc import Mapping
from itertools import combinations
from pathlib import PurePosixPath
from typing import TypeAlias

from tracegrade_harness.errors import SuiteUnusable
from tracegrade_harness.parts.registry import DeclaredPart, declared_in, paths_in
from tracegrade_harness.suite.model import Environment

PartPaths: TypeAlias = dict[str, list[PurePosixPath]]
"""Kind and name of a part → its path below the trial's folder, then paths of its companions."""


def part_paths(environment: Environment) -> PartPaths:
    """Return the paths of the parts in the trial's folder.

    Raises:
        SuiteUnusable: A path leads out of the trial's folder, or two parts overlap and neither is
            a file in a folder.
    """
    at_paths = paths_in(environment)
    placed = [part for part in declared_in(environment) if part.title in at_paths]
    found = {part.title: _paths(part, at_paths[part.title]) for part in placed}
    for one, other in combinations(placed, 2):
        _check_apart(one, other, found)
    return found


def single_files(environment: Environment) -> Mapping[str, list[str]]:
    """Return the paths of the parts that are single files, and of their companions."""
    paths = part_paths(environment)
    files = (part.title for part in declared_in(environment) if part.kind.placed == "file")
    return {title: [str(path) for path in paths[title]] for title in files}


def _paths(part: DeclaredPart, declared_at: str) -> list[PurePosixPath]:
    at = _inside(part.name, declared_at)
    if part.kind.placed == "file" and not at.parts:
        message = f"database '{part.name}' is at '.'; name a file in 'at'"
        raise SuiteUnusable(message)
    return [at, *part.kind.companions(at)]


def _check_apart(one: DeclaredPart, other: DeclaredPart, found: PartPaths) -> None:
    """Refuse two parts if one is inside the other, except a file in a folder."""
    folders = [part for part in (one, other) if part.kind.placed == "folder"]
    for a in found[one.title]:
        for b in found[other.title]:
            for inner, outer, holder in ((a, b, other), (b, a, one)):
                may_hold = len(folders) == 1 and holder in folders and inner != outer
                if inner.is_relative_to(outer) and not may_hold:
                    raise SuiteUnusable(_overlap(one.name, other.name, outer))


def _inside(name: str, at: str) -> PurePosixPath:
    path = PurePosixPath(at)
    if path.is_absolute() or ".." in path.parts or "\0" in at:
        message = (
            f"'{name}' is at '{at}'; in 'at', give a path below the trial's folder, without '..'"
        )
        raise SuiteUnusable(message)
    return path


def _overlap(one: str, other: str, at: PurePosixPath) -> str:
    return f"parts '{one}' and '{other}' overlap at '{at}'; only a database may be in a folder"
