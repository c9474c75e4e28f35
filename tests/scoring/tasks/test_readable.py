"""What is wrong with a task file's shape hides nothing else that is wrong, and invents nothing."""

import copy
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
import yaml

from tracegrade_queries.files.yaml_source import read
from tracegrade_scoring.errors import TaskFileInvalid
from tracegrade_scoring.tasks import load
from tracegrade_scoring.tasks.load import parse
from tracegrade_scoring.tasks.specification import usable_specification

EXAMPLE = Path(__file__).with_name("tasks.yaml")
VALUES = yaml.safe_load(EXAMPLE.read_text())


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of everything in a file but its version."""
    if path and path != ("version",):
        yield path
    listed = list(enumerate(value)) if isinstance(value, list) else []
    for key, held in value.items() if isinstance(value, dict) else listed:
        yield from places(held, (*path, key))


def broken(path: tuple[str | int, ...], strange: Any) -> str:
    """Return the example with something else at one place; None adds a strange key there."""
    values = copy.deepcopy(VALUES)
    holder = values
    for part in path[:-1]:
        holder = holder[part]
    given = holder[path[-1]]
    more = {**given, "zz": -1} if isinstance(given, dict) else [strange]
    holder[path[-1]] = more if strange is None else strange
    text: str = yaml.safe_dump(values, sort_keys=False, allow_unicode=True)
    return text


@pytest.mark.slow
def test_one_fault_of_shape_brings_no_other(tmp_path: Path) -> None:
    """In any place, only this fault is reported: its contents do not seem to be missing."""
    file = tmp_path / "tasks.yaml"
    values: list[Any] = [[[]], -7, None]
    for path, strange in zip(places(VALUES), cycle(values), strict=False):
        file.write_text(broken(path, strange))
        expected = parse(read(str(file), file.read_text()))[1]
        if expected:
            others = set(load([file]).errors) - set(expected)
            assert [error for error in others if "'zz'" not in error.fact] == [], path


BAD = """\
version: 1
tools:
  a: {effect: erase, parameters: {type: nope}}
  b: {alternatives: [zz], error_pattern: '('}
  c: {cost: -1, efect: read}
tasks:
  t:
    expected: [{tools: a}, {tool: a, arguments: {x: {matches: '('}}}]
    sub_goals:
      g: {deps: [h], serves: [a]}
      k: {deps: [k], weight: heavy}
  u:
    expected: [{}]
    success: {answer: '(', state: 1}
  t: {}
"""


def test_faults_of_shape_and_of_meaning_are_told_together(tmp_path: Path) -> None:
    """In one run, in the order of their lines, by the place where they stand."""
    (tmp_path / "tasks.yaml").write_text(BAD)
    errors = load([tmp_path / "tasks.yaml"]).errors

    facts = [f"{error.line} {error.fact.split(':')[0]}" for error in errors]
    assert facts == [
        "3 tools.a.effect is 'erase'",
        "3 tools.a.parameters is not a JSON Schema",
        "4 tools.b.alternatives[0]",
        "4 tools.b.error_pattern is not an RE2 pattern",
        "5 unknown key 'efect' in tools.c",
        "5 tools.c.cost is -1",
        "8 unknown key 'tools' in tasks.t.expected[0]",
        "8 tasks.t.expected[1].arguments.x",
        "10 task 't'",
        "11 tasks.t.sub_goals.k.weight is 'heavy'",
        "11 task 't'",
        "13 tasks.u.expected[0]",
        "14 tasks.u.success.state is 1",
        "14 tasks.u.success.answer is not an RE2 pattern",
        "15 key 't' stands twice, first on line 7",
    ]


@pytest.mark.parametrize("text", ["[]", "7", "{tools: 7}", "{tasks: {'': {}}}", "{version: {}}"])
def test_a_file_with_nothing_to_read_is_told_as_it_is(tmp_path: Path, text: str) -> None:
    """Its faults of shape are all there are."""
    (tmp_path / "tasks.yaml").write_text(text)
    loaded = load([tmp_path / "tasks.yaml"])

    assert loaded.errors
    assert not loaded.specification.tasks


def test_nothing_of_a_file_with_faults_is_scored_against(tmp_path: Path) -> None:
    """Its right parts are checked and not used; another file's are."""
    (tmp_path / "bad.yaml").write_text(BAD)
    (tmp_path / "good.yaml").write_text("{version: 1, tools: {d: {}}, tasks: {v: {scope: [a]}}}")
    loaded = load([tmp_path])

    assert (set(loaded.specification.tools), set(loaded.specification.tasks)) == ({"d"}, {"v"})
    assert not [problem for problem in loaded.problems if "good.yaml" in problem.file]


def test_scoring_names_every_error_too(tmp_path: Path) -> None:
    """A line each, where there are several; a single one is the message itself."""
    lines: list[str] = []
    (tmp_path / "tasks.yaml").write_text(BAD)
    with pytest.raises(TaskFileInvalid, match="13 errors in task files"):
        usable_specification(tmp_path / "tasks.yaml", note=lines.append)
    (tmp_path / "one.yaml").write_text("{version: 1, tasks: {t: {scope: 3}}}")
    with pytest.raises(TaskFileInvalid, match=r"one\.yaml:1: tasks\.t\.scope is 3"):
        usable_specification(tmp_path / "one.yaml", note=lines.append)

    assert len(lines) == 13
    assert all("tasks.yaml:" in line for line in lines)
