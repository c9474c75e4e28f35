"""Two machines, each with a state folder of its own, and one lake on an object store."""

import json
from pathlib import Path

import obstore
import pytest
from tests.commands import tracegrade
from tests.lake.stores import Store
from tests.queries.traces import land

from tracegrade_lake import Lake
from tracegrade_lake.object_store import ObjectStore
from tracegrade_scoring.errors import ScoringBusy
from tracegrade_scoring.job.run_scoring import ScoreSummary, score
from tracegrade_scoring.job.score_bucket import STAGED
from tracegrade_scoring.schema import TRAJECTORY_SCORES
from tracegrade_scoring.tasks import Specification

from .lakes import run, tables

pytestmark = pytest.mark.slow


@pytest.fixture
def lake(either_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    """A lake with two runs as the first machine sees it, on which the command is run."""
    monkeypatch.setenv("TRACEGRADE_STATE", str(tmp_path / "first"))
    lake = Lake.create(either_store.url(tmp_path.name))
    land(lake, run(1, "look", "pay"), run(2, "pay"))
    return lake


def score_elsewhere(lake: Lake, tmp_path: Path) -> ScoreSummary:
    """Score as a second machine, which has nothing of the first but what the store has."""
    return score(Lake.open(lake.location, tmp_path / "second"), Specification())


def test_of_two_drivers_one_scores_and_the_other_is_busy(
    lake: Lake, either_store: Store, tmp_path: Path
) -> None:
    """The second starts and ends while the first commits its scores."""
    refused: list[str] = []

    def second() -> None:
        with pytest.raises(ScoringBusy) as error:
            score_elsewhere(lake, tmp_path)
        refused.append(str(error.value))

    either_store.fault("PUT", rf"/{TRAJECTORY_SCORES.name}/.*parquet", applied=True, then=second)
    first = tracegrade("score", "--lake", lake.location, "--summary", "-")

    assert first.returncode == 0, first.stderr
    told = json.loads(first.stdout)
    assert (told["busy"], told["trajectories"]) == (False, 2)
    (line,) = refused
    assert line.startswith(
        f"another job is scoring the lake at {lake.location}, so nothing was done"
    )
    assert score_elsewhere(lake, tmp_path).trajectories == 0


def test_a_driver_that_lost_its_lock_does_not_commit_over_another(
    lake: Lake, either_store: Store, tmp_path: Path
) -> None:
    """Whatever became of the lock, the log of the tables knows who was first."""
    second: list[ScoreSummary] = []

    def adopt_staged() -> None:
        taken = {"holder": "another", "given_back": True, "lease_secs": 60}
        client = ObjectStore(lake.location, tmp_path).client
        obstore.put(client, f"_locks/score/{9:020d}.json", json.dumps(taken).encode())
        second.append(score_elsewhere(lake, tmp_path))

    either_store.fault("PUT", rf"/{STAGED[0].name}/.*parquet", applied=True, then=adopt_staged)
    first = tracegrade("score", "--lake", lake.location)

    assert [each.trajectories for each in second] == [2]
    assert first.returncode == 3
    assert (
        "another run has committed to the lake since this one began; run this again"
        in first.stderr
    )
    assert len(tables(lake)[TRAJECTORY_SCORES.name]) == 2
    assert score(lake, Specification()).trajectories == 0
