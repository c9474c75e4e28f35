"""Kills of an agent's first process alone: what it started lives on, and is seen."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.harness.trial.agents import WROTE, HarnessRun, living, made
from tests.slow import slow_after

from tracegrade_harness.sandbox.choice import SANDBOXES

LATE: dict[str, Any] = {"points": ["late"]}
CASES: dict[str, Any] = {
    "orphans-tree": {"kill": LATE, "verify": [WROTE]},
    "orphans-process": {"kill": {**LATE, "scope": "process"}, "verify": [WROTE]},
}
TIDY = {"tidy-process": CASES["orphans-process"]}
RECOVER = ["{python}", "-m", "tracegrade", "rollback", ".tracegrade/rollback.jsonl"]


@pytest.fixture(scope="module", params=slow_after(1, (sandbox.name for sandbox in SANDBOXES)))
def tried(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> HarnessRun:
    """The suite, run in each sandbox."""
    (sandbox,) = [each for each in SANDBOXES if each.name == request.param]
    if reason := sandbox.why_not():
        pytest.skip(reason)
    suite = made(tmp_path_factory.mktemp("processes"), CASES)
    return suite.run("--jobs", 2, "--sandbox", request.param)


def left(tried: HarnessRun, task_id: str) -> list[str]:
    """Return what a kill left."""
    return [each["object"] for each in json.loads(tried.row(task_id, "late")["leftovers"])]


def test_what_an_agent_started_is_killed_with_it(tried: HarnessRun) -> None:
    """Unless the suite says otherwise."""
    assert left(tried, "orphans-tree") == ["files:data/a"]


def test_what_lives_on_is_left_over_and_so_is_what_it_writes(tried: HarnessRun) -> None:
    """One that has ended by itself is no longer there."""
    *files, process = left(tried, "orphans-process")

    assert files == ["files:data/a", "files:data/late"]
    assert process.startswith("process:python")
    assert process.endswith("-c import time; time.sleep(3600) orphan")
    kill = tried.row("orphans-process", "late")
    assert (kill["status"], kill["boundary"], kill["after_recovery"]) == ("done", 2, 0)


@pytest.mark.slow
def test_an_agent_that_started_nothing_scores_as_ever(tmp_path: Path) -> None:
    """What its journal names is undone."""
    tried = made(tmp_path, TIDY, RECOVER).run()
    kill = tried.row("tidy-process", "late")

    assert (kill["immediate"], kill["after_recovery"]) == (7, 10)
    assert left(tried, "tidy-process") == []


def test_nothing_outlives_the_trial(tried: HarnessRun) -> None:
    """Once it is judged, all is ended."""
    assert tried.ended is not None
    assert living(tried) == []
