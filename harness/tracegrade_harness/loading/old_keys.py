"""Keys of suites that have another name now: the old one is read for one release, with a note."""

from collections.abc import Mapping
from typing import Any, Final

from tracegrade_queries.files.shape import dotted
from tracegrade_queries.files.yaml_source import KeyPath, Problem, SourceFile

_OF_AGENTS: Final[Mapping[str, str]] = {"doors": "channels"}


def with_new_keys(source: SourceFile) -> tuple[SourceFile, list[Problem]]:
    """Return a suite with its keys by their names of now, and a note for each old one.

    A mapping that has both names is left as it is: its old key is unknown then.
    """
    agents = source.values.get("agents") if isinstance(source.values, dict) else None
    if not isinstance(agents, dict):
        return source, []
    renamed: dict[KeyPath, str] = {
        ("agents", name, old): new
        for name, agent in agents.items()
        for old, new in _OF_AGENTS.items()
        if isinstance(agent, dict) and old in agent and new not in agent
    }
    if not renamed:
        return source, []
    notes = [
        source.problem(path, f"{dotted(path)} is now '{new}'", "rename the key")._replace(
            is_note=True
        )
        for path, new in renamed.items()
    ]
    lines = {_renamed(path, renamed): line for path, line in source.lines.items()}
    values = {**source.values, "agents": _agents(agents, renamed)}
    return source._replace(values=values, lines=lines), notes


def _agents(agents: dict[str, Any], renamed: Mapping[KeyPath, str]) -> dict[str, Any]:
    return {
        name: {renamed.get(("agents", name, key), key): value for key, value in agent.items()}
        if isinstance(agent, dict)
        else agent
        for name, agent in agents.items()
    }


def _renamed(path: KeyPath, renamed: Mapping[KeyPath, str]) -> KeyPath:
    new = renamed.get(path[:3])
    return path if new is None else (*path[:2], new, *path[3:])
