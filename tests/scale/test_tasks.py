"""Buckets that wait in the lake: worked off by commands, and nothing in their files is trusted."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.commands import tracegrade
from tests.lake.stores import BUCKET, Store
from tests.queries.traces import land
from tests.scoring.build import specification
from tests.scoring.job.lakes import TASKS, run, tables
from tests.slow import slow_after
from tests.waiting import wait_until

from tracegrade_lake import Lake
from tracegrade_lake.errors import StagedFileUnfit
from tracegrade_queries.engine.bucket_work import Bucket, BucketFunction, Outcome
from tracegrade_queries.engine.distributed_job import (
    PATIENCE_SECS,
    DistributedJob,
    distribute,
    job_files,
)
from tracegrade_queries.engine.worker import Share, work_off, work_off_share
from tracegrade_queries.errors import ManifestMissing, ManifestUnfit, VersionsDiffer, WorkerLost
from tracegrade_scoring.job.run_scoring import score

from .conftest import Made
from .lakes import all_rows, copied, score_in

COMMAND = str(Path(sys.executable).with_name("tracegrade"))


@pytest.fixture(scope="module")
def landed_run(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake of one landed run, which is one bucket; tests take a copy of it."""
    lake = Lake.create(tmp_path_factory.mktemp("one") / "lake")
    land(lake, run(1, "look", "pay"))
    return lake


@pytest.fixture
def small(landed_run: Lake, tmp_path: Path) -> Lake:
    """A copy of that lake of one's own."""
    return copied(landed_run, tmp_path / "small")


@pytest.mark.slow
def test_commands_work_off_what_a_job_hands_out(small: Lake, tmp_path: Path) -> None:
    """One hands out and commits, another works off its share meanwhile, and then ends."""
    here = copied(small, tmp_path / "here")
    score(here, specification(TASKS))
    (tmp_path / "tasks.yaml").write_text(f"version: 1{TASKS}")
    place = ("--lake", small.root)
    with ThreadPoolExecutor(1) as beside:
        shared = beside.submit(work_off_share, small, Share(0, 1), list[str]().append)
        done = tracegrade("score", *place, "--engine", "files", "--slots", "1", "--summary", "-",
                          "--tasks", tmp_path / "tasks.yaml")  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert "1 manifests wait for `tracegrade task`" in done.stderr
    assert json.loads(done.stdout)["trajectories"] == 1
    assert tables(small) == tables(here)
    assert shared.result() > 0
    assert not list((small.root / "_tasks").iterdir())


def test_memory_that_is_none_is_bad_input_before_work_is_waited_for(small: Lake) -> None:
    """Else a share would say so once its first bucket came, if one did."""
    place = ("--lake", str(small.root), "--index", "0", "--of", "1", "--idle", "0")

    done = tracegrade("task", "share", *place, "--memory", "4X")
    told = tracegrade("task", "share", *place, "--memory", "512MiB")

    assert (done.returncode, told.returncode) == (2, 0)
    assert "'--memory': '4X' is not an amount of memory; write it as 4GB" in done.stderr


