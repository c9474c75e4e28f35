"""`--retrieval`: searches of the program are calls, once they are asked for."""

from tests.queries.traces import agent, land, request_of, span

from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import preview, score
from tracegrade_scoring.job.summary import summary_lines
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


def test_dry_run_says_that_every_trace_would_be_built_again(lake: Lake) -> None:
    """With the choice that the lake keeps nothing is built; with the other one everything is."""
    land(lake, run(1, "look"))
    assert not preview(lake, Specification(retrieval=True)).builds_again
    new = score(lake, Specification()).new_spans

    kept, other = preview(lake, Specification()), preview(lake, Specification(retrieval=True))

    assert (kept.builds_again, kept.new_spans) == (False, 0)
    assert (other.builds_again, other.new_spans) == (True, new)
    assert next(summary_lines(other)).startswith(
        f"would build every trace again, from {new} spans"
    )
