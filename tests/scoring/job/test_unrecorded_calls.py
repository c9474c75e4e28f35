"""Metrics of calls that were not recorded have no value: neither 0 nor 1."""

from tests.queries.traces import Row, agent, apart, land, message, model, request_of, tool
from tests.scoring.build import specification

from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import score

from .lakes import values

TASKS = """
version: 1
tasks:
  mail:
    expected: [{tool: send}]
    success: {answer: sent}
"""


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


CRITERIA = [
    ("{tool: send}", None),
    ("{tool: look}", True),
    ("{tool: look, status: error}", None),
    ("{tool: look, result: {$.of: Ada}}", None),
    ("{state: {$.of: Bo}}", None),
    ("{sql: count(*) > 0}", None),
    ("{answer: sent}", True),
    ("{answer: refused}", False),
    ("{any_of: [{tool: send}, {answer: sent}]}", True),
    ("{any_of: [{tool: send}, {answer: refused}]}", None),
    ("{tool: send, answer: refused}", False),
]
"""Criteria, and what they say of a run that is seen to look something up and to answer."""
MAIL = """
version: 1
tools: {look: {effect: read}, ask: {effect: read}, send: {effect: write}}
tasks:
  mail:
    success: {answer: refused}
    sub_goals:
      found: {serves: [look]}
      sent: {serves: [send], critical: true, deps: [found]}
      known: {critical: true, success: {tool: look, result: {$.of: Ada}}}
      told: {success: {answer: sent}}
"""


def test_criteria_are_unknown_where_calls_that_were_not_recorded_decide(lake: Lake) -> None:
    """What is seen holds, and an answer is judged as it stands."""
    tasks = "".join(f"  t{i:02}: {{success: {each}}}\n" for i, (each, _) in enumerate(CRITERIA))
    land(lake, request_of(apart(looked_up(f"t{i:02}", stop=True) for i in range(len(CRITERIA)))))
    score(lake, specification(f"version: 1\ntasks:\n{tasks}"))

    found = values(lake, "SELECT success.value = 1 FROM trajectory_scores ORDER BY task_id")
    assert found == [(success,) for _, success in CRITERIA]


def test_evidence_claims_no_more_than_scores(lake: Lake) -> None:
    """Sub-goals that no call is seen to serve are unknown; no answer was early, no call lost."""
    unseen, whole = (looked_up("mail", stop=stop) for stop in (True, False))
    land(lake, request_of(apart([unseen, whole])))
    score(lake, specification(MAIL))

    in_order = "ORDER BY trajectory_id"
    goals = "SELECT sub_goal, attempted, completed FROM sub_goals"
    assert values(lake, f"{goals} {in_order}, sub_goal") == [
        *(("found", True, True), ("known", True, None)),
        *(("sent", None, None), ("told", True, True)),
        *(("found", True, True), ("known", True, False)),
        *(("sent", False, False), ("told", True, True)),
    ]
    modes = values(lake, f"SELECT mode FROM failures {in_order}")
    assert modes == [("unclassified",), ("premature_commitment",)]
    assert values(lake, f"SELECT outcome FROM failed_calls {in_order}") == [(None,), ("lost",)]
    skipped = values(lake, f"SELECT critical_path_skipped.value FROM trajectory_scores {in_order}")
    assert skipped == [(None,), (1,)]


def looked_up(task: str, *, stop: bool) -> list[Row]:
    """Return a run that looked something up; then the model stopped to call tools, or did not."""
    found: Row = {"gen_ai__tool__call__result": '{"of": "Bo"}'}
    reason: Row = {"gen_ai__response__finish_reasons": ["tool_calls"]} if stop else {}
    return [
        agent(1, tracegrade__task__id=task),
        tool(2, 1, tool_name="look", at=1, gen_ai__tool__call__arguments='{"of": 1}', **found),
        tool(3, 1, tool_name="ask", at=2, gen_ai__tool__call__arguments="{}", error="no"),
        model(4, 1, at=3, gen_ai__usage__output_tokens=5, **reason),
        model(5, 1, at=5, said=[message("assistant", "It was sent.")]),
    ]
