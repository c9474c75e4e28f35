"""The format `verdicts`: results from outside the scorer, as objects of JSON or rows of CSV.

A verdict names a run by `trajectory_id`, by `trace_id` for the trace's outermost run, or by task
and further fields that identify it (trial, agent, release, conversation). It holds a value, a
label, or both. A record may hold a list of verdicts, which share its other fields.

Subjects are `success`, `step` (of `step_index` or `span_id`, with a `tag`), `sub_goal`, `served`
(whether the call of the step serves the `sub_goal`), `planning` and `rollback`. Without a subject
a verdict is about the sub-goal that it names, else about success. A verdict on planning answers
one `question` about the plan (`dependency_ordering`, `branch_coverage`, `scope_control` or
`reversibility`) by yes, no or a share from 0 to 1.

The newest verdict of a source by `made_at` counts, and `withdrawn` takes its verdict back. Runs of
one conversation are judged together. A verdict that fits no run, or several runs that it does not
distinguish, is a fault; import the runs first. A verdict causes its trace to be scored again.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from io import BufferedReader
from pathlib import Path
from typing import Any, Final

from tracegrade_collector.importing.import_part import ImportPart, ReadOptions
from tracegrade_collector.importing.mapping import GUESSES, FieldMap, as_name
from tracegrade_collector.importing.records import FileRecord, read_records
from tracegrade_collector.importing.run_addresses import RunAddress
from tracegrade_collector.importing.scores import quoted_name
from tracegrade_collector.importing.source import open_plain
from tracegrade_collector.importing.spellings import as_text
from tracegrade_collector.importing.tables import csv_rows

FORMAT: Final = "verdicts"
SUBJECTS: Final = ("success", "step", "sub_goal", "served", "planning", "rollback")
KILL_POINTS: Final = ("early", "mid", "late")
QUESTIONS: Final = (
    "dependency_ordering",
    "branch_coverage",
    "scope_control",
    "reversibility",
)
"""Questions about a plan: docs/metrics.md, section 5.2."""
MOST_STEPS: Final = 2**31 - 1
"""Greater numbers are of no step."""
SOURCE: Final = "import"
"""Author of verdicts in a file that names none."""

_KINDS: Final = ("human", "judge")
"""Kinds of sources: a source begins with the word, alone or before a colon."""
_KIND_WORDS: Final = re.compile("|".join(_KINDS), re.IGNORECASE)

_DECIDING: Final = frozenset(
    {"success", "pass", "passed", "true", "correct", "yes"}
    | {"failure", "fail", "failed", "false", "incorrect", "no", "error"}
)
"""Labels that decide without a value: docs/metrics.md, section 8.3."""

_RUN_IDS: Final = ("trajectory_id", "trace_id")
_IDS: Final = {
    "trajectory_id": re.compile(r"[0-9a-f]{32}-[0-9a-f]{16}"),
    "trace_id": re.compile(r"[0-9a-f]{32}"),
    "span_id": re.compile(r"[0-9a-f]{16}"),
}


class NoVerdict(Exception):
    """A record is not a verdict; the message says why."""


def fits(head: bytes, record: Any, paths: Mapping[str, str]) -> bool:
    """Return whether a file with this beginning, or with these mapped fields, has this format."""
    if any(field in paths for field in (*_RUN_IDS, "value", "label", "subject", "verdicts")):
        return True
    names = record if isinstance(record, dict) else _header(head)
    named = any(key in names for key in _RUN_IDS) or (
        any(key in names for key in GUESSES["task"])
        and not any(key in names for key in (*GUESSES["messages"], *GUESSES["steps"]))
    )
    return named and any(
        key in names for key in ("value", "label", "score", "subject", "verdict", "verdicts")
    )


def read(path: Path, reading: ReadOptions) -> Iterator[ImportPart]:
    """Yield a part for each verdict of a file, and one for each invalid record."""
    fields = FieldMap(reading.paths)
    misread: Counter[str] = Counter()
    with open_plain(path) as file:
        for record in _records(file):
            for part in _parts(f"{path}:{record.line}", record, fields):
                misread.update(filter(_is_misread, (row["source"] for row in part.verdicts)))
                yield part
    for line in fields.unseen():
        yield ImportPart(str(path), fault=line)
    if misread:
        yield ImportPart(str(path), notes=[_misread_note(misread)])


def _is_misread(source: str) -> bool:
    """Return whether a source counts as a verifier's and looks like a judge's or a person's."""
    return source.partition(":")[0] not in _KINDS and _KIND_WORDS.search(source) is not None


