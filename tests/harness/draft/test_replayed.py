"""Runs of the demo's support agent in production become cases, and are played again."""

import os
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from tests.citations import ROOT
from tests.commands import Ended, tracegrade
from tests.harness.trial.agents import HarnessRun

pytestmark = pytest.mark.slow

AGENT = '''
"""The support agent of the demo; its releases from 2 on are mended."""

import asyncio
import sys

import demo.framework_agent.__main__ as support
from agents import Agent, function_tool
from demo.framework_agent import shop

RELEASE, REQUEST = sys.argv.pop(1), sys.argv[1]


@function_tool
def cancel_order(order: str) -> str:
    """Say that orders are refunded instead."""
    return f"Order {order} is paid, so it cannot be cancelled: refund it."


def mended(tools, **given):
    return Agent(tools=[*tools, cancel_order], **given)


if RELEASE == "2":
    support.Agent = mended
if RELEASE == "3":
    shop.CARDS_THAT_FAIL = ()
asyncio.run(support.main())
'''
COMMAND = "{python} -m tracegrade run -- {python} {suite}/agent.py {release} {user_input}"
HALLUCINATION = "refund-order-tool_hallucination"


class Played(NamedTuple):
    """A drafted suite, and the lake into which it is run."""

    suite: Path
    lake: Path
    home: Path

    def run(self, *options: object, how: str = "run") -> Ended:
        """Run the suite to its end."""
        words = ("harness", how, self.suite, "--lake", self.lake, "--folder", self.home)
        return tracegrade(*words, *options)

    def score(self) -> "Played":
        """Score what was run."""
        tasks = self.suite.with_name("tasks.yaml")
        ended = tracegrade("score", "--lake", self.lake, "--tasks", tasks)
        assert ended.returncode == 0, ended.stderr
        return self

    def tried(self) -> HarnessRun:
        """Return what is known of its runs."""
        return HarnessRun(self.suite, self.lake, self.home)


@pytest.fixture(scope="module")
def drafted(production: Path, model_url: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite of all that happened, and the agent beside it."""
    folder = tmp_path_factory.mktemp("suite") / "support"
    ended = tracegrade(
        *("harness", "draft", "--lake", production, "--out", folder),
        *("--command", COMMAND, "--model-url", model_url),
    )
    assert ended.returncode == 0, ended.stderr
    (folder / "agent.py").write_text(AGENT)
    suite = folder / "suite.yaml"
    content = yaml.safe_load(suite.read_text())
    given = content["agents"]["support"]["environment"]
    paths = [str(ROOT), os.environ.get("PYTHONPATH")]  # the demo is not installed
    given["set"]["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    given["set"]["OPENAI_MODEL"] = "rules"
    suite.write_text(yaml.safe_dump(content))
    return suite


@pytest.fixture(scope="module")
def played(drafted: Path, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """The failed run and one that worked around an error, again; each mended, its model asked."""
    folder = tmp_path_factory.mktemp("played")
    suite = Played(drafted, folder / "lake", folder / "home")
    ended = suite.run("--case", "refund-*", "--jobs", "2")
    assert ended.returncode == 0, ended.stderr
    assert "live:" not in ended.stdout
    for case, release in ((HALLUCINATION, "2"), ("refund-order", "3")):
        ended = suite.run("--case", case, "--release", release, "--model", "replay-then-live")
        assert ended.returncode == 0, ended.stderr
        assert "live: model, http://127.0.0.1:" in ended.stdout
    return suite.score()


STEPS = """
    SELECT kind, tool_name, arguments, result, content, status FROM steps
    JOIN trajectories USING (trajectory_id)
    WHERE user_input = '{}' AND release = '1' ORDER BY step_index
"""
SCORES = """
    SELECT trajectories.release, success.value AS success, tool_call_count AS calls
    FROM trajectory_scores JOIN trajectories USING (trajectory_id)
    WHERE trajectories.task_id = '{}' AND trajectories.run_mode = 'mocked' ORDER BY ALL
"""


def test_an_unchanged_agent_takes_the_same_steps_without_a_network(
    production: Path, played: Played
) -> None:
    """A failed run, and one that worked around an error, are played from their tapes alone."""
    replayed, before = played.tried(), HarnessRun(played.suite, production, played.home)
    cases = yaml.safe_load(played.suite.read_text())["cases"]

    for name in (HALLUCINATION, "refund-order"):
        steps = STEPS.format(cases[name]["user_input"])
        assert replayed.query(steps) == before.query(steps)
        assert len(replayed.query(steps)) > 3
    assert {row["status"] for row in replayed.rows} == {"done"}


def test_a_mended_agent_is_scored_as_better(played: Played) -> None:
    """It offers what the model made up, and says what to do: the model goes on to refund."""
    assert played.tried().query(SCORES.format(HALLUCINATION)) == [
        {"release": "1", "success": 0, "calls": 2},
        {"release": "2", "success": 1, "calls": 5},
    ]
    compared = tracegrade("compare", "1", "2", "--lake", played.lake, "--fail-on", "success<0")
    assert compared.returncode == 0, compared.stderr


def test_the_model_is_asked_for_what_is_not_on_the_tape(played: Played) -> None:
    """The tape tells the beginning; then the card is taken, and the model goes on."""
    assert played.tried().query(SCORES.format("refund-order")) == [
        {"release": "1", "success": 1, "calls": 5},
        {"release": "3", "success": 1, "calls": 4},
    ]


def test_a_conversation_that_is_not_on_tape_is_a_miss_that_names_the_nearest(
    drafted: Path, tmp_path: Path
) -> None:
    """The card is charged; the tape does not have that, and the model is not asked."""
    suite = Played(drafted, tmp_path / "lake", tmp_path / "home")

    ended = suite.run("--case", "refund-order", "--release", "3")

    assert ended.returncode == 3
    assert "model:model conversation: not on the tape; the nearest has" in ended.stderr
    assert "An error occurred while running the tool" in ended.stderr
    assert "at $.messages[6].result instead of" in ended.stderr


CALLS = """
    SELECT kill_point IS NOT NULL AS killed, list(tool_name || arguments ORDER BY step_index)
        FILTER (WHERE kind = 'tool_call') AS calls
    FROM trajectories JOIN steps USING (trajectory_id)
    GROUP BY trajectory_id, kill_point ORDER BY killed, len(calls)
"""


def test_a_framework_that_others_instrument_is_killed_between_its_calls(
    drafted: Path, tmp_path: Path
) -> None:
    """One of openai-agents under OpenInference begins no call after the first, third and last."""
    suite = Played(drafted, tmp_path / "lake", tmp_path / "home")
    ended = suite.run("--case", "refund-order", how="kill")
    assert ended.returncode == 0, ended.stderr

    whole, *killed = suite.score().tried().query(CALLS)
    assert (whole["killed"], len(whole["calls"])) == (False, 5)
    assert [row["calls"] for row in killed] == [whole["calls"][:most] for most in (1, 3, 5)]
    trials = suite.tried().rows
    assert [row["status"] for row in trials] == ["done"] * 4
