"""The commands `harness run` and `harness check`: their options, and what they refuse."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.commands import tracegrade
from tests.harness.trial.agents import WROTE, Tried, made

CASES: dict[str, dict[str, Any]] = {
    "careless": {"kill": {"points": ["late"]}, "verify": [WROTE]},
    "reader": {"verify": [WROTE]},
}


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Tried:
    """A suite that was run with most options."""
    suite = made(tmp_path_factory.mktemp("commands"), CASES)
    options = ("--case", "care*", "--trials", 2, "--release", "9", "--kill", "none", "--jobs", 2)
    return suite.run(*options, "--junit", suite.home.with_name("junit.xml"))


@pytest.fixture
def suite(tmp_path: Path) -> Tried:
    """A suite that was not run."""
    return made(tmp_path, CASES)


def test_options_say_which_trials_are_run(tried: Tried) -> None:
    """Cases by pattern, how often, at which release, without kills."""
    keys = ("task_id", "trial", "release", "injection")

    assert [tuple(row[key] for key in keys) for row in tried.rows] == [
        ("careless", 1, "9", None),
        ("careless", 2, "9", None),
    ]
    assert tried.ended is not None
    assert tried.ended.returncode == 0


def test_results_are_written_for_ci(tried: Tried) -> None:
    """Each trial is a test case."""
    root = ElementTree.parse(tried.home.with_name("junit.xml")).getroot()  # noqa: S314 - ours

    assert [case.get("name") for case in root] == ["careless trial 1", "careless trial 2"]
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("2", "0", "0")


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--kill", "late,soon", "no kill 'soon'; give some of early, mid, late, or none"),
        ("--case", "x*", "no case is chosen; the suite has careless, reader"),
        ("--agent", "nobody", "no case is chosen; the suite has careless, reader"),
        ("--sandbox", "glass", "no sandbox 'glass'; known: bwrap, none"),
    ],
)
def test_what_does_not_exist_is_refused(suite: Tried, option: str, value: str, said: str) -> None:
    """By one line that says what there is; nothing is run."""
    ended = suite.run(option, value).ended

    assert ended is not None
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[-1] == f"tracegrade: {said}"
    assert not suite.lake.exists()


def test_a_suite_with_errors_is_refused_with_all_of_them(suite: Tried) -> None:
    """Each with its line."""
    text = suite.suite.read_text().replace("from: fixtures", "from: nowhere")
    suite.suite.write_text(text.replace("agent: worker", "agent: x"))

    for command in ("run", "check"):
        lake = ("--lake", suite.lake) if command == "run" else ()
        ended = tracegrade("harness", command, suite.suite, *lake, "--folder", suite.home)
        *found, last = ended.stderr.splitlines()
        assert ended.returncode == 2
        assert all(line.startswith(f"{suite.suite}:") for line in found)
        assert sum("unknown agent 'x'" in line for line in found) == 2
        assert sum("nowhere" in line for line in found) == 1
        assert last.endswith("has 3 errors; correct them")


def test_check_restores_environments_and_runs_no_agent(suite: Tried) -> None:
    """It says what it found."""
    options = ("--folder", suite.home, "--idle-secs", 0)

    ended = tracegrade("harness", "check", suite.suite, *options)

    assert ended.returncode == 0, ended.stderr
    assert "sandbox none: can be used\n" in ended.stdout
    assert "environment notes: 2 objects, restored\n" in ended.stdout
    assert ended.stdout.endswith("suite small: 2 cases, no errors\n")


def test_a_trial_that_does_not_pass_ends_the_command_with_1(suite: Tried) -> None:
    """It only reads, and its verifier asks for a file."""
    tried = suite.run("--case", "reader")

    assert tried.ended is not None
    assert tried.ended.returncode == 1
    assert "1 of 1 trials did not pass, first: failed" in tried.ended.stderr
