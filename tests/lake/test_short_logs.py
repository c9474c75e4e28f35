"""Maintenance and jobs keep logs short, so that opening an old table costs no more."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tracegrade_lake import RAW_SPANS, Lake
from tracegrade_lake.crash_points import EXIT_CODE, VARIABLE
from tracegrade_lake.log_copies import MOST_ENTRIES
from tracegrade_lake.maintenance.checkpoint import shorten_logs
from tracegrade_lake.maintenance.compaction import CompactOptions, compact
from tracegrade_lake.maintenance.expiry import expire

from .lake_rows import land, numbers, silent, span, today

COMMITS = MOST_ENTRIES + 3
HOUR_SECS = 3600


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """A lake whose log has more entries than an opening should read."""
    lake = Lake.create(tmp_path / "lake")
    for number in range(1, COMMITS + 1):
        land(lake, [span(number, number, date=today())])
    return lake


def log(lake: Lake) -> Path:
    """Return the folder of the log."""
    return lake.root / RAW_SPANS.name / "_delta_log"


def entries(lake: Lake) -> int:
    """Return how many entries an opening reads."""
    return lake.storage.table(RAW_SPANS.name).entries_to_read()


def test_a_long_log_gets_a_checkpoint(lake: Lake) -> None:
    """Rows and version stay, and the next commit builds upon it."""
    before = lake.version(RAW_SPANS.name)
    assert entries(lake) == COMMITS + 1  # the first one makes the table
    shorten_logs(lake, lake.tables())

    assert (entries(lake), lake.version(RAW_SPANS.name)) == (0, before)
    land(lake, [span(COMMITS + 1, COMMITS + 1, date=today())])
    assert entries(lake) == 1
    assert numbers(lake) == [*range(1, COMMITS + 2)]


def test_a_short_log_is_left_alone(lake: Lake) -> None:
    """A checkpoint lists all files of a table, so it is not written each time."""
    shorten_logs(lake, lake.tables())
    names = sorted(os.listdir(log(lake)))
    shorten_logs(lake, [*lake.tables(), "no_such_table"])

    assert sorted(os.listdir(log(lake))) == names


def test_entries_before_an_old_checkpoint_go(lake: Lake) -> None:
    """Versions of the last six hours stay, with what they are read from."""
    shorten_logs(lake, lake.tables())
    then = time.time() - 7 * HOUR_SECS
    old = [path for path in log(lake).iterdir() if path.is_file()]
    for path in old:
        os.utime(path, (then, then))
    for number in range(COMMITS + 1, 2 * COMMITS):
        land(lake, [span(number, number, date=today())])
    shorten_logs(lake, lake.tables())
    left = {int(path.stem) for path in log(lake).glob("*.json")}

    assert min(left) == COMMITS
    assert max(left) == lake.version(RAW_SPANS.name)
    assert numbers(lake) == [*range(1, 2 * COMMITS)]


def test_maintenance_shortens_logs(lake: Lake) -> None:
    """A compaction, and an expiry, also if they find nothing else to do; no dry run does."""
    compact(lake, CompactOptions(), silent, dry_run=True)
    expire(lake, 30, silent, dry_run=True)
    assert entries(lake) == COMMITS + 1
    compact(lake, CompactOptions(), silent)
    assert entries(lake) == 0
    for number in range(COMMITS + 1, 2 * COMMITS):
        land(lake, [span(number, number, date=today())])
    expire(lake, 30, silent)

    assert entries(lake) == 0


def test_a_kill_after_a_checkpoint_costs_nothing(lake: Lake) -> None:
    """Rows are read as before, and what follows goes on."""
    command = [sys.executable, "-m", "tracegrade", "lake", "compact", "--lake", str(lake.root)]
    armed = os.environ | {VARIABLE: "log_checkpoint_written"}
    died = subprocess.run(command, env=armed, check=False)

    assert died.returncode == EXIT_CODE
    assert numbers(lake) == [*range(1, COMMITS + 1)]
    shorten_logs(lake, lake.tables())
    land(lake, [span(COMMITS + 1, COMMITS + 1, date=today())])
    assert numbers(lake) == [*range(1, COMMITS + 2)]
