"""What services outside of an environment answered is recorded once, and played from then on."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.commands import Ended, tracegrade
from tests.harness.trial.agents import HarnessRun
from tests.harness.trial.asking import KEY, made, searching

VERIFY: list[dict[str, Any]] = [
    {"files": "data", "path": "search", "text": {"matches": '"number":1.*\n.*"number":2'}},
    {"files": "data", "path": "clock", "text": {"matches": r"in \[\]"}},
]
CASE = {"verify": VERIFY, "kill": {"points": ["late"]}}


def record(suite: HarnessRun, *options: str) -> Ended:
    """Record the tapes of a suite."""
    words = ("record", suite.suite, "--folder", suite.home, *options)
    return tracegrade("harness", *map(str, words))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> HarnessRun:
    """A suite with a tape, whose services are gone."""
    with searching() as url:
        suite = made(tmp_path_factory.mktemp("taped"), url, CASE)
        ended = record(suite)
    assert ended.returncode == 0, ended.stderr
    return suite._replace(ended=ended)


@pytest.fixture(scope="module")
def mocked(recorded: HarnessRun) -> HarnessRun:
    """It, run by its tape."""
    return recorded.run("--mode", "mocked").build()


def test_a_tape_is_readable_and_without_secrets(recorded: HarnessRun) -> None:
    """One line for each call, after the header; the client's description of itself is left out."""
    text = (recorded.suite.parent / "tapes/ask.jsonl").read_text()
    header, *lines = map(json.loads, text.splitlines())
    keys = ("channel", "name", "arguments", "occurrence")

    assert (header["tape"], header["suite"], header["case"]) == (1, "asking", "ask")
    assert [tuple(line[key] for key in keys) for line in lines] == [
        ("http:search", "POST /search", {"body": {"word": "tea"}}, 1),
        ("http:search", "POST /search", {"body": {"word": "tea"}}, 2),
        ("mcp:clock", "initialize", {}, 1),
        ("mcp:clock", "tools/call now", {}, 1),
        ("mcp:clock", "tools/call now", {}, 2),
    ]
    assert KEY not in text
    assert "[redacted:" in text


def test_what_plays_the_tapes_is_told_last(recorded: HarnessRun) -> None:
    """As a command, after the id of the run that recorded them."""
    assert recorded.ended is not None
    first, *_, last = recorded.ended.stdout.splitlines()

    assert first.startswith("run: ")
    assert last == f"play: tracegrade harness run {recorded.suite} --mode mocked --lake lake"


def test_a_tape_is_not_overwritten(recorded: HarnessRun) -> None:
    """Unless that is asked for."""
    ended = record(recorded)

    assert ended.returncode == 2
    assert "tapes/ask.jsonl' already exists; give --replace" in ended.stderr


def test_a_mocked_run_needs_no_services(mocked: HarnessRun) -> None:
    """It hears the same answers in the same order, and is of another mode."""
    assert mocked.ended is not None
    assert mocked.ended.returncode == 0, mocked.ended.stderr
    assert "live:" not in mocked.ended.stdout
    assert mocked.row("ask")["success"] is True
    assert mocked.row("ask")["reason"] is None
    rows = mocked.query("SELECT DISTINCT run_mode FROM trajectories")
    assert [row["run_mode"] for row in rows] == ["mocked"]


def test_a_mocked_run_is_killed_at_its_point(mocked: HarnessRun) -> None:
    """After the last call that the environment was another one after."""
    killed = mocked.row("ask", "late")

    assert (killed["status"], killed["boundary"]) == ("done", 3)


