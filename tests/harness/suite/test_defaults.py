"""What a suite says once holds for each case and agent that says nothing else."""

from pathlib import Path

import pytest
import yaml
from tests.harness.loading.build import START, found, loaded
from tests.harness.trial.agents import HarnessRun, made

DEFAULTS = "defaults: {network: open, trials: 3, limits: {wall_secs: 60, calls: 9}}"
CASES = """
cases:
  clean-uploads: {environment: e, agent: a}
  pay: {environment: e, agent: b, trials: 2, limits: {calls: 4}}
"""
AGENTS = "  a: {command: [run]}\n  b: {command: [run], network: none}"


def test_each_case_and_agent_keeps_what_it_says_itself(folder: Path) -> None:
    """Limits one by one."""
    text = START.replace("  a: {command: [run]}", AGENTS) + CASES + DEFAULTS

    suite = loaded(folder, text).suite

    assert suite is not None
    assert [agent.network for agent in suite.agents.values()] == ["open", "none"]
    assert [case.trials for case in suite.cases.values()] == [3, 2]
    limits = [case.limits for case in suite.cases.values()]
    assert [(each.wall_secs, each.calls) for each in limits] == [(60, 9), (60, 4)]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("  job: 2", "'job'"),
        ("  sandbox: glass", "defaults.sandbox"),
        ("  limits: {call: 3}", "'call'"),
        ("  jobs: 0", "defaults.jobs"),
    ],
)
def test_a_wrong_default_is_named_with_its_line(folder: Path, line: str, problem: str) -> None:
    """Once, however many cases there are."""
    suite = START.lstrip().replace("  a: {command: [run]}", AGENTS)
    text = f"{suite}{CASES.lstrip()}defaults:\n{line}"

    (told,) = found(folder, text)

    assert told.startswith(f"{text.count(chr(10)) + 1}: ")
    assert problem in told


def test_kills_are_compared_with_the_trials_that_are_run(folder: Path) -> None:
    """Those of the defaults, where the case says none."""
    case = "cases: {clean-uploads: {environment: e, agent: a, kill: {trials: 3}}}\n"
    without, enough = (found(folder, f"{START}{case}{more}") for more in ("", DEFAULTS))

    assert any("3 trials are killed of 1" in problem for problem in without)
    assert not any("trials are killed of" in problem for problem in enough)


def having_defaults(tmp_path: Path) -> HarnessRun:
    """Return a suite that says for all cases how they are run."""
    suite = made(tmp_path, {"careless": {}, "tidy": {"trials": 1, "limits": {"calls": 9}}})
    defaults = {"sandbox": "none", "jobs": 2, "trials": 2, "limits": {"calls": 1}}
    content = {**yaml.safe_load(suite.suite.read_text()), "defaults": defaults}
    suite.suite.write_text(yaml.safe_dump(content))
    return suite


def test_a_run_goes_by_the_defaults(tmp_path: Path) -> None:
    """What holds agents, how often they are tried, and what they may use."""
    as_said = having_defaults(tmp_path).run()

    keys = ("task_id", "trial", "status", "reason")
    budget = ("budget", "calls: more than 1")
    assert [tuple(row[key] for key in keys) for row in as_said.rows] == [
        ("careless", 1, *budget),
        ("careless", 2, *budget),
        ("tidy", 1, "done", None),
    ]
    assert as_said.ended is not None
    assert "sandbox: none; agents can read, write and reach" in as_said.ended.stdout


@pytest.mark.slow
def test_a_run_goes_by_options_before_the_defaults(tmp_path: Path) -> None:
    """How often agents are tried, say."""
    once = having_defaults(tmp_path).run("--trials", 1, "--case", "careless")

    assert [row["trial"] for row in once.rows] == [1]
