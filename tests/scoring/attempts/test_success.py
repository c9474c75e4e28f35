"""Who says whether an attempt succeeded, and what its steps are measured against."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.scoring.build import (
    Case,
    Row,
    Score,
    all_scores,
    call,
    connection,
    scored,
    scored_at_once,
    scores,
    specification,
    trajectory,
)

REFUND = r"""
tasks:
  t:
    match: {user_input: '(?P<who>c-\d+)'}
    success: CRITERION
"""
ANSWER = {"trajectory_id": "t1", "step_index": 9, "kind": "answer", "content": "Done."}


def success(
    criterion: str | None = None,
    steps: Sequence[Row] = (),
    verdicts: Sequence[Row] = (),
    **columns: Any,
) -> Score:
    """Return the success of one attempt of a task with this criterion."""
    spec = specification(REFUND.replace("CRITERION", criterion) if criterion else "version: 1")
    given = {"task_id": "t", "user_input": "refund c-7", **columns}
    con = connection(steps, [trajectory("t1", **given)], verdicts)
    return scores(scored(con, spec, until="step_efficiency"))["success"]


def verdict(source: str, **columns: Any) -> Row:
    """Return one verdict on success."""
    return {"trajectory_id": "t1", "subject": "success", "source": source, **columns}


def paid(result: str | None, **columns: Any) -> Row:
    """Return a call of `pay` with this result."""
    return call("t1", 0, "pay", result=result, **columns)


CRITERIA: list[tuple[str, list[Row], dict[str, Any], int | None]] = [
    ("{answer: '(?i)refunded'}", [], {"final_answer": "It is Refunded."}, 1),
    ("{answer: '(?i)refunded'}", [], {"final_answer": "No."}, 0),
    ("{answer: refunded}", [], {}, 0),
    ("{answer: refunded}", [{**ANSWER, "content": None}], {}, None),
    ("{answer: {input: who}}", [], {"final_answer": "Refunded c-7."}, 1),
    ("{answer: {input: who}}", [], {"final_answer": "Refunded c-8."}, 0),
    ("{answer: {input: who}}", [], {"final_answer": "c-7", "user_input": "x"}, None),
    ("{tool: pay}", [paid("ok")], {}, 1),
    ("{tool: pay}", [paid("ok", status="error")], {}, 0),
    ("{tool: pay, status: error}", [paid("ok", status="error")], {}, 1),
    ("{tool: other}", [paid("ok")], {}, 0),
    ("{tool: pay, result: {$.n: 1}}", [paid('{"n":1.0}')], {}, 1),
    ("{tool: pay, result: {$.n: 1}}", [paid('{"n":true}')], {}, 0),
    ("{tool: pay, result: {$.n: 1}}", [paid("text")], {}, 0),
    ("{tool: pay, result: {$.n: 1}}", [paid(None)], {}, None),
    (
        "{tool: pay, result: {$.n: 1}}",
        [paid('{"n":1}', flags=["result_truncated"])],
        {},
        None,
    ),
    ("{result: {$.o: {a: 1, b: 2}}}", [paid('{"o":{"b":2.0,"a":1}}')], {}, 1),
    ("{result: {$.who: {input: who}}}", [paid('{"who":"c-7"}')], {}, 1),
    ("{result: {$.who: {input: who}}}", [paid('{"who":"c-8"}')], {}, 0),
    ("{result: {$.who: {input: who}}}", [paid('{"who":"c-7"}')], {"user_input": "x"}, None),
    ("{tool: pay, arguments: {n: 7}}", [paid("ok", arguments='{"k":1,"n":7}')], {}, 1),
    ("{tool: pay, arguments: {n: 7}}", [paid("ok", arguments='{"n":8}')], {}, 0),
    ("{tool: pay, arguments: {n: 7}}", [paid("ok", arguments="{oops")], {}, 0),
    ("{tool: pay, arguments: {n: 7}}", [paid("ok", arguments=None)], {}, None),
    ("{arguments: {$.a.n: 7}, status: error}", [paid("", arguments='{"a":{"n":7}}')], {}, 0),
    ("{arguments: {who: {input: who}}}", [paid("ok", arguments='{"who":"c-7"}')], {}, 1),
    ("{tool: pay, arguments: {n: 7}, result: {$.n: 7}}", [paid('{"n":7}')], {}, 0),
    ("{result: {$.n: {about: 1, within: 0.1}}}", [paid('{"n":1.1}')], {}, 1),
    ("{result: {$.n: {about: 1, within: 0.1}}}", [paid('{"n":"1"}')], {}, 0),
    ("{state: {$.s: {matches: '^re'}}}", [paid('{"s":"refunded"}')], {}, 1),
    ("{state: {$.s: {matches: '^re'}}}", [paid('{"s":["refunded"]}')], {}, 0),
    ("{state: {$.s: {exactly: {matches: x}}}}", [paid('{"s":{"matches":"x"}}')], {}, 1),
    ("{result: {$.n: {any_of: [1, 2]}}}", [paid('{"n":2}')], {}, 1),
    ("{result: {$.n: {any_of: [1, 2]}}}", [paid('{"n":3}')], {}, 0),
    ("{result: {$.n: {any_of: [{input: who}, 2]}}}", [paid('{"n":"c-7"}')], {}, 1),
    ("{result: {$.n: {any_of: [{input: who}, 2]}}}", [paid('{"n":2}')], {"user_input": "x"}, 1),
    ("{result: {$.n: {any_of: [{input: who}, 2]}}}", [paid('{"n":3}')], {"user_input": "x"}, None),
    ("{result: {$.n: {any_of: [1, 2]}, $.k: 1}}", [paid('{"n":2,"k":2}')], {}, 0),
    ("{result: {$.n: {optional: 1}}}", [paid('{"k":1}')], {}, 1),
    ("{result: {$.n: {optional: 1}}}", [paid('{"n":null}')], {}, 0),
    ("{tool: pay, arguments: {n: {optional: 7}}}", [paid("ok")], {}, 1),
    ("{tool: pay, arguments: {n: {optional: 7}}}", [paid("ok", arguments='{"n":8}')], {}, 0),
    ("{tool: pay, arguments: {n: {optional: 7}}}", [paid("ok", arguments="{oops")], {}, 0),
    ("{state: {$.s: {any_of: ['on', {s: {optional: 1}}]}}}", [paid('{"s":{}}')], {}, 1),
    ("{state: {$.s: {optional: 'on'}}}", [paid('{"k":1}')], {}, 1),
    ("{state: {$.s: {optional: 'on'}}}", [paid('{"s":"off"}')], {}, 0),
    ("{state: {$.s: {optional: 'on'}}}", [], {}, 1),
    ("{any_of: [{tool: other}, {tool: pay}]}", [paid("ok")], {}, 1),
    ("{any_of: [{tool: other}, {tool: pay, result: {$.n: 1}}]}", [paid('{"n":2}')], {}, 0),
    ("{any_of: [{tool: other}, {result: {$.n: 1}}]}", [paid(None)], {}, None),
    ("{any_of: [{tool: pay}, {result: {$.n: 1}}]}", [paid(None)], {}, 1),
    ("{any_of: [{tool: pay, answer: x}, {sql: count(*) > 1}]}", [paid("ok")], {}, 0),
    ("{any_of: [{tool: pay, answer: x}, {sql: count(*) = 1}]}", [paid("ok")], {}, 1),
    ("{answer: x, any_of: [{tool: pay}]}", [paid("ok")], {"final_answer": "y"}, 0),
    ("{any_of: [{tool: other}, {tool: pay}], sql: count(*) = 1}", [paid("ok")], {}, 1),
    (
        "{any_of: [{tool: pay, any_of: [{answer: x}, {answer: y}]}, {tool: z}]}",
        [paid("ok")],
        {"final_answer": "y"},
        1,
    ),
    (
        "{any_of: [{tool: pay, any_of: [{answer: x}, {answer: y}]}, {tool: z}]}",
        [paid("ok")],
        {"final_answer": "w"},
        0,
    ),
    ("{answer: '96'}", [], {"final_answer": "cookies: [redacted:named]"}, None),
    ("{answer: cookies}", [], {"final_answer": "cookies: [redacted:named]"}, 1),
    ("{answer: '9[0-9]'}", [], {"final_answer": "[redacted:card] is it"}, None),
    ("{answer: '96'}", [], {"final_answer": "cookies: …[capped: 90000 bytes]"}, None),
    ("{answer: cookies}", [], {"final_answer": "cookies: …[capped: 90000 bytes]"}, 1),
    ("{answer: '96'}", [], {"final_answer": "__REDACTED__"}, None),
    ("{answer: '96'}", [], {"flags": ["unrecorded_answer"]}, None),
    ("{answer: '96'}", [], {}, 0),
    ("{state: {$.n: 1}}", [], {}, 0),
    ("{state: {$.n: 1}}", [paid("text")], {}, 0),
    ("{state: {$.n: 1}}", [paid(None)], {}, None),
    ("{state: {$.n: 1}}", [paid(None, status="error")], {}, 0),
    ("{state: {$.n: 1}}", [paid('{"n":1}', flags=["result_redacted"])], {}, None),
    ("{state: {$.n: 1}}", [paid(None), call("t1", 1, "pay", result='{"n":1}')], {}, 1),
    ("{state: {$.n: 1}, answer: x}", [paid(None)], {"final_answer": "y"}, 0),
    ("{sql: count(*) < 2}", [paid("ok")], {}, 1),
    ("{sql: count(*) > 2}", [paid("ok")], {}, 0),
    ("{sql: count(*) = 0}", [], {}, 1),
    ("{sql: sum(result::INTEGER) > 0}", [paid("1")], {}, 1),
    ("{sql: sum(result::INTEGER) > 0}", [paid("ok")], {}, None),
    ("{tool: pay, answer: x}", [paid("ok")], {"final_answer": "y"}, 0),
]
"""A criterion, the steps and columns of an attempt, and its success."""


@pytest.fixture(scope="module")
def attempts() -> dict[str, dict[str, Score]]:
    """The scores of an attempt for each of `CRITERIA`, each at its own task, all at once."""
    match = r"{user_input: '(?P<who>c-\d+)'}"
    tasks = "".join(
        f"\n  t{i}: {{match: {match}, success: {c[0]}}}" for i, c in enumerate(CRITERIA)
    )
    steps = [{**step, "trajectory_id": f"t{i}"} for i, c in enumerate(CRITERIA) for step in c[1]]
    runs = [
        trajectory(f"t{i}", **{"task_id": f"t{i}", "user_input": "refund c-7", **c[2]})
        for i, c in enumerate(CRITERIA)
    ]
    spec = specification(f"tasks:{tasks}")
    with scored(connection(steps, runs), spec, until="step_efficiency") as con:
        return all_scores(con)


@pytest.mark.parametrize("case", range(len(CRITERIA)), ids=lambda i: CRITERIA[i][0])
def test_criterion_of_the_task(attempts: dict[str, dict[str, Score]], case: int) -> None:
    """Every part that a criterion gives must hold; what was not captured or bound is unknown."""
    value = CRITERIA[case][3]

    score = attempts[f"t{case}"]["success"]
    assert score.value == value
    assert score.reason == (None if value is not None else "success_unknown")
    assert score.source == (None if value is None else "task")


def test_one_call_must_have_the_whole_result() -> None:
    """Two values asked of one call are not met by two calls, each with one of them."""
    criterion = "{tool: pay, result: {$.a: 1, $.b: 2}}"
    apart = [paid('{"a":1}'), call("t1", 1, "pay", result='{"b":2}')]

    assert success(criterion, apart).value == 0
    assert success(criterion, [*apart, call("t1", 2, "pay", result='{"a":1,"b":2}')]).value == 1


def test_state_is_what_the_last_result_says() -> None:
    """For each path the last successful result that has it counts."""
    states = ['{"s":"on"}', '{"s":"off","n":1}', '{"n":2}']
    steps = [call("t1", i, "set", result=state) for i, state in enumerate(states)]
    steps.append(call("t1", 3, "set", result='{"s":"on"}', status="error"))

    assert success("{state: {$.s: 'off', $.n: 2}}", steps).value == 1
    assert success("{state: {$.s: 'on'}}", steps).value == 0
    assert success("{state: {$.gone: 1}}", steps).value == 0


@pytest.mark.parametrize(
    ("verdicts", "value", "source"),
    [
        ([verdict("verifier", value=0.0)], 0, "verifier"),
        ([verdict("pytest", value=1.0)], 1, "verifier"),
        ([verdict("verifier", value=0.99)], 0, "verifier"),
        ([verdict("verifier", label="passed")], 1, "verifier"),
        ([verdict("verifier", value=1.0), verdict("verifier", value=0.0)], 0, "verifier"),
        ([verdict("gen_ai.evaluation.result", label="fail")], 1, "task"),
        ([verdict("judge:answers", value=0.0)], 1, "task"),
        ([verdict("llm-judge", value=0.8)], 0, "verifier"),
        ([verdict("human:judy", value=0.8)], 0, "human"),
        ([verdict("human:judy", label="yes"), verdict("judge:human", label="no")], 1, "human"),
        ([verdict("harness:judge-mails", value=0.8)], 0, "verifier"),
    ],
)
def test_verifier_comes_before_the_criterion(verdicts: list[Row], value: int, source: str) -> None:
    """A verifier's word counts more than the task's criterion, that more than other verdicts.

    A source is a judge only if `judge` is the word before its first colon.
    """
    score = success("{tool: pay}", [paid("ok")], verdicts, outcome="failure")

    assert (score.value, score.source) == (value, source)


@pytest.mark.parametrize(
    ("verdicts", "outcome", "value", "source"),
    [
        ([verdict("gen_ai.evaluation.result", value=0.7)], "failure", 1, "evaluation"),
        ([verdict("judge", value=0.69)], "success", 0, "judge"),
        ([verdict("judge", value=0.7 - 1e-12)], "failure", 1, "judge"),
        ([], "success", 1, "trace"),
        ([], "failure", 0, "trace"),
        ([], "invalid", None, None),
    ],
)
def test_without_a_criterion_others_decide(
    verdicts: list[Row], outcome: str, value: int | None, source: str | None
) -> None:
    """Evaluation results come before judges (at least 0.7), judges before the trace's own word."""
    score = success(None, (), verdicts, outcome=outcome)

    assert (score.value, score.source) == (value, source)


