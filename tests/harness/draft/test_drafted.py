"""What traces hold becomes data of a suite; what they lack is named, and leaves a run out."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.commands import Ended, tracegrade
from tests.queries.traces import (
    agent,
    land,
    message,
    model,
    request,
    request_of,
    response,
    tool,
)
from tests.slow import slow_after

from tracegrade_harness.tape.entries import read_tape
from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.tasks import Specification

HOSTILE = [
    "../../../etc/passwd",
    "/abs",
    "{task} $HOME",
    "no",
    "a\nb: c",
    "\u202eevil\x1b[2J",
    "CON",
    "x" * 500,
    "…/é",
    "~",
    "Same",
    "same",
    ".",
    "..",
    "-rf",
    "suite.yaml",
]


def run(trace: int, task: str | None, *, asked: str = "Pay A-1.", said: Any = "Paid.") -> bytes:
    """Return one run: the model looks, then pays nothing and answers."""
    named: dict[str, Any] = {} if task is None else {"tracegrade__task__id": task}
    heard = [message("system", "Be brief."), message("user", asked)]
    looks = message("assistant", request("look", "c1", order="A-1"))
    told = [*heard, looks, message("tool", response({"found": 1}, "c1"))]
    return request_of(
        [
            agent(1, trace=trace, tracegrade__outcome="success", **named),
            model(2, 1, trace=trace, at=1, heard=heard, said=[looks]),
            tool(
                *(3, 1),
                tool_name="look",
                trace=trace,
                at=3,
                gen_ai__tool__call__id="c1",
                gen_ai__tool__call__arguments='{"order": "A-1"}',
                gen_ai__tool__call__result='{"found": 1}',
            ),
            model(4, 1, trace=trace, at=5, heard=told, said=[message("assistant", said)]),
        ]
    )


def lake_of(folder: Path, *runs: bytes) -> Path:
    """Return a scored lake with these runs."""
    lake = Lake.create(folder / "lake")
    land(lake, *runs)
    score(lake, Specification())
    return folder / "lake"


def draft(lake: Path, out: Path, *options: object) -> Ended:
    """Draft a suite of a lake."""
    command = ("--command", "{python} agent.py {user_input}")
    return tracegrade("harness", "draft", "--lake", lake, "--out", out, *command, *options)


def test_hostile_names_are_data(lake: Path, tmp_path: Path) -> None:
    """Each task has its case, all files are in the folder, and `check` has nothing against it."""
    out = tmp_path / "out" / "drafted"

    ended = draft(lake, out, *(f"--task={task}" for task in HOSTILE))

    assert ended.returncode == 0, ended.stderr
    assert "\x1b" not in ended.stdout
    written = {path for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert {path.parent for path in written} == {out, out / "tapes"}
    suite = yaml.safe_load((out / "suite.yaml").read_text())
    assert len(suite["cases"]) == len(HOSTILE)
    assert len({name.casefold() for name in suite["cases"]}) == len(HOSTILE)
    asked = {case["user_input"] for case in suite["cases"].values()}
    assert asked == {f"Pay {task}." for task in HOSTILE}
    for case in suite["cases"].values():
        assert len(read_tape(out / case["tape"]).entries) == 2
    checked = tracegrade(
        "harness", "check", out / "suite.yaml", "--idle-secs", "0", "--folder", tmp_path / "home"
    )
    assert checked.returncode == 0, checked.stderr


LACKS: dict[str, tuple[dict[str, Any], str]] = {
    "asked": ({"asked": "Pay with [redacted:card]."}, "the user's request (redacted)"),
    "answered": ({"said": "[redacted:api_key]"}, "model call 2 (redacted)"),
    "blob": (
        {"said": {"type": "blob", "content": "aGk="}},
        "model call 2: its answer (not captured)",
    ),
}
"""Of tasks: what their runs say, and what they therefore lack."""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of task a, one of task b, those that lack something, and hostile ones."""
    holed = [run(i, task, **LACKS[task][0]) for i, task in enumerate(LACKS, 4)]
    hostile = [run(i, task, asked=f"Pay {task}.") for i, task in enumerate(HOSTILE, 40)]
    runs = (run(1, "a"), run(2, "a"), run(3, "b"))
    return lake_of(tmp_path_factory.mktemp("drafted"), *runs, *holed, *hostile)


def test_what_a_run_lacks_is_named(lake: Path, tmp_path: Path) -> None:
    """It becomes no case, or one that says what it lacks."""
    out = tmp_path / "drafted"
    tasks = [word for task in ("b", *LACKS) for word in ("--task", task)]

    ended = draft(lake, out, *tasks)

    assert ended.returncode == 0, ended.stderr
    for i, (_, lack) in enumerate(LACKS.values(), 4):
        assert f"left out: run {i:032x}-{1:016x} lacks {lack}" in ended.stdout
    reasons = "(1 not captured, 2 redacted); --incomplete takes them, too"
    assert f"drafted 1 case, left out 3 runs {reasons}" in ended.stdout
    assert [*yaml.safe_load((out / "suite.yaml").read_text())["cases"]] == ["b"]
    expected = yaml.safe_load((out / "tasks.yaml").read_text())["tasks"]["b"]["expected"]
    assert expected == [{"tool": "look"}]  # arguments are those of several runs

    again = draft(lake, out, *tasks)
    assert (again.returncode, "give another --out, or --replace" in again.stderr) == (2, True)
    whole = draft(lake, out, *tasks, "--incomplete", "--replace")
    assert whole.returncode == 0, whole.stderr
    assert {*yaml.safe_load((out / "suite.yaml").read_text())["cases"]} == {"b", *LACKS}
    for task in LACKS:
        assert f"# {task}: " in (out / "suite.yaml").read_text()


def test_runs_are_chosen_by_id_and_expected_to_do_what_they_did(
    lake: Path, tmp_path: Path
) -> None:
    """Of two runs of a task either; where no task file says what is expected."""
    one = f"{1:032x}-{1:016x}"

    ended = draft(lake, tmp_path / "out", "--trajectory", one)

    assert f"case a: run {one}" in ended.stdout
    assert ended.stdout.count("case a") == 1
    tasks = yaml.safe_load((tmp_path / "out" / "tasks.yaml").read_text())
    assert tasks["tasks"]["a"]["expected"] == [{"tool": "look", "arguments": {"order": "A-1"}}]
    (first, _) = read_tape(tmp_path / "out" / "tapes" / "a.jsonl").entries
    assert json.loads(first.key.arguments)["instructions"] == "Be brief."


@pytest.mark.parametrize(
    ("words", "said"),
    slow_after(1, [(("--failed",), "no failed run"), (("--task", "c"), "no run of task 'c'")]),
)
def test_runs_that_are_not_there_are_named(
    lake: Path, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    """They are chosen by failure, or by task."""
    ended = draft(lake, tmp_path / "out", *words)

    assert ended.returncode == 2
    assert said in ended.stderr


@pytest.mark.slow
def test_expectations_are_those_of_successful_runs(lake: Path, tmp_path: Path) -> None:
    """Where no task file says any; of the runs of one task one becomes its case."""
    ended = draft(lake, tmp_path / "out", "--task", "a")

    assert ended.stdout.count("\ncase ") + ended.stdout.startswith("case ") == 1
    tasks = yaml.safe_load((tmp_path / "out" / "tasks.yaml").read_text())
    assert tasks["tasks"]["a"]["expected"] == [{"tool": "look", "arguments": {"order": "A-1"}}]
    (first, _) = read_tape(tmp_path / "out" / "tapes" / "a.jsonl").entries
    assert json.loads(first.key.arguments)["instructions"] == "Be brief."