@pytest.mark.slow
def test_each_share_works_off_its_own_manifests(lake: Lake, made: Made, tmp_path: Path) -> None:
    """A job and two shares are processes of their own, and each ends with the job."""
    (tmp_path / "tasks.yaml").write_text(f"version: 1{TASKS}")
    place = ["--lake", str(lake.root)]
    share = [COMMAND, "task", "share", *place, "--of", "2"]
    shares = [subprocess.Popen([*share, "--index", str(index)]) for index in (0, 1)]
    done = subprocess.run(
        [COMMAND, "score", *place, "--engine", "files", "--slots", "1", "--summary", "-",
         "--tasks", tmp_path / "tasks.yaml"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["trajectories"] == made.told.trajectories
    assert all_rows(lake) == made.rows
    assert [each.wait() for each in shares] == [0, 0]
    assert not list((lake.root / "_tasks").iterdir())


@pytest.mark.slow
def test_machines_that_share_a_store_alone_work_off_its_buckets(
    store: Store, tmp_path: Path
) -> None:
    """Worker and job have state folders of their own: staged files go through the store."""
    here = Lake.create(f"s3://{BUCKET}/{tmp_path.name}", tmp_path / "here")
    local = Lake.create(tmp_path / "local")
    for each in (here, local):
        land(each, run(1, "look", "pay"), run(2, "pay"))
    there = {**os.environ, "TRACEGRADE_STATE": str(tmp_path / "there")}
    share = [COMMAND, "task", "share", "--lake", here.location, "--index", "0", "--of", "1"]
    with subprocess.Popen(share, env=there):
        done = subprocess.run(
            [COMMAND, "score", "--lake", here.location, "--engine", "files", "--slots", "1"],
            env={**os.environ, "TRACEGRADE_STATE": str(tmp_path / "here")},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    score(local, specification("{version: 1}"))

    assert done.returncode == 0, done.stderr
    assert tables(here) == tables(local)
    assert not list((tmp_path / "there").rglob("*.parquet"))


class Handing:
    """Writes manifests, and lets a test change them or what came back."""

    slots = 1

    def __init__(self, then: Callable[[DistributedJob], object]) -> None:
        self._then = then

    def run(self, work: BucketFunction, buckets: Sequence[Bucket[Any]]) -> Iterator[Outcome]:
        """Yield what there is after the test's own part."""
        with (
            job_files(buckets[0].lake.open()) as files,
            distribute(work, buckets, files) as distributed,
        ):
            self._then(distributed)
            yield from distributed.outcomes(lambda: True)


def changed(lake: Lake, name: str, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a JSON file of the only run."""
    (path,) = (lake.root / "_tasks").rglob(name)
    content = json.loads(path.read_bytes())
    change(content)
    path.write_text(json.dumps(content))


MANIFESTS: dict[str, tuple[type[Exception], str, Callable[[dict[str, Any]], object]]] = {
    "work": (ManifestUnfit, "'os:system'", lambda it: it.update(work="os:system")),
    "path": (
        ManifestUnfit,
        "is not a file of a table",
        lambda it: it["tables"]["raw_spans"][1][0].update(path="../../secrets.parquet"),
    ),
    "key": (ManifestUnfit, "(?i)extra", lambda it: it.update(code="import os")),
    "rows": (ManifestUnfit, "traces", lambda it: it.update(traces="AAAA")),
    "type": (ManifestUnfit, "limits", lambda it: it.update(limits=["2GB", "many"])),
    "version": (VersionsDiffer, "duckdb 1.0", lambda it: it["versions"].__setitem__(1, "1.0")),
    "code": (VersionsDiffer, "code abc, here", lambda it: it["versions"].__setitem__(4, "abc")),
}


def test_manifest_that_no_job_wrote_is_refused(small: Lake) -> None:
    """It is named with what is wrong, and nothing that it asks for is done."""

    def work(distributed: DistributedJob) -> None:
        (path,) = (small.root / "_tasks").rglob(distributed.manifests[0])
        written = path.read_bytes()
        for error, text, change in MANIFESTS.values():
            path.write_bytes(written)
            changed(small, distributed.manifests[0], change)
            with pytest.raises(error, match=text):
                work_off(distributed.files.location(distributed.manifests[0]))

    with pytest.raises(WorkerLost, match="have no outcome"):
        score_in(small, 1, Handing(work))


_OTHER = f"date=2026-11-21/{'0' * 32}.parquet"
"""The name of a file that nobody staged."""

OUTCOMES: dict[str, tuple[type[Exception], str, Callable[[dict[str, Any]], object]]] = {
    "rows": (StagedFileUnfit, "should have", lambda it: _first_file(it).__setitem__(2, 1)),
    "path": (StagedFileUnfit, "no staged file", lambda it: _first_file(it).__setitem__(0, "../a")),
    "gone": (StagedFileUnfit, "gone", lambda it: _first_file(it).__setitem__(0, _OTHER)),
    "size": (StagedFileUnfit, "should have", lambda it: _first_file(it).__setitem__(1, 7)),
    "table": (ManifestUnfit, "the table 'raw'", lambda it: it["files"].update(raw=[])),
    "version": (VersionsDiffer, "pyarrow 9", lambda it: it["versions"].__setitem__(3, "9")),
}


def _first_file(outcome: dict[str, Any]) -> list[Any]:
    found: list[Any] = outcome["files"]["steps"][0]
    return found


@pytest.mark.parametrize(
    ("error", "text", "change"), slow_after(3, OUTCOMES.values()), ids=OUTCOMES
)
def test_outcome_that_its_files_do_not_bear_out_is_not_committed(
    small: Lake, error: type[Exception], text: str, change: Callable[[dict[str, Any]], object]
) -> None:
    """Each file is opened before it is part of a table."""

    def work(distributed: DistributedJob) -> None:
        work_off(distributed.files.location(distributed.manifests[0]))
        changed(small, "outcome-000000.json", change)

    with pytest.raises(error, match=text):
        score_in(small, 1, Handing(work))
    assert small.version("steps") is None


def test_staged_file_of_other_columns_is_not_committed(small: Lake) -> None:
    """Whatever became of it between its worker and the job."""

    def work(distributed: DistributedJob) -> None:
        work_off(distributed.files.location(distributed.manifests[0]))
        path, *_ = (small.root / "steps" / "_stage").iterdir()
        pq.write_table(pa.table({"trajectory_id": ["a"]}), path)

    with pytest.raises(StagedFileUnfit, match="other columns"):
        score_in(small, 1, Handing(work))


def test_a_task_that_ran_already_is_not_run_again(small: Lake) -> None:
    """Whoever starts tasks may start one twice; of one that is over it is told."""
    places: list[str] = []

    def work(distributed: DistributedJob) -> None:
        places.append(distributed.files.location(distributed.manifests[0]))
        first = tracegrade("task", "run", places[0])
        again = tracegrade("task", "run", places[0])
        assert (first.returncode, again.returncode) == (0, 0), first.stderr
        assert "of steps" in first.stderr
        assert "nothing to do" in again.stderr

    score_in(
        small,
        1,
        Handing(
            lambda distributed: work(distributed) if not places else work_off_all(distributed)
        ),
    )
    with pytest.raises(ManifestMissing, match="may have ended"):
        work_off(places[0])
    assert tracegrade("task", "run", small.root / "tasks.json").returncode == 2


def work_off_all(distributed: DistributedJob) -> None:
    """Work off every manifest in this process."""
    for name in distributed.manifests:
        work_off(distributed.files.location(name))


def test_a_killed_job_leaves_what_upkeep_removes_after_a_day(small: Lake) -> None:
    """Its manifests hold no row of a trace, and no other run takes them for its own."""
    command = [COMMAND, "score", "--lake", str(small.root), "--engine", "files", "--slots", "1"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as job:
        wait_until(lambda: list(small.root.glob("_tasks/*/manifest-*.json")))
        job.kill()
    (manifest,) = small.root.glob("_tasks/*/manifest-*.json")
    for file in manifest.parent.iterdir():
        os.utime(file, (time.time() - PATIENCE_SECS - 1,) * 2)
    assert not work_off_share(small, Share(0, 1), list[str]().append, idle_secs=0.1)

    assert (
        tracegrade("lake", "expire", "--lake", small.root, "--older-than", "9000d").returncode == 0
    )
    assert manifest.exists()
    for file in manifest.parent.iterdir():
        os.utime(file, (0, 0))
    tracegrade("lake", "expire", "--lake", small.root, "--older-than", "9000d")
    assert not manifest.parent.exists()


def test_engine_that_is_not_there_is_told(small: Lake) -> None:
    """By its name, with the nearest one; and what an engine cannot know has to be said."""
    score_with = ("score", "--lake", small.root, "--engine")

    assert "spark" in tracegrade(*score_with, "sparc").stderr
    assert "give it with --slots" in tracegrade(*score_with, "files").stderr
    assert "has no --master" in tracegrade(*score_with, "threads", "--master", "spark://a").stderr
    assert tracegrade(*score_with, "sparc").returncode == 2
