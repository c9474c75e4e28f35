"""The valid part of a task file, so that one run shows all of the file's faults.

Checks of names, patterns and graphs need a file as objects. If the shape of a part is wrong, the
checks use the rest without it. Names and list positions are kept, so that a faulty part does not
look like a missing one.
"""

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError

from tracegrade_queries.files.yaml_source import KeyPath
from tracegrade_scoring.tasks.model import TaskFile

_ANY_CALL: Final[Mapping[str, str]] = {"effect": "read"}
"""An expected call about which no check has anything to say."""

_ROUNDS: Final = 20


def readable_part(values: Any) -> TaskFile | None:
    """Return the parts of a task file that have a right shape; None if none have.

    Args:
        values: The file as plain values; it is not changed.
    """
    values = copy.deepcopy(values)
    for _ in range(_ROUNDS):
        if not isinstance(values, dict):
            return None
        try:
            return TaskFile.model_validate(values)
        except ValidationError as error:
            # The last fault goes first, and an inner part before the part around it.
            faults = error.errors(include_url=False, include_context=False, include_input=False)
            for fault in sorted(faults, key=lambda each: (-len(each["loc"]), str(each["loc"]))):
                path = tuple(part for part in fault["loc"] if part != "[key]")
                _leave_out(values, path[:-1] if fault["type"] == "missing" else path)
    return None


def _leave_out(values: dict[str, Any], path: KeyPath) -> None:
    """Remove the fault at a path from the file, or the least around it that can be removed."""
    if path == ("version",) or not path:
        values["version"] = 1
    elif _is_referred_to(path):
        _put(values, path[:2], {})
    elif isinstance(path[-1], int):
        _leave_out_item(values, path)
    elif _is_named(path):
        _put(values, path, {})
    else:
        holder = _at(values, path[:-1])
        if isinstance(holder, dict) and path[-1] in holder:
            del holder[path[-1]]
        else:
            _leave_out(values, path[:-1])


def _leave_out_item(values: dict[str, Any], path: KeyPath) -> None:
    if path[-2] == "expected":
        _put(values, path, dict(_ANY_CALL))
    else:
        _leave_out(values, path[:-1])


def _is_referred_to(path: KeyPath) -> bool:
    """Return whether other parts of a task refer to this place, so that they cannot be checked."""
    of_task = path[2:] if path[0] == "tasks" else ()
    return (
        of_task[:1] == ("match",)
        or of_task == ("sub_goals",)
        or (of_task[:1] == ("graphs",) and len(of_task) <= 2)
    )


def _is_named(path: KeyPath) -> bool:
    """Return whether it is a tool, a task, or a sub-goal, alone or in a graph."""
    of_task = path[2] if path[0] == "tasks" and len(path) > 2 else None
    return (
        (len(path) == 2 and path[0] in ("tools", "tasks"))
        or (len(path) == 4 and of_task == "sub_goals")
        or (len(path) == 5 and of_task == "graphs")
    )


def _put(values: dict[str, Any], path: KeyPath, value: dict[str, str]) -> None:
    """Replace the value at a path; if it was replaced before, its name is wrong: remove it."""
    holder: Any = _at(values, path[:-1])
    key: Any = path[-1]
    if isinstance(holder, dict) and holder.get(key) == value:
        del holder[key]
    elif _at(holder, [key]) is not None:
        holder[key] = value


def _at(values: Any, path: Sequence[str | int]) -> Any:
    for part in path:
        if isinstance(values, dict) and isinstance(part, str):
            values = values.get(part)
        elif isinstance(values, list) and isinstance(part, int) and part < len(values):
            values = values[part]
        else:
            return None
    return values
