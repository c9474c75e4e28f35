"""A run that was killed on purpose is no attempt: it has a row, and is in no number."""

from pathlib import Path
from typing import Any

import pytest
from tests.queries.traces import agent, land, request_of, tool
from tests.scoring.build import specification

from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.job.score import score
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.metrics import METRICS
from tracegrade_scoring.tasks import Specification

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


def values(lake: Lake, sql: str) -> list[Any]:
    """Return the rows of a query over the lake's scores."""
    with connect(lake, layers=(SCORES,)) as con:
        return con.sql(sql).fetchall()


def test_killed_run_is_no_attempt(tmp_path: Path, spec: Specification) -> None:
    """Its scores say why they are not there; what is added up is of the other run alone."""
    alone = Lake.create(tmp_path / "alone")
    both = Lake.create(tmp_path / "both")
    land(alone, run(1))
    land(both, run(1), run(2, scope=HARNESS, tracegrade__injection="late", error="killed"))
    for lake in (alone, both):
        score(lake, spec)

    killed = f"trajectory_id LIKE '{2:032x}-%'"
    assert values(both, f"SELECT DISTINCT status, reason FROM scores WHERE {killed}") == [
        ("not_applicable", "killed_run")
    ]
    assert values(both, f"SELECT count(*) FROM scores WHERE {killed}") == [(2 * len(METRICS),)]
    for table in ("release_scores", "decisions", "sub_goals", "failures", "failed_calls"):
        rows = f"FROM {table} ORDER BY ALL"
        assert values(both, rows) == values(alone, rows)


def test_scoring_again_finds_nothing_new(tmp_path: Path, spec: Specification) -> None:
    """Neither the killed run nor sums without it are taken for something that is left to do."""
    lake = Lake.create(tmp_path / "lake")
    land(lake, run(1), run(2, scope=HARNESS, tracegrade__injection="early"))

    assert score(lake, spec).trajectories == 4
    assert score(lake, spec).trajectories == 0
    land(lake, run(3), seq=3)
    score(lake, spec)
    assert values(lake, "SELECT scored FROM release_scores WHERE metric = 'success' "
                  "AND agent_name = 'a' AND task_category = ''") == [(2,)]  # fmt: skip


def test_only_killed_runs_leave_no_release_scores(tmp_path: Path, spec: Specification) -> None:
    """There is nothing to add up."""
    lake = Lake.create(tmp_path / "lake")
    land(lake, run(1, scope=HARNESS, tracegrade__injection="mid"))

    assert score(lake, spec).trajectories == 2
    assert values(lake, "FROM release_scores") == []


def test_agent_cannot_call_its_own_run_killed(tmp_path: Path, spec: Specification) -> None:
    """The mark counts in spans of whoever kills; else a failed run could take itself out."""
    lake = Lake.create(tmp_path / "lake")
    land(lake, run(1, tracegrade__injection="late"))
    score(lake, spec)

    assert values(lake, "SELECT injection, count(*) FROM trajectories GROUP BY 1") == [(None, 2)]
    assert values(lake, "SELECT count(*) FROM scores WHERE reason = 'killed_run'") == [(0,)]