def test_a_call_that_is_not_on_the_tape_is_an_error(recorded: HarnessRun) -> None:
    """It says where the nearest differs; then it is unknown whether the agent succeeds."""
    (recorded.suite.parent / "fixtures/word").write_text("coffee")
    other = recorded._replace(lake=recorded.lake.with_name("other-lake"))
    tried = other.run("--mode", "mocked", "--kill", "none")
    row = tried.row("ask")
    (recorded.suite.parent / "fixtures/word").write_text("tea")

    assert tried.ended is not None
    assert tried.ended.returncode == 3
    assert (row["status"], row["success"]) == ("error", None)
    assert row["reason"] == (
        "tape_miss: 2 calls, first http:search POST /search: not on the tape; "
        'the nearest has "tea" at $.body.word instead of "coffee"'
    )
    (verdict,) = tried.verdicts(row["trajectory_id"])
    assert verdict["label"] == "error"
    assert len(json.loads(verdict["evidence"])["tape_misses"]) == 2


@pytest.mark.slow
def test_a_case_that_goes_on_without_its_tape_is_judged(recorded: HarnessRun) -> None:
    """What its agent did with the error is its own; the evidence has what the tape lacks."""
    folder = recorded.suite.parent
    case = yaml.safe_load(recorded.suite.read_text())
    case["cases"]["ask"]["on_miss"] = "continue"
    (folder / "going-on.yaml").write_text(yaml.safe_dump(case))
    (folder / "fixtures/word").write_text("coffee")
    other = recorded._replace(suite=folder / "going-on.yaml", lake=folder / "going-on-lake")
    tried = other.run("--mode", "mocked")
    row = tried.row("ask")
    (folder / "fixtures/word").write_text("tea")

    assert tried.ended is not None
    assert tried.ended.returncode == 1, tried.ended.stderr
    assert (row["status"], row["success"], row["reason"]) == ("done", False, None)
    assert tried.row("ask", "late")["status"] == "done"
    (verdict,) = [
        each for each in tried.verdicts(row["trajectory_id"]) if each["subject"] == "success"
    ]
    assert len(json.loads(verdict["evidence"])["tape_misses"]) == 2


def test_a_mocked_run_without_a_tape_does_not_begin(tmp_path: Path) -> None:
    """It says how to make one."""
    ended = made(tmp_path, "http://127.0.0.1:1", {}, mode="mocked").run().ended

    assert ended is not None
    assert ended.returncode == 2
    assert "record it with `tracegrade harness record`" in ended.stderr


def test_replayed_writes_are_refused_where_kills_are_judged(recorded: HarnessRun) -> None:
    """They would leave nothing that could be judged."""
    folder = recorded.suite.parent
    tools = "version: 1\ntools: {now: {effect: write}}\ntasks: {ask: {}}\n"
    (folder / "tasks.yaml").write_text(tools)
    declared = folder / "declared.yaml"
    declared.write_text(f"tasks: tasks.yaml\n{recorded.suite.read_text()}")
    ended = recorded._replace(suite=declared).run("--mode", "mocked").ended

    assert ended is not None
    assert ended.returncode == 2
    assert "has calls of 'now', which writes, and its case is killed" in ended.stderr


@pytest.mark.slow
def test_what_a_suite_passes_over_is_on_the_tape(recorded: HarnessRun) -> None:
    """The same tape answers to another word, and to the killed run as well."""
    folder = recorded.suite.parent
    suite = yaml.safe_load(recorded.suite.read_text())
    suite["cases"]["ask"]["normalize"] = [{"pattern": "^(tea|coffee)$", "with": "DRINK"}]
    (folder / "passing-over.yaml").write_text(yaml.safe_dump(suite))
    (folder / "fixtures/word").write_text("coffee")
    other = recorded._replace(
        suite=folder / "passing-over.yaml", lake=folder / "passing-over-lake"
    )
    tried = other.run("--mode", "mocked")
    (folder / "fixtures/word").write_text("tea")

    assert tried.ended is not None
    assert tried.ended.returncode == 0, tried.ended.stderr
    assert tried.row("ask")["success"] is True
    assert (tried.row("ask", "late")["status"], tried.row("ask", "late")["boundary"]) == (
        "done",
        3,
    )
