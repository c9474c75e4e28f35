"""A lake of before `kill_point` was a name: it is read, scored and written on as it is."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.commands import tracegrade
from tests.former_names import with_former_names
from tests.harness.results import kill, result
from tests.queries.traces import agent, land, request_of, tool
from tests.scoring.build import specification

import tracegrade_queries as tg
from tracegrade_harness.lake import write
from tracegrade_harness.review import Review, store, wanting_review
from tracegrade_harness.schema import HARNESS_TRIALS
from tracegrade_harness.trial.result import TrialResult
from tracegrade_lake import VERDICTS, Lake
from tracegrade_queries.schema import PRICED_DATES, TRAJECTORIES
from tracegrade_scoring.job.last_scoring import last_scoring
from tracegrade_scoring.job.run_scoring import preview, score
from tracegrade_scoring.noted_files import SCORED_FILES

SPEC = specification("tasks: {refund: {expected: [{decision: look, tool: look}]}}")
RUNS = [f"{trace:032x}-{1:016x}" for trace in (1, 2, 3)]
KILLS = "SELECT trajectory_id, kill_point FROM {} WHERE kill_point IS NOT NULL ORDER BY ALL"


def run(trace: int, **fields: str) -> bytes:
    """Return a run of the task, which calls a tool."""
    named = {"tracegrade__task__id": "refund", "tracegrade__trial": 1}
    root = agent(1, trace=trace, **named, **fields)  # type: ignore[arg-type]
    return request_of([root, tool(2, 1, tool_name="look", trace=trace, at=1)])


def killed(trace: int, **name: str) -> bytes:
    """Return a run that the harness killed late."""
    return run(trace, scope="tracegrade.harness", error="killed", **name)


def trials(number: int, trace: int) -> list[TrialResult]:
    """Return what the harness says of a run, and of one that repeats it and was killed late."""
    named: dict[str, Any] = {"task_id": "refund", "trial": number, "trajectory_id": RUNS[0]}
    late = {"trajectory_id": RUNS[trace - 1], "baseline_trajectory_id": RUNS[0]}
    left = {"after_recovery": 3, "leftovers": [{"object": "files:a"}]}
    return [result(**named), kill("late", **{**named, **late, **left})]


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """A scored lake with a run and one that was killed, both with a row of the harness."""
    lake = Lake.create(tmp_path / "lake")
    land(lake, run(1), killed(2, tracegrade__injection="late"))
    write(lake, "first", "suite", trials(1, 2))
    assert score(lake, SPEC).trajectories == 2
    return lake


def reports(lake: Lake) -> list[str]:
    """Return what is said of the lake."""
    commands = [("report", "--format", "json"), ("sql", "--saved", "kills", "--format", "json")]
    done = [tracegrade(*command, "--lake", lake.root) for command in commands]
    assert [each.returncode for each in done] == [0, 0]
    return [each.stdout for each in done]


def kills(lake: Lake, table: str) -> list[tuple[str, str]]:
    """Return the rows of a table that say of a run that, and where, it was killed."""
    found: list[tuple[str, str]] = tg.connect(lake).sql(KILLS.format(table)).fetchall()
    with_polars = tg.scan(lake, table).select("trajectory_id", "kill_point").drop_nulls()
    assert sorted(with_polars.collect().rows()) == found
    return found


def test_it_says_what_it_said(lake: Lake) -> None:
    """Reports and queries are the same to the letter, and nothing is left to score."""
    before = reports(lake)
    (row,) = json.loads(before[1])
    assert (row["kill_point"], row["after_recovery"]) == ("late", 3)

    older = with_former_names(lake)
    assert older == {
        each.name for each in (HARNESS_TRIALS, VERDICTS, TRAJECTORIES, SCORED_FILES, PRICED_DATES)
    }
    assert lake.columns("trajectories") != [column.name for column in TRAJECTORIES.columns]
    assert reports(lake) == before
    assert last_scoring(lake).files
    assert preview(lake, SPEC).trajectories == 0
    assert score(lake, SPEC).trajectories == 0


@pytest.mark.slow
def test_it_is_written_on(lake: Lake) -> None:
    """Rows of both versions stand in one table under one name, and replace each other."""
    with_former_names(lake)
    land(lake, killed(3, tracegrade__kill_point="late"), seq=3)
    write(lake, "second", "suite", trials(2, 3))
    assert score(lake, SPEC).trajectories == 2  # the new one, and the one with a new verdict

    late = [(RUNS[1], "late"), (RUNS[2], "late")]
    assert kills(lake, "trajectories") == late
    assert kills(lake, "harness_trials") == late
    assert kills(lake, "verdicts") == [(RUNS[0], "late")]
    (kill,) = wanting_review(lake)
    store(lake, Review(kill.trajectory_id, kill.kill_point, 7, "all undone", "ann"))
    assert kills(lake, "verdicts") == [(RUNS[0], "late")] * 2

    land(lake, request_of([tool(9, 1, tool_name="look", trace=1, at=2)]), seq=4)
    score(lake, SPEC)  # other runs of the date stay in files that are written again
    assert kills(lake, "trajectories") == late
    for command in (("lake", "compact"), ("lake", "verify"), ("score", "--full")):
        done = tracegrade(*command, "--lake", lake.root)
        assert done.returncode == 0, done.stderr
        assert kills(lake, "trajectories") == late
