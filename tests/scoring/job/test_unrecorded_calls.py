"""Metrics of calls that were not recorded have no value: neither 0 nor 1."""

from tests.queries.traces import Row, agent, apart, land, message, model, request_of
from tests.scoring.build import specification

from tracegrade_lake import Lake
from tracegrade_scoring.job.score import score

from .lakes import values

TASKS = """
version: 1
tasks:
  mail:
    expected: [{tool: send}]
    success: {answer: sent}
"""
FOUND = """
  SELECT metric, status, reason FROM scores
  WHERE trajectory_id = (SELECT min(trajectory_id) FROM trajectories)
  ORDER BY metric
"""
KNOWN = {"success": ("scored", None)}


def test_nothing_is_claimed_of_calls_that_were_not_recorded(lake: Lake) -> None:
    """Counts, rates and decisions are errors, a run that called nothing has its zeros."""
    named: Row = {"tracegrade__task__id": "mail"}
    used: Row = {"gen_ai__usage__output_tokens": 5}
    stop: Row = {"gen_ai__response__finish_reasons": ["tool_calls"]}
    said = [message("assistant", "It was sent.")]
    hidden = [agent(1, **named), model(2, 1, at=1, **used, **stop), model(3, 1, at=5, said=said)]
    silent = [agent(1, **named), model(2, 1, at=5, said=said)]
    land(lake, request_of(apart([hidden, silent])))
    score(lake, specification(TASKS))

    found = (
        "SELECT success.value, actual_steps, loop_trap, redundant_calls, tsa, missed_decisions, "
        "tool_correctness, recovery_rate, tool_hallucination FROM trajectory_scores "
        "ORDER BY trajectory_id"
    )
    first, second = values(lake, found)
    assert first[0] == second[0] == 1.0
    assert {(each["value"], each["status"], each["reason"]) for each in first[1:]} == {
        (None, "error", "content_missing")
    }
    assert [each["value"] for each in second[1:]] == [0, 0, 0, 0, 1, 0, None, None]
    decisions = "SELECT correct, reason FROM decisions ORDER BY trajectory_id"
    assert values(lake, decisions) == [
        (None, "no call was made where send was expected, but calls of the run were not recorded"),
        (False, "no call was made where send was expected"),
    ]
