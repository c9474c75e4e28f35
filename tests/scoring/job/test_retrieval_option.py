"""`--retrieval`: searches of the program are calls, once they are asked for."""

from tests.queries.traces import agent, land, request_of, span

from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.tasks import Specification

from .lakes import run, values


def test_runs_with_searches_are_scored_again_when_these_become_calls(lake: Lake) -> None:
    """The lake keeps the choice; other runs keep their scores."""
    search = span(2, 1, trace=2, at=1, name="retrieval kb", gen_ai__operation__name="retrieval")
    land(lake, run(1, "look"), request_of([agent(1, trace=2), search]))
    calls = "SELECT tool_call_count::INTEGER FROM trajectories ORDER BY trace_id DESC LIMIT 1"
    score(lake, Specification())
    assert values(lake, calls) == [(0,)]

    assert score(lake, Specification(retrieval=True)).traces == 1
    assert values(lake, calls) == [(1,)]
    assert score(lake, Specification()).traces == 0

    assert score(lake, Specification(retrieval=False)).traces == 1
    assert values(lake, calls) == [(0,)]
