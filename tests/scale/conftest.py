"""The lake that is worked on in every way, and the rows that threads of one process make of it."""

from pathlib import Path
from typing import NamedTuple

import pytest

from tracegrade_lake import Lake
from tracegrade_queries.engine.executor import Threads
from tracegrade_scoring.job.run_scoring import ScoreSummary

from .lakes import Rows, all_rows, copied, land_all, more_comes, score_in


class Made(NamedTuple):
    """What threads of one process made of a lake."""

    lake: Lake
    told: ScoreSummary
    rows: Rows


@pytest.fixture(scope="session")
def landed(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake of landed spans that nobody has built; tests take a copy of it."""
    return land_all(tmp_path_factory.mktemp("landed") / "lake")


@pytest.fixture
def lake(landed: Lake, tmp_path: Path) -> Lake:
    """A copy of that lake of one's own."""
    return copied(landed, tmp_path / "lake")


def made_of(lake: Lake) -> Made:
    """Score a lake by threads, in one bucket."""
    return Made(lake, score_in(lake, 1, Threads(2)), all_rows(lake))


@pytest.fixture(scope="session")
def made(landed: Lake, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The rows that threads make of it."""
    return made_of(copied(landed, tmp_path_factory.mktemp("made") / "lake"))


@pytest.fixture(scope="session")
def made_later(made: Made, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """What they make after more has come."""
    lake = copied(made.lake, tmp_path_factory.mktemp("later") / "lake")
    more_comes(lake)
    return made_of(lake)
