"""Keys of files that were renamed: former names are read for one release, with a note."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from tracegrade_queries.files.shape import dotted
from tracegrade_queries.files.yaml_source import KeyPath, Problem, SourceFile

ANY: Final = "*"
"""In a path: any key, or any item of a list."""

FormerKeys = Mapping[tuple[str, ...], str]
"""Paths to keys by their former names, each with the name of now: `("agents", ANY, "doors")`."""


class _Renaming(NamedTuple):
    names: dict[KeyPath, str]
    """The names of now, by the paths in the file."""
    problems: list[Problem]


def with_new_keys(source: SourceFile, former: FormerKeys) -> tuple[SourceFile, list[Problem]]:
    """Return a file with current names of its keys, and a problem for each former name.

    Returns:
        Problems are notes. Where a mapping has both names, one is an error, and the value of the
        former name is left out.
    """
    renaming = _Renaming({}, [])
    values = _renamed(source, (), source.values, list(former.items()), renaming)
    if not renaming.problems:
        return source, []
    lines = {_path(path, renaming.names): line for path, line in source.lines.items()}
    return source._replace(values=values, lines=lines), renaming.problems


def _renamed(
    source: SourceFile,
    path: KeyPath,
    value: Any,
    former: list[tuple[tuple[str, ...], str]],
    renaming: _Renaming,
) -> Any:
    """Return a value with its keys, and those below, by their names of now.

    Args:
        source: The file.
        path: Its keys there.
        value: The value.
        former: The rest of the paths that may lead from it to former keys, with their new names.
        renaming: Receives the findings.
    """
    if not former or not isinstance(value, dict | list):
        return value
    items = value.items() if isinstance(value, dict) else enumerate(value)
    found = {
        _name(source, (*path, key), value, former, renaming): _renamed(
            source, (*path, key), item, [*_below(key, former)], renaming
        )
        for key, item in items
    }
    found.pop(None, None)
    return found if isinstance(value, dict) else [*found.values()]


def _below(
    key: str | int, former: list[tuple[tuple[str, ...], str]]
) -> Iterator[tuple[tuple[str, ...], str]]:
    return ((names[1:], new) for names, new in former if len(names) > 1 and names[0] in (ANY, key))


def _name(
    source: SourceFile,
    path: KeyPath,
    holder: Any,
    former: list[tuple[tuple[str, ...], str]],
    renaming: _Renaming,
) -> str | int | None:
    """Return the current name of a key; None for a former name if the new one is present, too."""
    new = next((name for names, name in former if names == (path[-1],)), None)
    if new is None or isinstance(holder, list):
        return path[-1]
    fact = f"{dotted(path)} is now '{new}'"
    if new in holder:
        renaming.problems.append(
            source.problem(path, f"{fact}, which is given as well", "remove one of them")
        )
        return None
    note = source.problem(path, fact, "rename the key")
    renaming.problems.append(note._replace(is_note=True))
    renaming.names[path] = new
    return new


def _path(path: KeyPath, names: Mapping[KeyPath, str]) -> KeyPath:
    """Return a path with the names of now."""
    return tuple(names.get(path[: i + 1], key) for i, key in enumerate(path))
