"""The saved query that says which mocked cases no longer tell the truth about live ones."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.commands import tracegrade
from tests.harness.trial.asking import made, searching

from tracegrade_scoring.statistics.intervals import wilson

pytestmark = pytest.mark.slow

FIRST_NUMBERS = {"files": "data", "path": "search", "text": {"matches": '"number":1.*\n.*:2'}}
"""The service's numbers go up, so that only what plays a tape gets these again."""


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What the query says of a case that was run in both modes; another one was run live alone."""
    with searching() as url:
        suite = made(tmp_path_factory.mktemp("modes"), url, {"verify": [FIRST_NUMBERS]})
        recorded = tracegrade(
            "harness", "record", suite.suite, "--yes-as-root", "--folder", suite.home
        )
        assert recorded.returncode == 0, recorded.stderr
        suite.run("--trials", 2, "--jobs", 2)
        suite.run("--trials", 1, "--release", "live alone")
    suite.run("--trials", 3, "--mode", "mocked", "--jobs", 2).score()
    return saved(suite.lake)


def saved(lake: Path) -> list[dict[str, Any]]:
    """Return the rows of the query."""
    words = ("sql", "--lake", lake, "--saved", "mock_live_divergence", "--format", "json")
    ended = tracegrade(*words)
    assert ended.returncode == 0, ended.stderr
    found: list[dict[str, Any]] = json.loads(ended.stdout)
    return found


def test_a_case_of_both_modes_has_both_side_by_side(rows: list[dict[str, Any]]) -> None:
    """Other cases are not listed; releases are separate."""
    (row,) = rows
    keys = ("suite", "task_id", "release", "mocked_trials", "live_trials", "mocked_unjudged")

    assert [row[key] for key in keys] == ["asking", "ask", None, 3, 2, 0]
    assert (row["mocked_rate"], row["live_rate"], row["rate_difference"]) == (1.0, 0.0, 1.0)
    assert (row["mocked_steps"], row["step_difference"]) == (row["live_steps"], 0.0)
    assert row["live_usd"] is None


def test_its_intervals_are_those_of_the_scores(rows: list[dict[str, Any]]) -> None:
    """Three successes of three and none of two may still be chance."""
    (row,) = rows
    mocked, live = wilson(3, 3), wilson(0, 2)

    assert (row["mocked_low"], row["mocked_high"]) == pytest.approx((mocked.low, mocked.high))
    assert (row["live_low"], row["live_high"]) == pytest.approx((live.low, live.high))
    assert row["is_apart"] is (mocked.low > live.high)
