"""Tools of an agent's own process are recorded once; from then on their bodies do not run."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.commands import Ended, tracegrade
from tests.harness.trial.agents import HarnessRun
from tests.harness.trial.calling import made

OUTSIDE = ["search", "fetch", "hidden", "order"]
FOUND = [{"files": "data", "path": "found", "json": {"$[0].number": 1, "$[1].number": 2}}]


def record(suite: HarnessRun, *options: str) -> Ended:
    """Record the tapes of a suite; its tools write beside it, which no sandbox lets them."""
    words = (
        "record",
        suite.suite,
        "--folder",
        suite.home,
        "--sandbox",
        "none",
        "--yes-as-root",
        *options,
    )
    return tracegrade("harness", *map(str, words))


def ran(suite: HarnessRun) -> list[str]:
    """Return which tools have run, in order."""
    file = suite.suite.parent / "ran"
    return file.read_text().splitlines() if file.exists() else []


def mocked(suite: HarnessRun, *options: object) -> HarnessRun:
    """Run a suite by its tapes, as it would run live."""
    return suite.run("--mode", "mocked", *options).build()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> HarnessRun:
    """A suite with a tape of the calls of its tools."""
    case = {"verify": FOUND, "kill": {"points": ["late"]}}
    suite = made(tmp_path_factory.mktemp("tools"), {"look": case}, OUTSIDE)
    ended = record(suite)
    assert ended.returncode == 0, ended.stderr
    assert "live: tool search" in ended.stdout
    return suite


@pytest.fixture(scope="module")
def played(recorded: HarnessRun) -> HarnessRun:
    """It, run by its tape."""
    return mocked(recorded)


@pytest.fixture(scope="module")
def paid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a suite with a tape of a call that writes; tests copy it."""
    suite = made(tmp_path_factory.mktemp("paid"), {"pay": {}}, ["pay"])
    ended = record(suite)
    assert ended.returncode == 0, ended.stderr
    return suite.suite.parent


@pytest.fixture
def paying(paid: Path, tmp_path: Path) -> HarnessRun:
    """A copy of that suite."""
    return copied(paid, tmp_path / "paying")


def copied(folder: Path, to: Path) -> HarnessRun:
    """Return a copy of a suite and of all that is beside it."""
    copy = shutil.copytree(folder, to)
    return HarnessRun(copy / "suite.yaml", copy / "lake", copy / "home")


def tape(suite: HarnessRun, name: str = "look") -> list[dict[str, Any]]:
    """Return the calls of a tape."""
    text = (suite.suite.parent / f"tapes/{name}.jsonl").read_text()
    return [*map(json.loads, text.splitlines()[1:])]


def test_a_tape_has_what_tools_got_and_gave(recorded: HarnessRun) -> None:
    """But no secret, nor what a taped tool itself called, nor tools that are not taped."""
    lines = sorted(tape(recorded), key=lambda line: json.dumps([line["name"], line["arguments"]]))

    assert {line["channel"] for line in lines} == {"tool"}
    assert [(line["name"], line["arguments"], line["occurrence"]) for line in lines] == [
        ("fetch", {"page": "a"}, 1),
        ("fetch", {"page": "b"}, 1),
        ("hidden", {"args": ["bad"]}, 1),
        ("hidden", {"args": ["good"]}, 1),
        ("order", {"number": 7}, 1),
        ("search", {"kind": "tea", "word": "plain"}, 1),
        ("search", {"word": "tea"}, 1),
        ("search", {"word": "tea"}, 2),
    ]
    assert lines[4]["reply"] == {
        "error": {
            "type": "__main__.NoSuchOrder",
            "message": "there is no order 7",
            "args": ["there is no order 7"],
            "attributes": {"order": 7},
        },
        "effect": "read",
    }
    assert lines[6]["reply"]["result"]["api_key"].startswith("[redacted:")
    assert ran(recorded)[:3] == ["search"] * 3


def test_in_mocked_runs_the_bodies_of_taped_tools_do_not_run(played: HarnessRun) -> None:
    """Sync or async: they give the same in the same order, and raise the same."""
    assert played.ended is not None
    assert played.ended.returncode == 0, played.ended.stderr
    assert played.row("look")["success"] is True
    (note,) = json.loads(played.row("look")["notes"])  # nothing of the tape
    assert note.startswith("effect_mismatch: 'write' is declared as read, ")
    assert len(ran(played)) == 9  # of the run that was recorded


def test_mocked_calls_are_steps_as_live_ones(played: HarnessRun) -> None:
    """With their arguments, results and errors, so that they are scored alike."""
    steps = played.query(
        "SELECT tool_name, arguments, result, status FROM steps JOIN trajectories"
        " USING (trajectory_id) WHERE kind = 'tool_call' AND kill_point IS NULL"
        " ORDER BY step_index"
    )
    names = [*["search"] * 3, *["hidden"] * 2, *["fetch"] * 2, "order", "write"]
    assert [step["tool_name"] for step in steps] == names
    assert json.loads(steps[1]["result"])["number"] == 2
    assert [step["status"] for step in steps[6:8]] == ["ok", "error"]
    assert [row["run_mode"] for row in played.query("SELECT run_mode FROM trajectories")] == [
        "mocked"
    ] * 2


def test_a_mocked_run_is_killed_after_a_call_of_a_tool_that_runs(played: HarnessRun) -> None:
    """The last that the environment was another one after."""
    killed = played.row("look", "late")

    assert (killed["status"], killed["boundary"]) == ("done", 9)


