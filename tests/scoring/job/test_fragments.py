"""Traces of tools alone are in no rate, unless they are asked for."""

from tests.queries.traces import land, request_of, tool

from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.job.summary import summary_lines, summary_object
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.report.read import read_report
from tracegrade_scoring.tasks import Specification

from .lakes import run, values


def runs_reported(lake: Lake) -> int:
    """Return how many runs a report of the lake is of."""
    with connect(lake, layers=(SCORES,)) as con:
        return sum(release.runs.runs for release in read_report(con, "lake").releases)


def test_tools_alone_are_counted_and_scored_if_asked_for(lake: Lake) -> None:
    """The summary counts them; `--fragments` scores them, is kept, and can be taken back."""
    land(lake, run(1, "look"), request_of([tool(1, trace=2)]), request_of([tool(1, trace=3)]))
    done = score(lake, Specification())
    assert (done.trajectories, summary_object(done)["fragments"]) == (1, 2)
    assert any("2 traces hold tools alone" in line for line in summary_lines(done))
    assert runs_reported(lake) == 1
    scores = "SELECT count(*)::INTEGER FROM trajectory_scores"

    score(lake, Specification(fragments=True))
    assert values(lake, scores) == [(3,)]
    assert runs_reported(lake) == 3
    assert score(lake, Specification()).traces == 0

    score(lake, Specification(fragments=False))
    assert values(lake, scores) == [(1,)]
