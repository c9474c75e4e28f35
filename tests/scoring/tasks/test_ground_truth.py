"""What a data set expects becomes a task file that the checker accepts."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tracegrade.errors import BadInput
from tracegrade_scoring.errors import TaskFileUnreadable
from tracegrade_scoring.tasks import load
from tracegrade_scoring.tasks.ground_truth import task_file

Row = dict[str, Any]


def made(
    folder: Path, *records: Any, complete: str = "false", **paths: str
) -> tuple[Row, list[str]]:
    """Return the tasks made of some records, once the checker accepts them, and the notes."""
    file, notes = folder / "runs.jsonl", list[str]()
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    text = task_file([file], paths, complete, notes.append)
    (folder / "tasks.yaml").write_text(text)
    assert load([folder / "tasks.yaml"]).errors == []
    tasks: Row = yaml.safe_load(text)["tasks"]
    return tasks, notes


@pytest.mark.parametrize(
    ("actions", "expected"),
    [
        ([{"name": "pay", "kwargs": {"n": 1}}], [{"tool": "pay", "arguments": {"n": 1}}]),
        (
            [{"function": {"name": "pay", "arguments": '{"n": 1}'}}],
            [{"tool": "pay", "arguments": {"n": 1}}],
        ),
        ({"name": "pay"}, [{"tool": "pay"}]),
        (
            ['shop.pay.func(n=1, why="x")'],
            [{"tool": "shop.pay", "arguments": {"n": 1, "why": "x"}}],
        ),
        (["pay()"], [{"tool": "pay", "arguments": {}}]),
        ([], []),
    ],
)
def test_expected_calls_are_read_in_every_spelling(
    tmp_path: Path, actions: Any, expected: list[Row]
) -> None:
    """Objects of any provider, and calls in Python's spelling; argument names are required."""
    tasks, notes = made(tmp_path, {"task_id": 3, "expected": actions})

    assert notes == []
    assert tasks == {"3": {"expected": expected, "expected_complete": False}}


def test_trials_that_contradict_each_other_are_named(tmp_path: Path) -> None:
    """The first counts; a record without a task is none."""
    one = {"task_id": "a", "category": "c", "want": [{"name": "pay"}]}
    tasks, notes = made(
        tmp_path, one, one, one | {"want": []}, {"want": []}, complete="writes", expected="want"
    )

    file = tmp_path / "runs.jsonl"
    assert tasks == {
        "a": {"category": "c", "expected": [{"tool": "pay"}], "expected_complete": "writes"}
    }
    assert notes == [
        f"{file}:4: no task or no expected actions",
        f"{file}:3: task 'a' expects something else than before; left out",
    ]


@pytest.mark.parametrize(
    "action",
    [
        "__import__('os').system(cmd='x')",
        "pay(n=print(1))",
        5,
        None,
        "((",
        {"no": "name"},
        {"shop.pay": {"n": [1]}},
        {"name": "pay", "arguments": "n=1"},
        {"name": "pay", "arguments": [1]},
    ],
)
def test_action_that_cannot_be_read_is_refused(tmp_path: Path, action: Any) -> None:
    """A task that lacks it would call right runs wrong; code is read, never run."""
    file, notes = tmp_path / "runs.json", list[str]()
    file.write_text(json.dumps({"task_id": "a", "expected": [{"name": "look"}, action]}))

    with pytest.raises(
        TaskFileUnreadable, match=r"^1 expected actions cannot be read; write each"
    ):
        task_file([file], {}, "false", notes.append)
    shown = json.dumps(action, ensure_ascii=False)
    assert notes == [f"{file}:1: expected action cannot be read: {shown}"]
    assert TaskFileUnreadable.exit_code == 2


def test_what_looks_like_a_rule_is_written_literally(tmp_path: Path) -> None:
    """So are rules inside values, and names that look like paths."""
    arguments = {"n": {"input": "x"}, "m": [{"any_of": [1]}], "$.a": 1, "k": {"matches": 2}}
    expected = [{"name": "pay", "arguments": arguments}]
    tasks, _ = made(tmp_path, {"task_id": "a", "expected": expected})

    assert tasks["a"]["expected"] == [
        {
            "tool": "pay",
            "arguments": {
                "n": {"exactly": {"input": "x"}},
                "m": {"exactly": [{"any_of": [1]}]},
                '$."$.a"': 1,
                "k": {"exactly": {"matches": 2}},
            },
        }
    ]


def test_arguments_without_names_are_said(tmp_path: Path) -> None:
    """The tool alone is expected then."""
    tasks, notes = made(tmp_path, {"task_id": "a", "expected": ["pay(1)"]})

    assert tasks["a"]["expected"] == [{"tool": "pay"}]
    assert notes == ["1 expected actions whose arguments have no names: any arguments are right"]


def test_nothing_to_make_tasks_of_is_an_error(tmp_path: Path) -> None:
    """A file without truth, an absent one, and an unknown choice."""
    with pytest.raises(TaskFileUnreadable, match="no record has a task and expected actions"):
        made(tmp_path, {"task_id": 1})
    with pytest.raises(TaskFileUnreadable, match="cannot be read"):
        task_file([tmp_path / "absent"], {}, "true", print)
    with pytest.raises(
        BadInput, match="--complete must be one of true, false, writes, got 'some'"
    ):
        task_file([], {}, "some", print)


def test_tau_bench_gives_its_50_tasks(tmp_path: Path, shared_data: Path) -> None:
    """All four trials of each task expect the same."""
    notes: list[str] = []
    text = task_file(
        [shared_data / "tau-bench" / "gpt-4o-airline.json"], {}, "false", notes.append
    )
    (tmp_path / "tasks.yaml").write_text(text)
    loaded = load([tmp_path / "tasks.yaml"])

    assert notes == []
    assert (loaded.errors, len(loaded.specification.tasks)) == ([], 50)
