"""Builds of another program between the steps of a scoring run, and next to one another."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from tests.queries.traces import land

from tracegrade_lake import Lake
from tracegrade_queries.build.locked_build import (
    BUILD_LOCK,
    PricedBuild,
    build_if_free,
    build_with_costs,
)
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.tasks import Specification

from .lakes import run, tables


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """A lake with one run that no build has seen."""
    lake = Lake.create(tmp_path / "lake")
    land(lake, run(1, "look", "pay"), seq=1)
    return lake


def test_a_build_in_the_middle_of_a_scoring_run_changes_no_score(
    lake: Lake, tmp_path: Path
) -> None:
    """One that adds a run, and spans to a run that is being scored: the next run scores both."""
    builds: list[PricedBuild | None] = []

    def build_more(_done: int, _of: int) -> None:
        land(lake, run(2, "pay"), seq=2)
        land(lake, run(1, "look", "pay", "look"), seq=3)
        builds.append(build_if_free(lake))

    first = score(lake, Specification(), progress=build_more)
    second = score(lake, Specification())
    again = score(lake, Specification())

    at_once = Lake.create(tmp_path / "at_once")
    land(at_once, run(1, "look", "pay"), seq=1)
    land(at_once, run(2, "pay"), seq=2)
    land(at_once, run(1, "look", "pay", "look"), seq=3)
    score(at_once, Specification())
    assert [each.built.traces for each in builds if each] == [2]
    assert (first.trajectories, second.new_spans, second.trajectories) == (1, 0, 2)
    assert again.trajectories == 0
    assert tables(lake) == tables(at_once)


def test_only_one_process_builds(lake: Lake) -> None:
    """While another one does, `tracegrade ui` leaves the lake alone and a scoring run waits."""
    with ThreadPoolExecutor() as pool:
        with closing(lake.lock(BUILD_LOCK)) as lock:
            lock.acquire()
            assert build_if_free(lake) is None
            waiting = pool.submit(build_with_costs, lake)
            assert lake.version("trajectories") is None
        assert waiting.result().built.traces == 1
    found = build_if_free(lake)
    assert found is not None
    assert found.built.traces == 0
