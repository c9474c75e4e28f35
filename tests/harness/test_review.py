"""What humans say of kills."""

import json
from typing import Any

import pytest
from tests.commands import Ended, tracegrade
from tests.harness.trial.agents import WROTE, HarnessRun, made

POINTS = ["early", "late"]
CASES: dict[str, dict[str, Any]] = {"careless": {"kill": {"points": POINTS}, "verify": [WROTE]}}


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> HarnessRun:
    """A case that was killed twice, and left something after one kill; scored."""
    return made(tmp_path_factory.mktemp("review"), CASES).run().score()


@pytest.fixture
def trajectory(tried: HarnessRun) -> str:
    """The undisturbed run."""
    return str(tried.row("careless")["trajectory_id"])


def review(tried: HarnessRun, *words: object) -> Ended:
    """Run the command."""
    return tracegrade("harness", "review", "--lake", tried.lake, *words)


def scores(tried: HarnessRun) -> dict[str, object]:
    """Return what the undisturbed run scores."""
    (found,) = tried.query(
        "SELECT ra_after_recovery.value AS after, ra_immediate.value AS at_once, "
        "late_ra.value AS late, ra_after_recovery.source AS source FROM trajectory_scores "
        "JOIN trajectories USING (trajectory_id) WHERE kill_point IS NULL"
    )
    return found


def test_kills_that_left_something_are_listed(tried: HarnessRun, trajectory: str) -> None:
    """With what they left; the early one left nothing."""
    assert review(tried).stdout.splitlines() == [
        f"{trajectory} late: 0 by rule, careless",
        "  left: files:data/a",
        "  left: files:data/b",
        "1 kill left something behind",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("late", "--value", 4, "--reason", "r"), "value is 4; give --value with one of 0, 3, 5"),
        (("late", "--value", 5), "no reason is given; write one for later"),
        (("late", "--value", 5, "--reason", " "), "no reason is given; write one for later"),
        (("soon", "--value", 5, "--reason", "r"), "no kill 'soon'; give one of early, mid, late"),
        (("--value", 5, "--reason", "r"), "no kill 'None'; give one of early, mid, late"),
    ],
)
def test_a_review_that_says_too_little_is_refused(
    tried: HarnessRun, trajectory: str, words: tuple[object, ...], said: str
) -> None:
    """Nothing is stored."""
    ended = review(tried, trajectory, *words, "--by", "ann")

    assert ended.returncode == 2
    assert ended.stderr.startswith(f"tracegrade: {said}")


def test_a_review_of_no_kill_is_refused(tried: HarnessRun) -> None:
    """It is said how to see those there are."""
    ended = review(tried, "x-y", "late", "--value", 5, "--reason", "r", "--by", "ann")

    assert ended.returncode == 2
    assert "no kill 'late' of trajectory 'x-y' in this lake; `tracegrade sql" in ended.stderr


def test_what_a_human_says_counts_and_survives_another_scoring(
    tried: HarnessRun, trajectory: str
) -> None:
    """After recovery alone: what was there at once stays as it was judged."""
    before = scores(tried)
    said = ("--value", 5, "--reason", "Two files, named alike.", "--by", "ann")

    ended = review(tried, trajectory, "late", *said)

    assert ended.returncode == 0, ended.stderr
    after = scores(tried.score())
    assert after == {
        "after": 7.5,
        "at_once": before["at_once"],
        "late": 5,
        "source": "harness, human:ann",
    }
    assert scores(tried.score()) == after
    (verdict,) = [each for each in tried.verdicts(trajectory) if each["source"] == "human:ann"]
    assert json.loads(verdict["evidence"]) == {
        "reason": "Two files, named alike.",
        "immediate": 0,
        "boundary": 3,
        "killed": tried.row("careless", "late")["trajectory_id"],
    }
