"""`tasks check --try`: what files say of a lake's runs, before they score it."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.commands import tracegrade
from tests.queries.traces import land
from tests.scoring.job.lakes import TASKS, child, run, values

from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.job.try_tasks import TriedTask, try_tasks
from tracegrade_scoring.tasks import Specification
from tracegrade_scoring.tasks.specification import usable_specification

SCORED = """
SELECT trajectory_scores.task_id, count(*), count(success.value),
  coalesce(sum(success.value), 0)::BIGINT,
  avg(tsa.value)
FROM trajectory_scores JOIN trajectories USING (trajectory_id)
WHERE parent_trajectory_id IS NULL GROUP BY 1 ORDER BY 1 NULLS LAST
"""


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """Runs of one task and of none, not scored; the last one has a sub-agent."""
    found = Lake.create(tmp_path / "lake")
    land(found, run(1, "look", "pay"), run(2, "look"), run(3, "look"), run(4, "pay", task=None))
    land(found, child(5))
    return found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file with a task more than the runs have."""
    path = tmp_path / "tasks.yaml"
    path.write_text(f"version: 1\n{TASKS}  other:\n    expected: [{{tool: look}}]\n")
    return path


def counts(tried: Iterable[TriedTask]) -> list[tuple[Any, ...]]:
    """Return the numbers of tasks, as `SCORED` has them."""
    return [each[:5] for each in tried]


def test_it_finds_what_scoring_would(lake: Lake, file: Path) -> None:
    """And writes nothing."""
    specification = usable_specification(file)[0]
    before = {name: lake.version(name) for name in lake.tables()}
    tried = try_tasks(lake, specification, 200)
    assert {name: lake.version(name) for name in lake.tables()} == before
    score(lake, specification)

    assert counts(tried.tasks) == values(lake, SCORED)
    assert [each.task_id for each in tried.tasks] == ["refund", None]
    assert tried.without_runs == ["other"]
    assert tried.traces == 5


def test_only_the_newest_traces_are_read(lake: Lake) -> None:
    """No more than asked for; without tasks there is no error."""
    tried = try_tasks(lake, Specification(), 2)
    assert tried.traces == 2
    assert sum(each.runs for each in tried.tasks) == 2


def test_a_lake_without_traces_has_no_runs(tmp_path: Path, file: Path) -> None:
    """Each task is without one."""
    tried = try_tasks(Lake.create(tmp_path / "empty"), usable_specification(file)[0], 200)
    assert (tried.traces, [*tried.tasks]) == (0, [])
    assert tried.without_runs == ["other", "refund"]


def test_the_command_says_why_most_runs_fail(lake: Lake, file: Path) -> None:
    """In a line for each task."""
    ended = tracegrade("tasks", "check", file, "--try", lake.location)
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    assert lines[0] == "tried on 5 traces; nothing is written:"
    assert lines[1] == "  refund: 4 runs, success unknown; tsa 75.0%; 2 runs: never called pay"
    assert lines[2:] == ["  no task fits 1 run", "  no run of other"]
    missing = tracegrade("tasks", "check", file, "--try", lake.location + "-none")
    assert missing.returncode == 2
