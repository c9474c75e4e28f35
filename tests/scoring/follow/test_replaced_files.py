"""Files that a follower replaced leave the disk an hour later, while readers hold newer ones."""

from pathlib import Path

import pytest
from tests.lake.lake_rows import age_log
from tests.queries.traces import land
from tests.scoring.job.lakes import run, tables, tracegrade_score

from tracegrade_lake import Lake
from tracegrade_lake.crash_points import EXIT_CODE, VARIABLE
from tracegrade_lake.maintenance.replaced_files import NOTE_NAME, replaced_files
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.job.replaced import MADE_AGAIN
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.tasks import Specification

FOLLOWED = ("--follow", "--every", "1s", "--stop-after", "1s")


def replaced(lake: Lake) -> set[str]:
    """Return the files that left the tables more than an hour ago and are still stored."""
    return {
        f"{name}/{file.path}"
        for name in MADE_AGAIN.intersection(lake.tables())
        for file in replaced_files(lake, name, keep_hours=1)
    }


def look_now(lake: Lake) -> None:
    """Let the next run look for such files."""
    (lake.root / NOTE_NAME).write_text('{"looked_at": 0}')


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """A lake that was scored twice, with files that were replaced some two hours ago."""
    lake = Lake.create(tmp_path / "lake")
    for number in (1, 2):
        land(lake, run(number, "look"), seq=number)
        score(lake, Specification(), full=True)
    age_log(lake, days=0.1, table="*")
    look_now(lake)
    return lake


def test_followers_remove_files_that_scheduled_runs_keep(lake: Lake) -> None:
    """A follower that is killed as it does so has scored, and the next one removes the rest."""
    old = replaced(lake)
    land(lake, run(3, "look"), seq=3)
    assert tracegrade_score(lake).returncode == 0
    assert old
    assert replaced(lake) == old

    look_now(lake)
    land(lake, run(4, "look"), seq=4)
    killed = tracegrade_score(lake, *FOLLOWED, **{VARIABLE: "replaced_removed:3"})
    assert killed.returncode == EXIT_CODE
    left, rows = replaced(lake), tables(lake)
    assert old > left > set()
    assert len(rows["trajectory_scores"]) == 4

    with connect(lake, layers=(SCORES,)) as reader:
        land(lake, run(5, "look"), seq=5)
        assert tracegrade_score(lake, *FOLLOWED).returncode == 0
        assert replaced(lake) == set()
        assert reader.sql("SELECT count(*) FROM trajectory_scores").fetchall() == [(4,)]
        assert reader.sql("SELECT count(value) > 0 FROM scores").fetchall() == [(True,)]
    assert len(tables(lake)["trajectory_scores"]) == 5
