"""One follower: when it scores, and what it leaves out, names and repeats."""

import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.commands import tracegrade
from tests.queries.traces import NOON_NS, land, request_of, tool
from tests.scoring.build import specification
from tests.scoring.job.lakes import TASKS, run, tables, values

from tracegrade_lake import RAW_LOGS, RAW_SPANS, VERDICTS, Lake, Table
from tracegrade_lake.maintenance.maintenance_lock import hold_maintenance_lock
from tracegrade_queries.build.build import build
from tracegrade_scoring.errors import FollowerBusy
from tracegrade_scoring.follow import small_files
from tracegrade_scoring.follow.follower import LOCK_NAME, Follower, FollowOptions
from tracegrade_scoring.follow.small_files import merge_small_files
from tracegrade_scoring.follow.stopping import StopSignal
from tracegrade_scoring.follow.ticks import Ticks, tick_lines
from tracegrade_scoring.follow.versions import newest_versions
from tracegrade_scoring.job.discovery import ALL
from tracegrade_scoring.job.run_scoring import LOCK_NAME as SCORE_LOCK
from tracegrade_scoring.job.run_scoring import ScoreSummary, score
from tracegrade_scoring.schema import TRAJECTORY_SCORES
from tracegrade_scoring.tasks import Specification

SPECIFICATION = specification(TASKS)


class Followed(NamedTuple):
    """A lake, its follower, and what that said and did."""

    lake: Lake
    follower: Follower
    lines: list[str]
    ticks: list[ScoreSummary]


@pytest.fixture
def followed(tmp_path: Path) -> Iterator[Followed]:
    """A lake with one run, and a follower that makes no pause."""
    lake = Lake.create(tmp_path / "lake")
    land(lake, run(1, "look", "pay"))
    lines: list[str] = []
    done: list[ScoreSummary] = []
    options = FollowOptions(every_secs=0.0)
    ticks = Ticks(lake, SPECIFICATION, ALL, None, None, None)
    with closing(StopSignal()) as stop:
        follower = Follower(
            lake, ticks, lambda summary, _: done.append(summary), options, lines.append, stop
        )
        yield Followed(lake, follower, lines, done)


def turn(followed: Followed) -> int:
    """Take a turn as soon as the schedule allows; return how many runs it scored."""
    before = len(followed.ticks)
    followed.follower._schedule = type(followed.follower._schedule)(0.0)
    followed.follower.turn()
    return sum(each.trajectories for each in followed.ticks[before:])


def test_it_scores_only_where_something_came(followed: Followed) -> None:
    """A lake at rest costs a look at three folders, and nothing is written."""
    assert turn(followed) == 1
    versions = [followed.lake.version(name) for name in followed.lake.tables()]
    assert turn(followed) == 0
    assert versions == [followed.lake.version(name) for name in followed.lake.tables()]
    land(followed.lake, run(2, "pay"), seq=2)
    assert turn(followed) == 1


@pytest.mark.parametrize("table", [RAW_SPANS, RAW_LOGS, VERDICTS], ids=lambda table: table.name)
def test_each_commit_is_noticed(tmp_path: Path, table: Table) -> None:
    """Whichever of the tables it is to."""
    lake = Lake.create(tmp_path / "lake")
    seen = [newest_versions(lake)]
    for _ in range(3):
        lake.append(table, table.arrow().empty_table())
        seen.append(newest_versions(lake))
    assert len({*seen}) == 4


def test_a_rootless_run_is_scored_by_the_clock(followed: Followed) -> None:
    """It came in September, so by now it is quiet; scoring everything again changes nothing."""
    land(followed.lake, request_of([tool(2, 1, tool_name="look", trace=5)]), seq=2)
    assert turn(followed) == 2
    before = tables(followed.lake)
    score(followed.lake, SPECIFICATION, full=True)
    assert tables(followed.lake) == before


