"""Expected actions that a data set holds → a task file (`tracegrade tasks from`).

Test cases of the tools in `case_forms.py` are recognized; in other records `--map` says where the
fields stand. A task may be in many records (one for each trial); they must expect the same calls.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from tracegrade.errors import BadInput
from tracegrade_collector.encoding.plain_files import READ_ERRORS
from tracegrade_collector.importing.expected import ExpectedAction, read_expected
from tracegrade_collector.importing.mapping import FieldMap
from tracegrade_collector.importing.records import FileRecord, read_records
from tracegrade_collector.importing.source import open_plain
from tracegrade_collector.importing.tables import csv_rows
from tracegrade_scoring.errors import TaskFileUnreadable
from tracegrade_scoring.tasks import adk_cases, deepeval_goldens
from tracegrade_scoring.tasks.case_forms import form_of
from tracegrade_scoring.tasks.cases import CaseTask, decision_of, whole_pattern

COMPLETE: Final[dict[str, bool | str]] = {"true": True, "false": False, "writes": "writes"}

Note = Callable[[str], object]

_EXPECTS_NOTHING: Final = "cases without a name, or that expect neither calls nor a text as answer"

SHOWN_CHARS: Final = 200
"""Limit of the characters shown of an unreadable action."""


class _ExpectedOutcome(NamedTuple):
    """The expected outcome of one record, or of one case in it."""

    location: str
    case: CaseTask
    unread: Sequence[str] = ()
    """Actions that cannot be read."""
    unnamed: int = 0
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
    tasks = _tasks(truths, COMPLETE[complete], note)
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


def _tasks(
    truths: Sequence[_ExpectedOutcome], complete: bool | str, note: Note
) -> dict[str, dict[str, Any]]:
    """Return the tasks by name; what is not in them is noted, by reason."""
    tasks: dict[str, dict[str, Any]] = {}
    left_out: Counter[str] = Counter()
    cases = {(each.case.name, each.case.user_input) for each in truths if _expects(each.case)}
    inputs = Counter(text for _, text in cases)
    for truth in truths:
        case = truth.case
        left_out += case.left_out
        if not _expects(case):
            left_out[
                "cases without a name, or that expect neither calls nor a text as answer"
            ] += 1
            continue
        task = _task(case, complete, is_matched=inputs[case.user_input] == 1)
        left_out["inputs that several tasks share"] += bool(
            case.user_input and "match" not in task
        )
        if tasks.setdefault(case.name, task) != task:
            note(
                f"{truth.location}: task '{case.name}' expects something else "
                "than before; left out"
            )
    for reason, count in (+left_out).most_common():
        note(f"not carried over: {count} {reason}")
    return tasks


def _task(case: CaseTask, complete: bool | str, *, is_matched: bool) -> dict[str, Any]:
    """Return a task of a task file."""
    user_input = case.user_input if is_matched else None
    match = {"user_input": whole_pattern(user_input)} if user_input else None
    expected = None if case.expected is None else list(case.expected)
    found = {
        "category": case.category or None,
        "match": match,
        "expected": expected,
        "expected_complete": None if expected is None else complete,
        "reference": case.reference or None,
    }
    return {key: value for key, value in found.items() if value is not None}


def _expects(case: CaseTask) -> bool:
    """Return whether a case has a name, and expects something that a task file can state."""
    return bool(case.name and (case.expected is not None or case.reference))


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
                yield from _truths_in(path, _records(file), fields, note)
        except READ_ERRORS as error:
            msg = f"{path} cannot be read: {error}"
            raise TaskFileUnreadable(msg) from error


def _records(file: BufferedReader) -> Iterator[FileRecord]:
    """Yield the records of JSON, or of CSV whose first line has the columns of cases."""
    start = file.peek(_HEADER_BYTES)[:_HEADER_BYTES].removeprefix(b"\xef\xbb\xbf").lstrip()
    columns = start.partition(b"\n")[0].strip().decode(errors="replace").split(",")
    is_csv = start[:1] not in {b"{", b"["} and not deepeval_goldens.COLUMNS.isdisjoint(columns)
    yield from csv_rows(file) if is_csv else read_records(file)


_HEADER_BYTES: Final = 4096


def _truths_in(
    path: Path, records: Iterable[FileRecord], fields: FieldMap, note: Note
) -> Iterator[_ExpectedOutcome]:
    is_mapped = any(fields.mapped(field) for field in ("task", "expected"))
    turns: list[Mapping[str, Any]] = []
    for record in records:
        location = f"{path}:{record.line}"
        if record.fault:
            note(f"{location}: {record.fault}")
        elif not is_mapped and (form := form_of(record.value)) is not None:
            for case in form.read(record.value):
                yield _ExpectedOutcome(location, case)
        elif not is_mapped and adk_cases.is_turn(record.value):
            turns.append(record.value)
        elif (truth := _truth(location, record.value, fields)) is None:
            note(f"{location}: no task or no expected actions")
        else:
            yield truth
    if turns:
        name = path.name.removesuffix(".json").removesuffix(".test")
        yield _ExpectedOutcome(f"{path}:1", adk_cases.case_of_turns(name, turns))


def _truth(location: str, value: Any, fields: FieldMap) -> _ExpectedOutcome | None:
    task, expected = fields.find(value, "task"), fields.find(value, "expected")
    category = fields.find(value, "category")
    if expected is None or task is None or isinstance(task, dict | list):
        return None
    actions = read_expected(expected)
    decisions = [action.call and decision_of(action.call) for action in actions]
    return _ExpectedOutcome(
        location,
        CaseTask(
            str(task),
            category if isinstance(category, str) else None,
            expected=[decision for decision in decisions if decision],
        ),
        [
            json.dumps(action.value, ensure_ascii=False)[:SHOWN_CHARS]
            for action, decision in zip(actions, decisions, strict=True)
            if decision is None
        ],
        sum(isinstance(action.value, str) and _has_no_names(action) for action in actions),
    )


def _has_no_names(action: ExpectedAction) -> bool:
    return action.call is not None and action.call.arguments is None
