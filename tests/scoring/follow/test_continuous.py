"""Collector and follower as processes: what is killed loses no score and makes none twice."""

import random
import resource
import shutil
import threading
import time
from pathlib import Path

import pytest
from tests.collector.running import JSON, Collector, collecting
from tests.queries.traces import agent, land, request_of, tool
from tests.scoring.build import specification
from tests.scoring.job.lakes import TASKS, run, tables, tracegrade_score, values
from tests.waiting import wait_until

from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.tasks import Specification

from .following import FollowerProcess, following

pytestmark = pytest.mark.slow

SPECIFICATION = specification(TASKS)
RUNS = 60
KILLS = 30


def send(collector: Collector, rng: random.Random) -> None:
    """Send runs, some of them in two requests of which the root comes last, or never."""
    for number in range(1, RUNS + 1):
        look = tool(2, 1, tool_name="look", trace=number, at=1)
        root = agent(1, trace=number, tracegrade__task__id="refund")
        requests = rng.choice(
            [
                [run(number, "look", "pay")],
                [request_of([look]), request_of([root])],
                [request_of([look])],
            ]
        )
        for request in requests:
            assert collector.post("/v1/traces", request, JSON).status == 200
            time.sleep(rng.random())


def count(lake: Lake, table: str) -> int:
    """Return how many rows a table has; 0 if there is none yet."""
    return int(values(lake, f"SELECT count(*) FROM {table}")[0][0]) if lake.version(table) else 0


def scored_once(
    lake: Lake, folder: Path, tasks: Specification = SPECIFICATION
) -> dict[str, list[str]]:
    """Return the score tables of a lake with the same records, after one scoring run."""
    fresh = Lake.create(folder / "once")
    shutil.copytree(lake.root / "raw_spans", fresh.root / "raw_spans")
    score(fresh, tasks, quiet_secs=1)
    return tables(fresh)


def test_killed_followers_leave_the_scores_of_one_run(tmp_path: Path) -> None:
    """A follower is killed at any time, and another continues; a scheduled run comes between."""
    rng = random.Random(39)  # noqa: S311 - no secret
    (tmp_path / "tasks.yaml").write_text(f"version: 1\n{TASKS}")
    options = ("--tasks", str(tmp_path / "tasks.yaml"), "--every", "1s", "--quiet", "1s")
    lake = Lake.create(tmp_path / "lake")
    with collecting(lake.root) as collector:
        sender = threading.Thread(target=send, args=[collector, rng])
        sender.start()
        for _ in range(KILLS):
            follower = FollowerProcess(lake.root, *options)
            time.sleep(1 + 3 * rng.random())
            assert follower.process.poll() is None
            follower.kill()
        sender.join()
        with following(lake.root, *options) as last:
            scheduled = tracegrade_score(lake, "--wait")
            assert scheduled.returncode == 0, scheduled.stderr
            wait_until(lambda: count(lake, "trajectory_scores") == RUNS)
            assert last.stop()[0] == 0
        collector.stop()
    score(lake, SPECIFICATION, quiet_secs=1)  # a killed one may have noted less
    assert tables(lake) == scored_once(lake, tmp_path)


def test_a_follower_ends_in_an_orderly_way(tmp_path: Path) -> None:
    """SIGTERM ends it with exit code 0; what it began is whole."""
    lake = Lake.create(tmp_path / "lake")
    with collecting(lake.root) as collector, following(lake.root, "--every", "1s") as follower:
        assert collector.post("/v1/traces", run(1, "look"), JSON).status == 200
        wait_until(lambda: count(lake, "trajectory_scores") == 1)
        code, printed = follower.stop()
        collector.stop()
    assert code == 0
    assert "scored 1 run of 1 trace in " in printed


def test_a_disk_that_refuses_is_named_and_tried_again(tmp_path: Path) -> None:
    """No file of the follower may be longer than some bytes, and later each may be."""
    lake = Lake.create(tmp_path / "lake")
    land(lake, run(1, "look"))
    with following(lake.root, "--every", "1s") as follower:
        pid, without = follower.process.pid, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (200, resource.RLIM_INFINITY))
        assert follower.process.stderr is not None
        for line in follower.process.stderr:
            if "scoring tries again" in line:
                break
        assert "too large" in line
        assert count(lake, "trajectory_scores") == 0
        resource.prlimit(pid, resource.RLIMIT_FSIZE, without)
        wait_until(lambda: count(lake, "trajectory_scores") == 1)
        assert follower.stop()[0] == 0
    score(lake, Specification())
    assert tables(lake) == scored_once(lake, tmp_path, Specification())
