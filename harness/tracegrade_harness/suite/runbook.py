"""Reads a runbook: how to undo what may be left, by pattern, written before any run.

- pattern: "files:data/clean/*.csv"
  undo: delete                          # short for {delete: "{path}"}
- pattern: "files:data/**/*.lock"
  undo: {command: [rm, "{path}"]}
- pattern: "sqlite:ledger/runs/*"
  undo: {manual: "Ask accounting about {object}."}
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from tracegrade.rollback.undo import undo_fault
from tracegrade_harness.errors import SuiteUnusable
from tracegrade_harness.suite.templates import placeholders
from tracegrade_queries.files import yaml_source
from tracegrade_queries.files.yaml_source import SourceFile

SHORT: Final = {"delete": {"delete": "{path}"}, "restore": {"restore": "{path}"}}
MEANINGS: Final = ("object", "path")
_WAY_OUT: Final = "write it as: - {pattern: PATTERN, undo: {delete: '{path}'}}"


class Instruction(NamedTuple):
    """The undo for objects that match a pattern."""

    pattern: str
    undo: dict[str, Any]


def read(path: Path) -> list[Instruction]:
    """Return the instructions of a runbook, in its order.

    Raises:
        SuiteUnusable: It is missing, or something in it is wrong; the first line that is.
    """
    file = _read(path)
    for problem in _problems(file):
        raise SuiteUnusable(str(problem))
    return [Instruction(item["pattern"], _whole(item["undo"])) for item in file.values]


def check_runbook(path: Path) -> list[yaml_source.Problem]:
    """Return the problems of an existing runbook.

    Raises:
        SuiteUnusable: It cannot be read.
    """
    return list(_problems(_read(path)))


def _read(path: Path) -> SourceFile:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"runbook '{path}' cannot be read: {error}; write it as UTF-8 next to the suite"
        raise SuiteUnusable(msg) from error
    return yaml_source.read(str(path), text)


def _whole(undo: Any) -> Any:
    """Return an undo written in full."""
    return SHORT.get(undo, undo) if isinstance(undo, str) else undo


def _problems(file: SourceFile) -> Iterator[yaml_source.Problem]:
    yield from file.problems
    if file.problems:
        return
    if not isinstance(file.values, list):
        yield file.problem((), "a runbook is a list", _WAY_OUT)
        return
    for index, item in enumerate(file.values):
        fact = _fault(item)
        if fact:
            yield file.problem((index,), fact, _WAY_OUT)


def _fault(item: Any) -> str | None:
    if not isinstance(item, dict) or set(item) != {"pattern", "undo"}:
        return "an instruction has 'pattern' and 'undo', and nothing else"
    if not isinstance(item["pattern"], str) or not item["pattern"]:
        return "'pattern' must be a text"
    undo = _whole(item["undo"])
    unknown = [name for name in placeholders(undo) if name not in MEANINGS]
    if unknown:
        return f"'{{{unknown[0]}}}' is not known; known: {{object}}, {{path}}"
    return undo_fault(undo)
