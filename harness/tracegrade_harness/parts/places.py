"""Where the parts of an environment stand, all inside the trial's folder and apart."""

from itertools import combinations
from pathlib import PurePosixPath
from typing import TypeAlias

from tracegrade_harness.errors import SuiteUnusable
from tracegrade_harness.parts.sqlite.copy import COMPANIONS
from tracegrade_harness.suite.model import Environment

Places: TypeAlias = dict[str, PurePosixPath]
"""Name of a part → its path below the trial's folder."""


def places(environment: Environment) -> tuple[Places, Places]:
    """Return the places of the folders and of the databases.

    Raises:
        SuiteUnusable: One leads out of the trial's folder, or two overlap in another way than a
            database that stands in a folder of files.
    """
    files = {name: _inside(name, part.at) for name, part in environment.files.items()}
    databases = {name: _inside(name, part.at) for name, part in environment.sqlite.items()}
    for (one, first), (other, second) in combinations(files.items(), 2):
        if first.is_relative_to(second) or second.is_relative_to(first):
            raise SuiteUnusable(_overlap(one, other, second))
    _check_databases(files, databases)
    return files, databases


def database_files(at: PurePosixPath) -> list[PurePosixPath]:
    """Return the paths of a database and of what SQLite writes beside it."""
    return [at, *(at.with_name(at.name + suffix) for suffix in COMPANIONS)]


def _check_databases(files: Places, databases: Places) -> None:
    for name, at in databases.items():
        if not at.parts:
            message = f"database '{name}' stands at '.'; name a file in 'at'"
            raise SuiteUnusable(message)
        for folder, place in files.items():
            if any(place.is_relative_to(path) for path in database_files(at)):
                raise SuiteUnusable(_overlap(name, folder, place))
    for (one, first), (other, second) in combinations(databases.items(), 2):
        if any(
            a.is_relative_to(b) or b.is_relative_to(a)
            for a in database_files(first)
            for b in database_files(second)
        ):
            raise SuiteUnusable(_overlap(one, other, second))


def _inside(name: str, at: str) -> PurePosixPath:
    path = PurePosixPath(at)
    if path.is_absolute() or ".." in path.parts or "\0" in at:
        message = (
            f"'{name}' stands at '{at}'; 'at' is a path below the trial's folder, without '..'"
        )
        raise SuiteUnusable(message)
    return path


def _overlap(one: str, other: str, at: PurePosixPath) -> str:
    return f"parts '{one}' and '{other}' overlap at '{at}'; only a database may stand in a folder"