def _misread_note(misread: Counter[str]) -> str:
    first = quoted_name(next(iter(misread)))
    return (
        f"{misread.total():,} verdicts, first of source {first}, count as a verifier's: a source "
        "is a model's as 'judge:NAME', a person's as 'human:NAME'"
    )


def _records(file: BufferedReader) -> Iterator[FileRecord]:
    if file.peek(1)[:1] and file.peek(64).lstrip(b" \t\r\n\xef\xbb\xbf")[:1] in (b"{", b"["):
        return read_records(file)
    return csv_rows(file)


def _header(head: bytes) -> list[str]:
    line = head.split(b"\n", 1)[0].decode("utf-8-sig", "replace")
    return [name.strip().strip('"') for name in line.split(",")]


def _parts(location: str, record: FileRecord, fields: FieldMap) -> Iterator[ImportPart]:
    """Yield a part for the verdict that a record is, or for each that it holds."""
    verdicts = fields.find(record.value, "verdicts")
    if record.fault or not isinstance(verdicts, list):
        yield _part(location, record.value, record.fault, fields)
        return
    for number, verdict in enumerate(verdicts):
        if isinstance(verdict, dict):
            yield _part(f"{location}[{number}]", {**record.value, **verdict}, None, fields)
        else:
            yield ImportPart(f"{location}[{number}]", fault=_no_object(verdict))


def _part(location: str, record: Any, fault: str | None, fields: FieldMap) -> ImportPart:
    if fault:
        return ImportPart(location, fault=fault)
    try:
        verdict = _verdict(record, fields)
        address = None if verdict["trajectory_id"] else _address(record, fields)
    except NoVerdict as error:
        return ImportPart(location, fault=str(error))
    understood = Counter({"verdicts": 1})
    return ImportPart(location, verdicts=[verdict], address=address, understood=understood)


def _verdict(record: Any, fields: FieldMap) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise NoVerdict(_no_object(record))
    value, label = _value(fields.find(record, "value")), _text(fields.find(record, "label"))
    withdrawn = _value(fields.find(record, "withdrawn")) == 1
    if value is None and label is None and not withdrawn:
        msg = "a verdict needs a value (a number, true or false) or a label"
        raise NoVerdict(msg)
    subject = _subject(record, fields)
    if subject == "planning" and not withdrawn:
        _check_share(value, label)
    return {
        "trajectory_id": _run(record, fields),
        "subject": subject,
        "sub_goal": _sub_goal(subject, fields.find(record, "sub_goal")),
        "step_index": _step_index(subject, fields.find(record, "step_index")),
        "kill_point": _kill_point(subject, fields.find(record, "kill_point")),
        "question": _question(subject, fields.find(record, "question")),
        "value": value,
        "label": label,
        "source": _text(fields.find(record, "source")) or SOURCE,
        "evidence": _text(fields.find(record, "evidence")),
        "tag": _text(fields.find(record, "tag")),
        "made_at": _time(fields.find(record, "made_at")),
        "withdrawn": withdrawn or None,
        **_step_span(subject, record, fields),
    }


def _step_span(subject: str, record: dict[str, Any], fields: FieldMap) -> dict[str, str | None]:
    """Return the span of the failed step, and its run, if they are given."""
    if subject != "step":
        return {"step_trajectory_id": None, "span_id": None}
    found = {
        "step_trajectory_id": _id(fields, record, "trajectory_id", "step_trajectory_id"),
        "span_id": _id(fields, record, "span_id"),
    }
    if found["span_id"] is None and fields.find(record, "step_index") is None:
        msg = "a verdict on step must name its span_id or its step_index"
        raise NoVerdict(msg)
    return found


def _no_object(value: Any) -> str:
    return f"a verdict is an object, this is a {type(value).__name__}"