@pytest.mark.slow
def test_a_shorter_quiet_time_changes_when_a_run_is_scored_alone(tmp_path: Path) -> None:
    """The rows are those of a run that waited longer, and of one with its late root."""
    lakes = [Lake.create(tmp_path / name) for name in ("soon", "later")]
    for lake in lakes:
        land(lake, request_of([tool(2, 1, tool_name="look", trace=1)]))
    soon, later = lakes
    minute = 60_000_000_000
    first = score(soon, SPECIFICATION, now_ns=NOON_NS + minute, quiet_secs=120)
    assert (first.trajectories, first.due_ns) == (0, NOON_NS + 2 * minute)
    assert score(soon, SPECIFICATION, now_ns=NOON_NS + 2 * minute, quiet_secs=120).trajectories
    assert score(later, SPECIFICATION, now_ns=NOON_NS + 10 * minute).trajectories
    assert tables(soon) == tables(later)
    for lake in lakes:
        land(lake, run(1, "pay"), seq=2)
        score(lake, SPECIFICATION, now_ns=NOON_NS)
    assert tables(soon) == tables(later)
    assert values(soon, "SELECT count(*) FROM trajectories") == [(1,)]


def test_other_tasks_of_the_lake_take_effect(followed: Followed) -> None:
    """The follower's own are given once; those of a later job are not undone."""
    assert turn(followed) == 1
    other = specification(TASKS.replace("cost: 1", "cost: 2"))
    score(followed.lake, other)
    land(followed.lake, run(2, "pay"), seq=2)
    assert turn(followed) == 1
    assert score(followed.lake, other).traces == 0


def test_a_busy_lake_is_left_for_the_next_turn(followed: Followed) -> None:
    """Another scoring job has its lock; the line says so once."""
    with closing(followed.lake.lock(SCORE_LOCK)) as lock:
        lock.acquire()
        assert turn(followed) + turn(followed) == 0
    (line,) = followed.lines
    assert "another job is scoring" in line
    assert turn(followed) == 1


def test_a_tick_that_fails_is_named_and_repeated(followed: Followed) -> None:
    """A table is damaged, and then repaired; nothing more has to come in for the next tick."""
    turn(followed)
    scores = followed.lake.root / TRAJECTORY_SCORES.name
    kept = shutil.copytree(scores, followed.lake.root.parent / "kept")
    for entry in (scores / "_delta_log").glob("*.json"):
        entry.write_text("{")
    land(followed.lake, run(2, "pay"), seq=2)
    assert turn(followed) + turn(followed) == 0
    assert len(followed.lines) >= 1
    assert "scoring tries again, next in " in followed.lines[0]
    shutil.rmtree(scores)
    shutil.copytree(kept, scores)
    assert turn(followed) == 1


def test_task_files_with_errors_are_refused(tmp_path: Path) -> None:
    """Before anything is scored, as without --follow."""
    lake = Lake.create(tmp_path / "lake")
    (tmp_path / "tasks.yaml").write_text("tasks: {refund: {expcted: []}}")
    done = tracegrade("score", "--lake", lake.root, "--tasks", tmp_path / "tasks.yaml", "--follow")
    assert done.returncode == 2
    assert "expcted" in done.stderr
    assert lake.tables() == []


def test_one_process_follows_a_lake(tmp_path: Path) -> None:
    """A second one is refused, and the message names the first."""
    lake = Lake.create(tmp_path / "lake")
    with closing(lake.lock(LOCK_NAME)) as lock:
        assert lock.try_acquire()
        lock.sign()
        done = tracegrade("score", "--lake", lake.root, "--follow", "--stop-after", "1s")
    assert done.returncode == FollowerBusy.exit_code
    assert f"process {os.getpid()} on " in done.stderr
    assert f" already follows the lake at {lake.location}" in done.stderr


