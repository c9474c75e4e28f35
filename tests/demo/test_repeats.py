"""The worked example is killed at the same calls each time, and leaves the same.

`REPEATS=24` runs it so often (`make chaos`).
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.citations import ROOT
from tests.commands import tracegrade
from tests.harness.trial.agents import HarnessRun

REPEATS = int(os.environ.get("REPEATS", "1"))
SEEN = ("kill_point", "boundary", "immediate", "after_recovery", "status", "success")
UNDISTURBED = (None, None, None, None)
KILLS = {
    "1.0": [UNDISTURBED, ("early", 1, 10, 10), ("late", 12, 0, 0), ("mid", 9, 0, 0)],
    "1.1": [UNDISTURBED, ("early", 1, 10, 10), ("late", 11, 7, 10), ("mid", 10, 7, 10)],
}


def run(folder: Path, lake: str, release: str, *options: str) -> HarnessRun:
    """Run the suite of the demo into a lake."""
    tried = HarnessRun(ROOT / "demo/suite.yaml", folder / lake, folder / "home")
    ended = tried.run("--release", release, *options)
    assert ended.ended is not None
    assert ended.ended.returncode == 0, ended.ended.stderr
    return ended


def seen(tried: HarnessRun) -> list[tuple[Any, ...]]:
    """Return what was seen of each trial and kill, without when and by which ids."""
    rows = [
        (*(row[key] for key in SEEN), row["leftovers"], row["changed"], row["verifiers"])
        for row in tried.rows
    ]
    return sorted(rows, key=lambda row: str(row[0]))


def success(tried: HarnessRun) -> list[dict[str, Any]]:
    """Return the success rate of each release, and over how many attempts."""
    ended = tracegrade("score", "--lake", tried.lake, "--tasks", ROOT / "demo/tasks.yaml")
    assert ended.returncode == 0, ended.stderr
    return tried.query(
        "SELECT release, task_category, value, scored FROM release_scores "
        "WHERE metric = 'success' ORDER BY ALL"
    )


@pytest.fixture(autouse=True)
def path_of_the_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo is not installed: its agents find it as they do under `make demo`."""
    paths = filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))


@pytest.mark.slow
@pytest.mark.parametrize("release", KILLS)
def test_repeats_are_killed_at_the_same_calls_and_leave_the_same(
    release: str, tmp_path: Path
) -> None:
    """Boundaries, differences and verdicts; and kills change no success rate."""
    repeats = [seen(run(tmp_path, f"lake-{n}", release)) for n in range(1 + REPEATS)]
    kills = HarnessRun(ROOT / "demo/suite.yaml", tmp_path / "lake-0", tmp_path / "home")
    alone = run(tmp_path, "alone", release, "--kill", "none")

    assert [row[:4] for row in repeats[0]] == KILLS[release]
    assert all(repeat == repeats[0] for repeat in repeats)
    assert json.dumps(repeats[0]).count("files:") > 0
    assert success(kills) == success(alone) != []
