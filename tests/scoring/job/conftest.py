"""Lakes of runs, empty and scored, that tests of the job share or copy."""

from pathlib import Path

import pytest
from tests.queries.traces import land
from tests.scoring.build import specification

from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.tasks import Specification

from .lakes import TASKS, child, copied, run


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """An empty lake."""
    return Lake.create(tmp_path / "lake")


@pytest.fixture
def spec() -> Specification:
    """The task that the runs have."""
    return specification(TASKS)


@pytest.fixture(scope="session")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake with five runs, scored once: right, half right, of no task, with a child, crashed."""
    lake = Lake.create(tmp_path_factory.mktemp("scored") / "lake")
    runs = [run(1, "look", "pay"), run(2, "pay"), run(3, task=None), child(4)]
    land(lake, *runs, run(5, "look", error="boom"))
    score(lake, specification(TASKS))
    return lake


@pytest.fixture(scope="session")
def scored_pair(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake with two runs, right and half right, scored once; tests take a copy of it."""
    lake = Lake.create(tmp_path_factory.mktemp("pair") / "lake")
    land(lake, run(1, "look", "pay"), run(2, "pay"))
    score(lake, specification(TASKS))
    return lake


@pytest.fixture
def pair(scored_pair: Lake, tmp_path: Path) -> Lake:
    """A copy of that lake of one's own."""
    return copied(scored_pair, tmp_path)
