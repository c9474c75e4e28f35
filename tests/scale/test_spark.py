"""Spark, with a master and two workers on loopback, makes the rows of threads of one process.

Skips without Java, or where `make test` could not install Spark into `.spark`.
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.lake.stores import Store, put_environment
from tests.scoring.job.lakes import TASKS
from tests.waiting import wait_until

from tracegrade_lake import Lake

from .cluster import PYTHON, ROOT, SPARK, Cluster, cluster
from .conftest import Made
from .lakes import all_rows, copied, land_all

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (SPARK / "complete").exists(), reason="needs Java and Spark: `make .spark/complete`"
    ),
]
BUCKETS = (1, 3, 8)


STORE = "store"
"""The lake that is on an object store."""


@pytest.fixture(scope="module")
def running(server: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster that all tests share; the last of them has one worker less.

    Its machines know the store, and have a state folder that is not the driver's.
    """
    place = tmp_path_factory.mktemp("spark")
    of_workers = {**server.environment, "TRACEGRADE_STATE": str(place / "state")}
    with cluster(place, of_workers) as found:
        yield found


def program(running: Cluster, *lakes: str, **variables: str) -> subprocess.Popen[str]:
    """Start `spark_program` on lakes."""
    return subprocess.Popen(
        [PYTHON, "-m", "tests.scale.spark_program", running.master, *lakes],
        cwd=ROOT, env={**running.environment, **variables}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


@pytest.fixture(scope="module")
def on_spark(
    running: Cluster, landed: Lake, server: Store, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Lake]]:
    """Lakes that were scored on Spark, more came, and that again: by buckets, and on a store."""
    place = tmp_path_factory.mktemp("lakes")
    with pytest.MonkeyPatch.context() as patch:
        put_environment(server, patch.setenv)
        lakes = {str(count): copied(landed, place / str(count)) for count in BUCKETS}
        lakes[STORE] = land_all(server.url(place.name), place / "state")
        patch.setenv("TRACEGRADE_STATE", str(lakes[STORE].state))
        given = (f"{name.replace(STORE, '3')}+={lake.location}" for name, lake in lakes.items())
        run = program(running, *given, TRACEGRADE_STATE=str(lakes[STORE].state))
        stdout, stderr = run.communicate()
        assert run.returncode == 0, stderr
        assert stdout == ""
        yield lakes


@pytest.mark.parametrize("name", [*map(str, BUCKETS), STORE])
def test_spark_makes_the_rows_of_threads(
    on_spark: dict[str, Lake], made_later: Made, name: str
) -> None:
    """After a full run, and one of a new run, a late span and a verdict, in all columns."""
    lake = on_spark[name]

    assert all_rows(lake) == made_later.rows
    if lake.is_local:
        assert not list((lake.root / "_tasks").iterdir())


def test_killed_driver_leaves_the_lake_as_it_was_and_the_next_run_is_right(
    running: Cluster, lake: Lake, made: Made, tmp_path: Path
) -> None:
    """The next one is a command whose stdout is its summary alone."""
    first = program(running, f"3={lake.root}")
    wait_until(lambda: list(lake.root.glob("_tasks/*/outcome-*.json")))
    first.kill()
    first.communicate()

    assert lake.version("trajectory_scores") is None
    (tmp_path / "tasks.yaml").write_text(f"version: 1{TASKS}")
    command = [str(PYTHON), "-m", "tracegrade", "score", "--lake", str(lake.root)]
    command += ["--tasks", str(tmp_path), "--summary", "-", "--engine", "spark", "--slots", "1"]
    done = subprocess.run(
        [*command, "--master", running.master],
        capture_output=True, text=True, check=False, env=running.environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["trajectories"] == made.told.trajectories
    assert all_rows(lake) == made.rows


def test_buckets_of_a_killed_worker_are_worked_on_by_the_other(
    running: Cluster, lake: Lake, made: Made
) -> None:
    """Killed after its first file, with all that it started; the rows are those of a quiet run."""
    run = program(running, f"8={lake.root}")
    wait_until(lambda: list(lake.root.glob("steps/_stage/*.parquet")))
    running.kill_a_worker()
    _, stderr = run.communicate()

    assert run.returncode == 0, stderr
    assert all_rows(lake) == made.rows
