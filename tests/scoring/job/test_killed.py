"""A run that was killed on purpose is not an attempt: it has a row, and is in no number."""

from pathlib import Path
from typing import Any

import pytest
from tests.queries.traces import agent, land, request_of, tool
from tests.scoring.build import specification

from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.job.run_scoring import preview, score
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.metrics import METRICS
from tracegrade_scoring.tasks import Specification

from .lakes import copied, values

HARNESS = "tracegrade.harness"
TASKS = "tasks: {refund: {expected: [{tool: look}], success: {tool: look}}}"


@pytest.fixture
def spec() -> Specification:
    """A task that every run below has."""
    return specification(TASKS)


def run(trace: int, *, scope: str = "test", **fields: Any) -> bytes:
    """Return a run of trial 1 of the task, which calls a sub-agent."""
    named: dict[str, Any] = {"tracegrade__task__id": "refund", "tracegrade__trial": 1}
    return request_of(
        [
            agent(1, trace=trace, scope=scope, **named, **fields),
            tool(2, 1, tool_name="look", trace=trace, at=1),
            tool(3, 1, tool_name="delegate", trace=trace, at=3, ms=50),
            agent(4, 3, trace=trace, agent_name="sub", at=4, ms=20),
            tool(5, 4, tool_name="pay", trace=trace, at=5),
        ]
    )


LIKE_KILLED = run(1, tracegrade__kill_point="late")
"""A run that says of itself that it was killed."""


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A scored lake with one run; only read it."""
    lake = Lake.create(tmp_path_factory.mktemp("alone") / "lake")
    land(lake, LIKE_KILLED)
    score(lake, specification(TASKS))
    return lake


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A scored lake with the same run and one that a harness killed; tests read it or copy it."""
    lake = Lake.create(tmp_path_factory.mktemp("both") / "lake")
    killed = run(2, scope=HARNESS, tracegrade__kill_point="late", error="killed")
    land(lake, LIKE_KILLED, killed)
    assert score(lake, specification(TASKS)).trajectories == 4
    return lake


def test_what_a_harness_of_before_named_injection_is_where_it_killed(tmp_path: Path) -> None:
    """A trace that landed under the old name is read; the new one is believed first."""
    lake = Lake.create(tmp_path / "lake")
    both = {"tracegrade__injection": "early", "tracegrade__kill_point": "mid"}
    land(lake, run(1, scope=HARNESS, tracegrade__injection="late"), run(2, scope=HARNESS, **both))
    score(lake, specification(TASKS))
    found = values(lake, "SELECT DISTINCT trace_id, kill_point FROM trajectories ORDER BY ALL")
    assert [kill_point for _, kill_point in found if kill_point] == ["late", "mid"]


def test_killed_run_is_no_attempt(both: Lake) -> None:
    """Its scores say why they are not there, it has no evidence, and it is in no sum."""
    killed = f"trajectory_id LIKE '{2:032x}-%'"
    assert values(
        both, f"SELECT status, reason, count(*) FROM scores WHERE {killed} GROUP BY ALL"
    ) == [("not_applicable", "killed_run", 2 * len(METRICS))]
    for table in ("decisions", "sub_goals", "failures", "failed_calls", "run_reasons"):
        assert values(both, f"FROM {table} WHERE {killed}") == []
    assert values(both, "SELECT DISTINCT trajectories FROM release_scores") == [(1,)]


def test_run_beside_a_trials_is_no_attempt_and_no_kill(tmp_path: Path) -> None:
    """It and its sub-agent's run say so; what a run says of itself is not believed."""
    lake = Lake.create(tmp_path / "lake")
    beside = run(2, scope=HARNESS, tracegrade__kill_point="several_runs")
    land(lake, run(1, tracegrade__kill_point="several_runs"), beside)
    assert score(lake, specification(TASKS)).trajectories == 4

    query = (
        "SELECT status, reason, count(*) FROM scores WHERE trajectory_id LIKE '{}-%' GROUP BY ALL"
    )
    assert values(lake, query.format(f"{2:032x}")) == [
        ("not_applicable", "several_runs", 2 * len(METRICS))
    ]
    own = f"SELECT value FROM scores WHERE metric = 'success' AND trajectory_id LIKE '{1:032x}-%'"
    assert (1.0,) in values(lake, own)
    assert values(lake, "SELECT DISTINCT trajectories FROM release_scores") == [(1,)]
    assert preview(lake, specification(TASKS)).trajectories == 0


@pytest.mark.slow
def test_what_is_added_up_is_of_the_other_run_alone(alone: Lake, both: Lake) -> None:
    """Sums and evidence are those of a lake in which nothing was killed."""
    with connect(alone, layers=(SCORES,)) as one, connect(both, layers=(SCORES,)) as two:
        for table in ("release_scores", "decisions", "sub_goals", "failures", "failed_calls"):
            rows = f"FROM {table} ORDER BY ALL"
            assert two.sql(rows).fetchall() == one.sql(rows).fetchall()


def test_scoring_again_finds_nothing_new(both: Lake, spec: Specification) -> None:
    """Neither the killed run nor sums without it are taken for something that is left to do."""
    assert preview(both, spec).trajectories == 0


@pytest.mark.slow
def test_what_comes_later_is_added_to_sums_without_the_killed_run(
    both: Lake, tmp_path: Path, spec: Specification
) -> None:
    """Another run of that agent counts beside the first alone."""
    lake = copied(both, tmp_path)

    assert score(lake, spec).trajectories == 0
    land(lake, run(3), seq=3)
    score(lake, spec)
    assert values(lake, "SELECT scored FROM release_scores WHERE metric = 'success' "
                  "AND agent_name = 'a' AND task_category = ''") == [(2,)]  # fmt: skip


@pytest.mark.slow
def test_only_killed_runs_leave_no_release_scores(tmp_path: Path, spec: Specification) -> None:
    """There is nothing to add up."""
    lake = Lake.create(tmp_path / "lake")
    land(lake, run(1, scope=HARNESS, tracegrade__kill_point="mid"))

    assert score(lake, spec).trajectories == 2
    assert values(lake, "FROM release_scores") == []


def test_agent_cannot_call_its_own_run_killed(both: Lake) -> None:
    """The mark counts only in spans of the harness; otherwise a failed run could hide itself."""
    own = f"trajectory_id LIKE '{1:032x}-%'"
    assert values(
        both, f"SELECT kill_point, count(*) FROM trajectories WHERE {own} GROUP BY 1"
    ) == [(None, 2)]
    assert values(both, f"FROM scores WHERE {own} AND reason = 'killed_run'") == []
