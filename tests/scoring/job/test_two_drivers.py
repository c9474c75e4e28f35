"""Two machines, each with a state folder of its own, and one lake on an object store."""

import json
import os
import subprocess
import sys
from pathlib import Path

import obstore
import pytest
from tests.lake.stores import Store
from tests.queries.traces import land

from tracegrade_lake import Lake
from tracegrade_lake.object_store import ObjectStore
from tracegrade_scoring.job.score import score
from tracegrade_scoring.job.score_bucket import STAGED
from tracegrade_scoring.schema import TRAJECTORY_SCORES
from tracegrade_scoring.tasks import Specification

from .lakes import run, tables


@pytest.fixture
def lake(either_store: Store, tmp_path: Path) -> Lake:
    """A lake with two runs, and the state of the first machine."""
    lake = Lake.create(either_store.url(tmp_path.name), tmp_path / "first")
    land(lake, run(1, "look", "pay"), run(2, "pay"))
    return lake


def driver(lake: Lake, state: Path) -> subprocess.CompletedProcess[str]:
    """Run `tracegrade score` as another machine would."""
    command = [str(Path(sys.executable).with_name("tracegrade")), "score", "--lake", lake.place]
    return subprocess.run(
        [*command, "--summary", "-"],
        capture_output=True, text=True, check=False,
        env={**os.environ, "TRACEGRADE_STATE": str(state)},
    )  # fmt: skip


def test_of_two_drivers_one_scores_and_the_other_is_busy(
    lake: Lake, either_store: Store, tmp_path: Path
) -> None:
    """The second starts and ends while the first commits its scores."""
    second: list[subprocess.CompletedProcess[str]] = []
    either_store.fault(
        "PUT",
        rf"/{TRAJECTORY_SCORES.name}/.*parquet",
        applied=True,
        then=lambda: second.append(driver(lake, tmp_path / "second")),
    )
    first = driver(lake, tmp_path / "first")

    assert (first.returncode, second[0].returncode) == (0, 0), first.stderr
    assert json.loads(first.stdout)["trajectories"] == 2
    assert json.loads(first.stdout)["busy"] is False
    assert json.loads(second[0].stdout)["busy"] is True
    assert f"another job is scoring the lake at {lake.place}; --wait" in second[0].stderr
    assert score(lake, Specification()).trajectories == 0


def test_a_driver_that_lost_its_lock_does_not_commit_over_another(
    lake: Lake, either_store: Store, tmp_path: Path
) -> None:
    """Whatever became of the lock, the log of the tables knows who was first."""
    second: list[subprocess.CompletedProcess[str]] = []

    def take_over() -> None:
        taken = {"holder": "another", "given_back": True, "lease_secs": 60}
        client = ObjectStore(lake.place, tmp_path).client
        obstore.put(client, f"_locks/score/{9:020d}.json", json.dumps(taken).encode())
        second.append(driver(lake, tmp_path / "second"))

    either_store.fault("PUT", rf"/{STAGED[0].name}/.*parquet", applied=True, then=take_over)
    first = driver(lake, tmp_path / "first")

    assert second[0].returncode == 0, second[0].stderr
    assert first.returncode == 3
    assert "another run has committed to the lake meanwhile; run this again" in first.stderr
    assert len(tables(lake)[TRAJECTORY_SCORES.name]) == 2
    assert score(lake, Specification()).trajectories == 0
