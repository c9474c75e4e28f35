"""Expected actions that a data set holds → a task file (`tracegrade tasks from`).

A task may be in many records (one for each trial); they must expect the same calls.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from tracegrade.errors import BadInput
from tracegrade_collector.importing.expected import ExpectedAction, read_expected
from tracegrade_collector.importing.mapping import FieldMap
from tracegrade_collector.importing.records import read_records
from tracegrade_collector.importing.source import READ_ERRORS, open_plain
from tracegrade_scoring.errors import TaskFileUnreadable
from tracegrade_scoring.tasks.expected_value import as_key, literally

COMPLETE: Final[dict[str, bool | str]] = {"true": True, "false": False, "writes": "writes"}

Note = Callable[[str], object]

SHOWN_CHARS: Final = 200
"""Limit of the characters shown of an unreadable action."""


class _ExpectedOutcome(NamedTuple):
    """The expected outcome of one record."""

    location: str
    task: str
    category: str | None
    expected: list[dict[str, Any]]
    unread: list[str]
    """Actions that cannot be read."""
    unnamed: int
    """Actions whose arguments have no names."""


def task_file(files: Sequence[Path], paths: Mapping[str, str], complete: str, note: Note) -> str:
    """Return a task file with the expected calls of every task that the records name.

    Args:
        files: JSON or JSON lines; gzipped or not.
        paths: Where the fields `task`, `expected` and `category` stand, if not where usual.
        complete: `expected_complete` of every task: true, false or writes.
        note: Gets one line for each record that gives no task, and each that contradicts another.

    Raises:
        BadInput: `complete` is something else.
        TaskFileUnreadable: A file or an expected action cannot be read, or no record gives a task.
    """
    if complete not in COMPLETE:
        msg = f"--complete must be one of {', '.join(COMPLETE)}, got '{complete}'"
        raise BadInput(msg)
    fields = FieldMap(paths)
    truths = list(_truths(files, fields, note))
    _refuse_unread(truths, note)
    tasks: dict[str, dict[str, Any]] = {}
    for truth in truths:
        task = {
            **({"category": truth.category} if truth.category else {}),
            "expected": truth.expected,
            "expected_complete": COMPLETE[complete],
        }
        if tasks.setdefault(truth.task, task) != task:
            note(
                f"{truth.location}: task '{truth.task}' expects something else "
                "than before; left out"
            )
    for line in fields.unseen():
        note(line)
    if unnamed := sum(truth.unnamed for truth in truths):
        note(f"{unnamed} expected actions whose arguments have no names: any arguments are right")
    if not tasks:
        msg = "no record has a task and expected actions; --map task=PATH,expected=PATH names them"
        raise TaskFileUnreadable(msg)
    whole = {"version": 1, "tasks": tasks}
    text: str = yaml.safe_dump(whole, sort_keys=False, allow_unicode=True, width=100)
    return text


def _refuse_unread(truths: Sequence[_ExpectedOutcome], note: Note) -> None:
    for truth in truths:
        for action in truth.unread:
            note(f"{truth.location}: expected action cannot be read: {action}")
    if unread := sum(len(truth.unread) for truth in truths):
        msg = (
            f"{unread} expected actions cannot be read; write each as an object with a name and "
            "an object of arguments, or as a text like search(day='2023-12-13')"
        )
        raise TaskFileUnreadable(msg)


def _truths(files: Sequence[Path], fields: FieldMap, note: Note) -> Iterator[_ExpectedOutcome]:
    for path in files:
        try:
            with open_plain(path) as file:
                for record in read_records(file):
                    location = f"{path}:{record.line}"
                    if record.fault:
                        note(f"{location}: {record.fault}")
                    elif (truth := _truth(location, record.value, fields)) is None:
                        note(f"{location}: no task or no expected actions")
                    else:
                        yield truth
        except READ_ERRORS as error:
            msg = f"{path} cannot be read: {error}"
            raise TaskFileUnreadable(msg) from error


def _truth(location: str, value: Any, fields: FieldMap) -> _ExpectedOutcome | None:
    task, expected = fields.find(value, "task"), fields.find(value, "expected")
    category = fields.find(value, "category")
    if expected is None or task is None or isinstance(task, dict | list):
        return None
    actions = read_expected(expected)
    decisions = [_decision(action) for action in actions]
    return _ExpectedOutcome(
        location,
        str(task),
        category if isinstance(category, str) else None,
        [decision for decision in decisions if decision],
        [
            json.dumps(action.value, ensure_ascii=False)[:SHOWN_CHARS]
            for action, decision in zip(actions, decisions, strict=True)
            if decision is None
        ],
        sum(isinstance(action.value, str) and _has_no_names(action) for action in actions),
    )


def _has_no_names(action: ExpectedAction) -> bool:
    return action.call is not None and action.call.arguments is None


def _decision(action: ExpectedAction) -> dict[str, Any] | None:
    """Return the action as a decision point of a task file; None if it cannot be read."""
    if action.call is None:
        return None
    if action.call.arguments is None:
        return {"tool": action.call.name}
    arguments = _object(action.call.arguments)
    if arguments is None:
        return None
    stated = {as_key(key): literally(value) for key, value in arguments.items()}
    return {"tool": action.call.name, "arguments": stated}


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
