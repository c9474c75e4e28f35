"""Expected actions that a data set holds → a task file (`tracegrade tasks from`).

A task may stand in many records (one for each trial); they must expect the same.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from tracegrade.errors import BadInput
from tracegrade_collector.importing.expected import read_expected
from tracegrade_collector.importing.mapping import FieldMap
from tracegrade_collector.importing.records import read_records
from tracegrade_collector.importing.source import READ_ERRORS, open_plain
from tracegrade_collector.importing.trajectory import ToolCall
from tracegrade_scoring.errors import TaskFileUnreadable
from tracegrade_scoring.tasks.expected_value import as_key, literally

COMPLETE: Final[dict[str, bool | str]] = {"true": True, "false": False, "writes": "writes"}

Note = Callable[[str], object]


class _Truth(NamedTuple):
    """What one record expects."""

    place: str
    task: str
    category: str | None
    expected: list[dict[str, Any]]


def task_file(files: Sequence[Path], paths: Mapping[str, str], complete: str, note: Note) -> str:
    """Return a task file with the expected calls of every task that the records name.

    Args:
        files: JSON or JSON lines; gzipped or not.
        paths: Where the fields `task`, `expected` and `category` stand, if not where usual.
        complete: `expected_complete` of every task: true, false or writes.
        note: Gets one line for each record that gives no task, and each that contradicts another.

    Raises:
        BadInput: `complete` is something else.
        TaskFileUnreadable: A file cannot be read, or no record gives a task.
    """
    if complete not in COMPLETE:
        msg = f"--complete must be one of {', '.join(COMPLETE)}, got '{complete}'"
        raise BadInput(msg)
    fields, ignored = FieldMap(paths), Counter[str]()
    tasks: dict[str, dict[str, Any]] = {}
    for truth in _truths(files, fields, ignored, note):
        task = {
            **({"category": truth.category} if truth.category else {}),
            "expected": truth.expected,
            "expected_complete": COMPLETE[complete],
        }
        if tasks.setdefault(truth.task, task) != task:
            note(
                f"{truth.place}: task '{truth.task}' expects something else than before; left out"
            )
    for line in fields.unseen():
        note(line)
    for name, count in ignored.items():
        note(f"not understood: {count} {name}")
    if not tasks:
        msg = "no record has a task and expected actions; --map task=PATH,expected=PATH names them"
        raise TaskFileUnreadable(msg)
    whole = {"version": 1, "tasks": tasks}
    text: str = yaml.safe_dump(whole, sort_keys=False, allow_unicode=True, width=100)
    return text


def _truths(
    files: Sequence[Path], fields: FieldMap, ignored: Counter[str], note: Note
) -> Iterator[_Truth]:
    for path in files:
        try:
            with open_plain(path) as file:
                for record in read_records(file):
                    place = f"{path}:{record.line}"
                    if record.fault:
                        note(f"{place}: {record.fault}")
                    elif (truth := _truth(place, record.value, fields, ignored)) is None:
                        note(f"{place}: no task or no expected actions")
                    else:
                        yield truth
        except READ_ERRORS as error:
            msg = f"{path} cannot be read: {error}"
            raise TaskFileUnreadable(msg) from error


def _truth(place: str, value: Any, fields: FieldMap, ignored: Counter[str]) -> _Truth | None:
    task, expected = fields.find(value, "task"), fields.find(value, "expected")
    category = fields.find(value, "category")
    if expected is None or task is None or isinstance(task, dict | list):
        return None
    calls = read_expected(expected, ignored)
    named = category if isinstance(category, str) else None
    return _Truth(place, str(task), named, [_decision(call, ignored) for call in calls])


def _decision(call: ToolCall, ignored: Counter[str]) -> dict[str, Any]:
    """Return the call as a decision point of a task file."""
    arguments = _object(call.arguments)
    if arguments is None and call.arguments is not None:
        ignored["arguments that are not an object"] += 1
    if arguments is None:
        return {"tool": call.name}
    stated = {as_key(key): literally(value) for key, value in arguments.items()}
    return {"tool": call.name, "arguments": stated}


def _object(text: str | None) -> dict[str, Any] | None:
    try:
        value = json.loads(text or "null")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
