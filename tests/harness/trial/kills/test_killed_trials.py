"""Kills of more trials than the first: each repeats its own."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.harness.trial.agents import HarnessRun
from tests.harness.trial.ordering import BOOKED, made

LATE: dict[str, Any] = {"verify": BOOKED, "trials": 2}
CASES = {
    "first": {**LATE, "kill": {"points": ["late"]}},
    "some": {**LATE, "trials": 3, "kill": {"points": ["late"], "trials": 2}},
    "every": {**LATE, "kill": {"points": ["late"], "trials": "all"}},
}


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> HarnessRun:
    """The suite, run and scored."""
    if shutil.which("curl") is None:
        pytest.skip("no program 'curl'; install it")
    return made(tmp_path_factory.mktemp("trials"), CASES).run("--jobs", 2).score()


def killed(tried: HarnessRun, task_id: str) -> list[int]:
    """Return the trials of a case that were killed."""
    return [row["trial"] for row in tried.rows if row["task_id"] == task_id and row["kill_point"]]


def test_as_many_trials_are_killed_as_the_suite_says(tried: HarnessRun) -> None:
    """The first, unless it says more."""
    assert tried.ended is not None
    assert tried.ended.returncode == 0, tried.ended.stderr
    assert killed(tried, "first") == [1]
    assert killed(tried, "some") == [1, 2]
    assert killed(tried, "every") == [1, 2]


def test_each_kill_is_judged_on_its_own_trial(tried: HarnessRun) -> None:
    """And each trial that was killed has a score."""
    for trial in (1, 2):
        undisturbed = tried.row("every", trial=trial)["trajectory_id"]
        kill = tried.row("every", "late", trial)
        (score,) = tried.query(
            "SELECT ra_after_recovery.value AS score FROM trajectory_scores "
            f"WHERE trajectory_id = '{undisturbed}'"
        )

        assert kill["baseline_trajectory_id"] == undisturbed
        assert (kill["boundary"], kill["after_recovery"], score["score"]) == (4, 0, 0)
    assert len({row["trajectory_id"] for row in tried.rows}) == len(tried.rows) == 12


@pytest.mark.slow
def test_a_kill_of_a_later_trial_is_gone_on_with(tried: HarnessRun, tmp_path: Path) -> None:
    """A harness that ended before it does it again, after the trial that is known."""
    home = tmp_path / "home"
    shutil.copytree(tried.home, home)
    (run,) = home.glob("runs/*/run.jsonl")
    lines = run.read_text().splitlines(keepends=True)
    kept = [line for line in lines if not _is_kill(line, "every", 2)]
    run.write_text("".join(kept))

    again = tried._replace(home=home).run("--resume", run.parent.name)

    assert len(lines) - len(kept) == 1
    assert again.ended is not None
    assert again.ended.stderr.count("killed late") == 1
    assert "every trial 2, killed late: after call 4" in again.ended.stderr
    baseline = again.row("every", "late", 2)["baseline_trajectory_id"]
    assert baseline == again.row("every", trial=2)["trajectory_id"]


def _is_kill(line: str, task_id: str, trial: int) -> bool:
    found = json.loads(line).get("result", {"kill_point": None})
    return found["kill_point"] and (found["task_id"], found["trial"]) == (task_id, trial)


@pytest.mark.slow
def test_trials_and_kills_can_be_chosen_otherwise(tried: HarnessRun, tmp_path: Path) -> None:
    """Fewer trials than are to be killed are all killed, and those only where it is said."""
    other = tried._replace(lake=tmp_path / "lake", home=tmp_path / "home")
    other = other.run("--case", "some", "--trials", 1, "--kill", "early")

    assert [(row["trial"], row["kill_point"]) for row in other.rows] == [(1, None), (1, "early")]
