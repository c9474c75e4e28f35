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
        (["pay(1)"], [{"tool": "pay"}]),
        ([], []),
    ],
)
def test_expected_calls_are_read_in_every_spelling(
    tmp_path: Path, actions: Any, expected: list[Row]
) -> None:
    """Objects of any provider, and calls in Python's spelling; names of arguments must be told."""
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
        f"{file}:3: task 'a' expects something else than before; left out",
        f"{file}:4: no task or no expected actions",
    ]


def test_what_cannot_be_expected_is_counted(tmp_path: Path) -> None:
    """Code is read, never run; what looks like a rule or a path is written literally."""
    actions = ["__import__('os').system(cmd='x')", "pay(n=print(1))", 5, "((", {"no": "name"}]
    bound = {"name": "pay", "arguments": {"n": {"input": "x"}, "$.a": 1}}
    tasks, notes = made(tmp_path, {"task_id": "a", "expected": [*actions, bound]})

    assert tasks["a"]["expected"][-1] == {
        "tool": "pay",
        "arguments": {"n": {"exactly": {"input": "x"}}, '$."$.a"': 1},
    }
    assert notes == ["not understood: 5 expected actions that name no tool"]


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