def test_verifier_in_error_does_not_fall_through() -> None:
    """A verifier that could not tell makes success an error, even if others could."""
    score = success("{tool: pay}", [paid("ok")], [verdict("verifier", label="error")])

    assert (score.value, score.status, score.reason) == (None, "error", "verifier_failed")


WRITES: Row = {"expected": [{"tool": "a"}], "expected_complete": "writes"}
OPTIMA: list[tuple[Row, int, str | None, float | None, float | None, str | None]] = [
    ({"optimal_steps": 2}, 4, "success", 0.5, 2.0, None),
    ({"optimal_steps": 2}, 1, "success", 1.0, 0.5, None),
    ({"optimal_steps": 2}, 4, "failure", None, None, "failed"),
    ({"optimal_steps": 2}, 4, None, None, None, "success_unknown"),
    ({"expected": [{"tool": "a"}]}, 2, "success", 0.5, 2.0, None),
    (WRITES, 2, "success", None, None, "no_optimum"),
    ({"optimal_steps": 0}, 3, "success", None, None, "optimum_zero"),
    ({"optimal_steps": 2, "count_steps": "all"}, 3, "success", 0.5, 2.0, None),
]
"""A task, calls made, the outcome; step efficiency, step ratio and why there is none."""


def test_steps_are_measured_against_the_optimum() -> None:
    """Optimal over actual steps, clipped, and its unclipped reciprocal, of successful attempts."""
    cases = [
        Case([*(call("t1", i, "a") for i in range(made)), ANSWER], task, {"outcome": outcome})
        for task, made, outcome, *_ in OPTIMA
    ]

    for each, found in zip(OPTIMA, scored_at_once(cases, until="step_efficiency"), strict=True):
        task, made, _, efficiency, ratio, reason = each
        assert found["step_efficiency"].value == efficiency, each
        assert found["step_ratio"].value == ratio, each
        assert found["step_efficiency"].reason == reason, each
        assert found["actual_steps"].value == made + ("count_steps" in task), each


