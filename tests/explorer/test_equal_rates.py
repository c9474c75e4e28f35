"""A rate of a release is the same wherever it is shown: runs that were replaced are in none."""

import json

import pytest
from tests.commands import tracegrade
from tests.queries.traces import agent, land, request_of

from tracegrade_explorer.snapshots.snapshot import read, take_snapshot
from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.tasks import Specification
from tracegrade_watch.outputs.exported import lake_metrics
from tracegrade_watch.watched import Watched

TRIALS = [("a", "failure"), ("a", "failure"), ("a", "success"), ("b", "failure"), ("c", "success")]
"""Task and outcome of each run, in order; the last of a task counts."""
SUCCESS = 2 / 3


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake with one release; two of its runs were replaced."""
    made = Lake.create(tmp_path_factory.mktemp("rates") / "lake")
    runs = [
        agent(
            1, trace=trace, at=1000 * trace, tracegrade__task__id=task, tracegrade__trial=1,
            tracegrade__outcome=outcome,
        )
        for trace, (task, outcome) in enumerate(TRIALS, start=1)
    ]  # fmt: skip
    land(made, request_of(runs, {"service.version": "1"}))
    score(made, Specification())
    return made


def test_of_a_report(lake: Lake) -> None:
    """As the command prints it for programs."""
    ended = tracegrade("report", "--lake", lake.root, "--format", "json")
    (release,) = json.loads(ended.stdout)["releases"]
    assert release["metrics"]["success"]["value"] == SUCCESS


def test_of_a_page(lake: Lake) -> None:
    """The list of releases has as many runs as its rates are of."""
    snapshot = take_snapshot(lake, 100)
    (row,) = read(snapshot.con, "release_overview")
    assert (row["runs"], row["failed"], row["success"]) == (3, 1, SUCCESS)


def test_of_what_prometheus_reads(lake: Lake) -> None:
    """The file that `tracegrade watch --prometheus` writes."""
    text = lake_metrics(lake, Watched((), (), None))
    rows = [line.rpartition(" ") for line in text.splitlines() if 'metric="success"' in line]
    found = {name.partition("{")[0]: float(value) for name, _, value in rows}
    assert found["tracegrade_score"] == SUCCESS


def test_of_a_saved_query(lake: Lake) -> None:
    """That adds up the tasks of a release."""
    query = ("sql", "--lake", lake.root, "--saved", "worst_tasks", "--format", "json")
    tasks = json.loads(tracegrade(*query).stdout)
    succeeded = sum(task["successes"] for task in tasks)
    assert succeeded / sum(task["attempts"] for task in tasks) == SUCCESS