def _subject(record: dict[str, Any], fields: FieldMap) -> str:
    """Return the subject of a verdict; by default a sub-goal if one is named."""
    named = fields.find(record, "subject")
    if named is None:
        return "success" if fields.find(record, "sub_goal") is None else "sub_goal"
    return _choice("subject", named, SUBJECTS)


def _run(record: dict[str, Any], fields: FieldMap) -> str | None:
    """Return the run's id, or its trace's; None if the record has neither."""
    of = (_id(fields, record, field) for field in _RUN_IDS)
    return next((each for each in of if each is not None), None)


def _id(fields: FieldMap, record: dict[str, Any], kind: str, field: str = "") -> str | None:
    """Return the id of a kind from a field, by default from the field of that name."""
    found = fields.find(record, field or kind)
    if found is None:
        return None
    if isinstance(found, str) and _IDS[kind].fullmatch(found.strip().lower()):
        return found.strip().lower()
    msg = f"{field or kind} must be {_ID_FORMS[kind]}"
    raise NoVerdict(msg)


def _address(record: dict[str, Any], fields: FieldMap) -> RunAddress:
    found = {field: as_name(fields.find(record, field)) for field in RunAddress._fields}
    task = found.pop("task")
    if not task:
        msg = "a verdict needs a trajectory_id, a trace_id or a task"
        raise NoVerdict(msg)
    return RunAddress(task, **found)


_ID_FORMS: Final = {
    "trajectory_id": "32 hex digits, '-' and 16 hex digits",
    "trace_id": "32 hex digits",
    "span_id": "16 hex digits",
}


def _choice(field: str, found: Any, choices: tuple[str, ...]) -> str:
    if found not in choices:
        msg = f"{field} must be one of {', '.join(choices)}"
        raise NoVerdict(msg)
    return str(found)


_OF_SUB_GOALS: Final = {"sub_goal": "a sub_goal", "served": "the sub_goal that a call served"}


def _sub_goal(subject: str, found: Any) -> str | None:
    if subject not in _OF_SUB_GOALS:
        return None
    if (text := _text(found)) is None:
        msg = f"a verdict on {_OF_SUB_GOALS[subject]} must name it"
        raise NoVerdict(msg)
    return text


def _step_index(subject: str, found: Any) -> int | None:
    """Return the step whose call is judged, or that failed."""
    if subject not in {"served", "step"} or (subject == "step" and found is None):
        return None
    value = _value(found) if not isinstance(found, bool) else None
    if value is None or not value.is_integer() or not 0 <= value <= MOST_STEPS:
        msg = f"a verdict on {subject} must name a step_index, a whole number from 0"
        raise NoVerdict(msg)
    return int(value)


def _kill_point(subject: str, found: Any) -> str | None:
    return _choice("kill_point", found, KILL_POINTS) if subject == "rollback" else None


def _question(subject: str, found: Any) -> str | None:
    return _choice("question", found, QUESTIONS) if subject == "planning" else None


def _check_share(value: float | None, label: str | None) -> None:
    """Refuse a verdict on a plan without a share of the plan that is right."""
    if (label or "").lower() in _DECIDING:
        return
    if value is None or not 0 <= value <= 1:
        given = f"value {value:g}" if value is not None else f"label '{label}'"
        msg = f"a verdict on planning needs a value from 0 to 1, or yes or no; this has {given}"
        raise NoVerdict(msg)


def _value(found: Any) -> float | None:
    """Return a number; true is 1. A text that is not a number has no value."""
    try:
        value = float(found)
    except (TypeError, ValueError, OverflowError):
        return {"true": 1.0, "false": 0.0}.get(str(found).lower())
    return value if math.isfinite(value) else None


def _time(found: Any) -> datetime | None:
    """Return a time in UTC, as the table has it; without a zone it is UTC."""
    if found is None:
        return None
    try:
        time = datetime.fromisoformat(str(found))
        return (time.astimezone(UTC) if time.tzinfo else time).replace(tzinfo=None)
    except (ValueError, OverflowError):
        msg = "made_at must be a time like 2026-10-01T09:30:00Z"
        raise NoVerdict(msg) from None


def _text(found: Any) -> str | None:
    return None if found is None or found == "" else as_text(found)