def test_extra_steps_are_told_where_none_was_needed() -> None:
    """An optimum of 0 has no ratio; how many steps were too many is said beside it."""
    con = connection([call("t1", 0, "a")], [trajectory("t1", task_id="t", outcome="success")])

    found = scores(
        scored(con, specification("tasks: {t: {expected: []}}"), until="step_efficiency")
    )
    assert found["step_ratio"].label == "extra_steps: 1"


@pytest.mark.parametrize(
    ("labels", "value", "label"),
    [(("yes", "yes"), 1, None), (("yes", "no"), 0, "verdicts_disagree"), (("no", "no"), 0, None)],
)
def test_two_verifiers_must_both_say_yes(
    labels: tuple[str, str], value: int, label: str | None
) -> None:
    """Where verdicts of the rank that decides disagree, the score says so."""
    verdicts = [verdict(f"verifier {i}", label=said) for i, said in enumerate(labels)]

    found = success(None, [], [*verdicts, verdict("judge", value=1.0)])

    assert (found.value, found.source, found.label) == (value, "verifier", label)


def test_judges_who_are_not_asked_do_not_disagree() -> None:
    """A verifier decides: what two judges say of the same run is of no account."""
    judges = [verdict(f"judge:{said}", label=said) for said in ("yes", "no")]

    assert success(None, [], [verdict("tests", value=1), *judges]).label is None
