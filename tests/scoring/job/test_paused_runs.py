"""Runs that wait for a person are in no rate of success, until another run continues them."""

import json
from typing import Any

from tests.queries.traces import (
    agent,
    land,
    message,
    model,
    request,
    request_of,
    response,
    tool,
)
from tests.scoring.build import specification

from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.job.summary import summary_lines, summary_object
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.rendering.rows import read_rows
from tracegrade_scoring.report.read import read_report

from .lakes import values

TASKS = """
version: 1
tasks:
  mail:
    expected: [{tool: send}, {tool: log}]
    success: {answer: sent}
    sub_goals:
      sent: {serves: [send]}
"""
OFFERED = json.dumps([{"name": "send"}, {"name": "log"}])
SHARED: dict[str, Any] = {
    "tracegrade__task__id": "mail",
    "gen_ai__conversation__id": "c",
    "gen_ai__tool__definitions": OFFERED,
}


def land_pause_and_rest(lake: Lake) -> None:
    """Land a run that waits for an approval, and the one that goes on with it."""
    asked = [message("assistant", request("send", "c1"))]
    told = json.dumps([message("assistant", "It was sent.")])
    paused: dict[str, Any] = {"tool_name": "send", "error": "x", "error__type": "ApprovalRequired"}
    waiting = [agent(1, **SHARED), model(2, 1, at=1, said=asked), tool(3, 1, at=2, **paused)]
    rest = [
        agent(1, trace=2, at=500, gen_ai__output__messages=told, **SHARED),
        tool(2, 1, trace=2, at=501, tool_name="send"),
        tool(3, 1, trace=2, at=502, tool_name="log"),
    ]
    land(lake, request_of(waiting))
    land(lake, request_of(rest), seq=2)


def test_run_that_waits_is_in_no_rate(lake: Lake) -> None:
    """It neither failed nor crashed, misses nothing, and its sub-goal is not completed."""
    land_pause_and_rest(lake)
    score(lake, specification(TASKS))

    found = (
        "SELECT success.reason, termination.label, recovery_rate.reason, missed_decisions.value, "
        "tsa.value, sub_goal_completion.value FROM trajectory_scores ORDER BY trajectory_id"
    )
    waiting, rest = values(lake, found)
    assert waiting == ("interrupted", "interrupted", "no_failed_call", 0.0, 1.0, 0.0)
    assert rest == (None, "at_success", "no_failed_call", 0.0, 1.0, 1.0)
    with connect(lake, layers=(SCORES,)) as con:
        report = read_report(con, "lake")
        (attempts,) = read_rows(con, "attempt_successes")
    (release,) = report.releases
    assert release.runs.interrupted_runs == 1
    assert (attempts["valid_attempts"], attempts["correct"], attempts["invalid"]) == (1, 1, 0)


def land_waiting(lake: Lake) -> None:
    """Land a run that waits for an approval of a call."""
    asked = [message("assistant", request("send", "c1"))]
    paused: dict[str, Any] = {"tool_name": "send", "error": "x", "error__type": "ApprovalRequired"}
    named: dict[str, Any] = {"gen_ai__tool__call__id": "c1"}
    spans = [
        agent(1, **SHARED),
        model(2, 1, at=1, said=asked),
        tool(3, 1, at=2, **paused, **named),
    ]
    land(lake, request_of(spans))


def land_resumed(lake: Lake) -> None:
    """Land a run that goes on with the call of the one that waits, on a later day."""
    told = json.dumps([message("assistant", "It was sent.")])
    asked, done = (
        message("assistant", request("send", "c1")),
        message("tool", response("ok", "c1")),
    )
    rest = [
        agent(1, trace=3, at=900, gen_ai__output__messages=told, **SHARED),
        model(2, 1, trace=3, at=901, heard=[message("user", "Mail."), asked, done]),
        tool(3, 1, trace=3, at=902, tool_name="log"),
    ]
    land(lake, request_of(rest), seq=2, day=3)


def numbers(lake: Lake) -> tuple[Any, ...]:
    """Return of a lake's only release its runs, those that wait, were resumed, calls, attempts."""
    with connect(lake, layers=(SCORES,)) as con:
        (release,) = read_report(con, "lake").releases
        attempts = read_rows(con, "attempt_successes")
    runs = (release.runs.runs, release.runs.interrupted_runs, release.runs.resumed_runs)
    correct = [(each["valid_attempts"], each["correct"]) for each in attempts]
    return (*runs, release.runs.tool_calls, correct)


def shown(lake: Lake) -> list[tuple[int, float | None]]:
    """Return of one metric how many runs the table and a report count, and their values."""
    stored = "SELECT scored, value FROM release_scores WHERE metric = 'tsa' AND task_category = ''"
    with connect(lake, layers=(SCORES,)) as con:
        found = con.sql(stored).fetchall()
        (release,) = read_report(con, "lake").releases
    score_ = release.metrics["tsa"]
    return [*found, (score_.scored, score_.value)]


def test_resumed_run_counts_once_wherever_it_is_shown(lake: Lake) -> None:
    """In the table, in reports and in summaries, scored at once or one part after the other.

    Where it goes on days later, nothing of the first part is built or scored again, and its call
    counts in the second alone.
    """
    land_waiting(lake)
    assert score(lake, specification(TASKS)).earlier_parts == 0
    assert shown(lake) == [(1, 1.0)] * 2
    assert numbers(lake) == (1, 1, 0, 1, [])

    land_resumed(lake)
    later = score(lake, specification(TASKS))
    assert (later.trajectories, later.earlier_parts) == (1, 0)
    assert shown(lake) == [(1, 1.0)] * 2
    assert numbers(lake) == (1, 0, 1, 2, [(1, 1)])

    again = score(lake, specification(TASKS), full=True)
    assert (again.trajectories, again.earlier_parts) == (2, 1)
    assert shown(lake) == [(1, 1.0)] * 2
    assert summary_object(again)["metrics"]["tsa"]["scored"] == 1
    assert "  1 of them is the earlier part of a run that was resumed, which counts once" in list(
        summary_lines(again)
    )
    assert score(lake, specification(TASKS)).trajectories == 0