def test_a_command_runs_after_a_tick_that_changed_scores(tmp_path: Path) -> None:
    """It does not run again while nothing comes in; the follower ends by itself."""
    lake = Lake.create(tmp_path / "lake")
    land(lake, run(1, "look"))
    done = tracegrade("score", "--lake", lake.root, "--follow", "--every", "1s",
                      "--stop-after", "3s", "--then", "issues list --format json",
                      "--summary", tmp_path / "summary.json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count('"issues"') == 1
    assert "scored 1 run of 1 trace in " in done.stderr
    assert '"trajectories": 1' in (tmp_path / "summary.json").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--follow", "--full"], "--full excludes --follow"),
        (["--follow", "--dry-run"], "--dry-run excludes --follow"),
        (["--every", "5s"], "--every needs --follow"),
        (["--then", "report"], "--then needs --follow"),
        (["--follow", "--every", "0s"], "is not a length of time"),
        (["--follow", "--quiet", "soon"], "is not a length of time"),
        (["--follow", "--then", "score"], "--then takes a command"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    tmp_path: Path, options: list[str], message: str
) -> None:
    """Before anything is read or written."""
    lake = Lake.create(tmp_path / "lake")
    done = tracegrade("score", "--lake", lake.root, *options)
    assert done.returncode == 2
    assert message in done.stderr
    assert lake.tables() == []


def test_small_files_of_today_are_merged(tmp_path: Path) -> None:
    """Rows stay, and the next run scores only what is new."""
    lake = Lake.create(tmp_path / "lake")
    today = (datetime.now(UTC).date() - date(2026, 9, 21)).days
    for number in range(1, 7):
        land(lake, run(number, "look", "pay"), seq=number, day=today)
        score(lake, SPECIFICATION)
    before, rows = len(lake.live_files("trajectory_scores")), tables(lake)
    lines: list[str] = []
    merge_small_files(lake, lines.append)
    assert (before, len(lake.live_files("trajectory_scores"))) == (6, 1)
    assert len(lake.live_files("raw_spans")) == 6
    assert tables(lake) == rows
    land(lake, run(9, "pay"), seq=9, day=today)
    assert score(lake, SPECIFICATION).trajectories == 1
    assert lines == []


def test_a_merge_is_made_up_for_after_the_next_tick(
    followed: Followed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where another process maintains the lake; files would be twice as many otherwise."""
    monkeypatch.setattr(small_files, "TICKS", 1)
    with hold_maintenance_lock(followed.lake.state):
        assert turn(followed) == 1
    (line,) = followed.lines
    assert line.startswith("small files are merged later: ")
    assert followed.follower._unmerged_ticks == 1
    land(followed.lake, run(2, "pay"), seq=2)
    assert turn(followed) == 1
    assert followed.follower._unmerged_ticks == 0


def test_a_tick_names_what_waits(tmp_path: Path) -> None:
    """The line is that of a single scoring run."""
    lake = Lake.create(tmp_path / "lake")
    land(lake, run(1, "look"), request_of([tool(2, 1, tool_name="look", trace=7)]))
    build(lake)
    scored, waiting = tick_lines(score(lake, Specification(), now_ns=NOON_NS), 1.25)
    assert scored == "scored 1 run of 1 trace in 1.2 s"
    assert waiting.startswith("1 trace waits for its root, until 2026-09-21")


def test_commands_run_where_the_summary_cannot_be_written(tmp_path: Path) -> None:
    """The line names the file; scoring does not repeat what it has done."""
    lake = Lake.create(tmp_path / "lake")
    land(lake, run(1, "look"))
    missing = tmp_path / "missing" / "summary.json"
    options = ("--summary", missing, "--then", "report --nothing", "--stop-after", "1s")
    done = tracegrade("score", "--follow", "--lake", lake.location, *options)

    assert f"cannot write the summary to {missing}" in done.stderr
    assert "--then 'report --nothing' ended with exit code 2" in done.stderr
    assert "tries again" not in done.stderr