def test_a_call_that_is_not_on_the_tape_is_an_error_of_the_tool(recorded: HarnessRun) -> None:
    """Its body does not run; the agent and the trial learn where the nearest call differs."""
    folder = recorded.suite.parent
    content = yaml.safe_load(recorded.suite.read_text())
    verify = [{"files": "data", "path": "found", "text": {"matches": "ReplayMiss: tracegrade"}}]
    case = {"environment": "desk", "agent": "worker", "tape": "tapes/look.jsonl"}
    content["cases"] = {"miss": {**case, "verify": verify, "on_miss": "continue"}}
    (folder / "missing.yaml").write_text(yaml.safe_dump(content))
    (folder / "fixtures/asked").write_text('"coffee"')
    before = ran(recorded)
    other = recorded._replace(suite=folder / "missing.yaml", lake=folder / "missing-lake")
    tried = other.run("--mode", "mocked")
    (folder / "fixtures/asked").write_text('"tea"')
    row = tried.row("miss")

    assert (row["status"], row["success"]) == ("done", True)
    (verdict,) = tried.verdicts(row["trajectory_id"])
    assert json.loads(verdict["evidence"])["tape_misses"] == [
        'tool search: not on the tape; the nearest has "tea" at $.word instead of "coffee"'
    ]
    assert ran(recorded) == before


def test_a_call_that_changed_the_environment_is_on_no_tape(tmp_path: Path) -> None:
    """Replayed, it would leave nothing that could be verified or judged."""
    suite = made(tmp_path, {"look": {}}, ["*"])
    ended = record(suite)

    assert ended.returncode == 2
    assert "1 call cannot be on a tape" in ended.stderr
    assert "tool write: it changed the environment, first 'files:data/mark'" in ended.stderr
    assert not (tmp_path / "tapes/look.jsonl").exists()


@pytest.mark.slow
def test_an_agent_that_never_began_takes_no_tape_away(
    recorded: HarnessRun, tmp_path: Path
) -> None:
    """It sent no span, asked nothing, and nothing verifies it: `record` ends as `run` does."""
    suite = copied(recorded.suite.parent, tmp_path / "copy")
    tape = suite.suite.parent / "tapes/look.jsonl"
    before = tape.read_text()
    content = yaml.safe_load(suite.suite.read_text())
    content["agents"]["worker"]["command"] = ["sh", "-c", "exit 1"]
    for key in ("verify", "kill"):
        del content["cases"]["look"][key]
    suite.suite.write_text(yaml.safe_dump(content))

    ended = record(suite, "--replace")

    assert ended.returncode == 3
    assert "1 of 1 could not be run or judged, first: look trial 1: silent: " in ended.stderr
    assert "tape: " not in ended.stdout
    assert tape.read_text() == before


@pytest.mark.slow
def test_a_result_that_json_does_not_give_back_is_on_no_tape(tmp_path: Path) -> None:
    """The agent would get something else."""
    ended = record(made(tmp_path, {"set": {}}, ["local"]))

    assert ended.returncode == 2
    assert "tool local: its result is not what JSON gives back: $ is a set" in ended.stderr


@pytest.mark.slow
def test_replayed_writes_are_refused_where_kills_are_judged(paying: HarnessRun) -> None:
    """Whether the task file says that a tool writes, or the tool itself."""
    content = yaml.safe_load(paying.suite.read_text())
    content["cases"]["pay"]["kill"] = {}
    paying.suite.write_text(yaml.safe_dump(content))
    by_tool = paying.run("--mode", "mocked").ended
    tools = "version: 1\ntools: {pay: {effect: write}}\ntasks: {pay: {}}\n"
    (paying.suite.parent / "tasks.yaml").write_text(tools)
    paying.suite.write_text(f"tasks: tasks.yaml\n{paying.suite.read_text()}")
    by_tasks = paying.run("--mode", "mocked").ended

    assert by_tool is not None
    assert by_tasks is not None
    assert (by_tool.returncode, by_tasks.returncode) == (2, 2)
    assert "has calls of 'pay', which writes, and its case is killed" in by_tool.stderr
    assert "taped_tools[0]: 'pay' writes, and a case of its environment is killed" in (
        by_tasks.stderr
    )
    unkilled = paying.run("--mode", "mocked", "--kill", "none").ended
    assert unkilled is not None
    assert unkilled.returncode == 0
    assert ran(paying) == ["pay"]


@pytest.mark.slow
def test_a_line_of_a_tape_that_says_nothing_of_a_result_is_a_miss(paying: HarnessRun) -> None:
    """People edit tapes."""
    file = paying.suite.parent / "tapes/pay.jsonl"
    file.write_text(file.read_text().replace('"result"', '"reslut"'))
    tried = paying.run("--mode", "mocked")

    assert tried.row("pay")["reason"] == (
        "tape_miss: 1 call, first tool pay: its line has no result"
    )
    assert ran(paying) == ["pay"]


def test_tools_on_tape_are_not_asked_again(recorded: HarnessRun) -> None:
    """No harness can call what is in an agent's process; it says how many calls that are."""
    ended = tracegrade("harness", "diverge", recorded.suite)

    assert ended.returncode == 0, ended.stderr
    assert "not asked: 7 calls, tool of the agent's own process" in ended.stdout
