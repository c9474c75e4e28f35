"""Redundant calls, recovery, termination and failure modes, by hand and against the definition."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import many
from tests.scenes import built_together
from tests.scoring.build import (
    Case,
    Row,
    Score,
    all_scores,
    call,
    connection,
    rows_of,
    scored,
    scored_at_once,
    scores,
    specification,
    trajectory,
)
from tests.scoring.together import Scene

from tracegrade_scoring.sql import RELATIONS

from . import plain, plain_conduct
from .test_against_definition import job_scores, random_tools
from .test_calls import at

TASKS = 40
ATTEMPTS = 500
EXAMPLES = 3
"""With ATTEMPTS: 1,500 random attempts beside 500, which are 100,000 in `make chaos`."""

TOOLS = "tools: {look: {effect: read}, find: {effect: read}, pay: {effect: write}}"

Made = tuple[str, str] | tuple[str, str, str]
Calls = tuple[Made, ...]

NAMES = ("t", "u", "v")
ANSWERS = (
    None,
    "",
    "Sorry.",
    "I have not ted it.",
    "I have ted it.",
    "It is now ued. And you ved.",
)
"""What a tool called `t` does is to "t"; so one says that it was "ted"."""
RESULTS = ("x", "y", "found o-701", "702")


def random_call(random: Random) -> plain.Call:
    """Return a call that is like many others; now and then its content was not captured."""
    kind, failed = random.random(), random.random() < 0.3
    values = (1, 2, "o-701", 702, "find it", "It, find!", "find it now", "find 1")
    arguments = {key: random.choice(values) for key in ("k", "l") if random.random() < 0.7}
    return plain.Call(
        tool=random.choice(NAMES),
        arguments=None if kind < 0.01 else "{oops" if kind < 0.03 else arguments,
        failed=failed,
        sub_goal=random.choice("gh") if random.random() < 0.05 else None,
        result=None if random.random() < 0.05 else random.choice(RESULTS),
    )


def random_calls(random: Random) -> list[plain.Call]:
    """Return up to 14 calls; some of them form a round."""
    calls = [random_call(random) for _ in range(random.randint(0, 8))]
    for _ in range(random.choice((0, 0, 1, 2, 3))):
        start = random.randint(0, max(0, len(calls) - 1))
        block = calls[start : start + random.randint(1, 3)]
        calls[start:start] = [replace(call) for call in block]
    return calls[:14]


def random_task(random: Random) -> dict[str, Any]:
    """Return a task with or without expectations and sub-goals."""
    task: dict[str, Any] = {}
    if random.random() < 0.4:
        task["expected"] = [{"tool": random.choice(NAMES)} for _ in range(random.randint(0, 2))]
        task["expected_complete"] = random.choice((True, "writes", False))
    if random.random() < 0.3:
        task["sub_goals"] = {
            name: {
                "serves": random.sample(NAMES, random.randint(1, 2)),
                "deps": deps,
                "critical": random.random() < 0.5,
            }
            for name, deps in (("g", []), ("h", ["g"]), ("i", ["h"]))[: random.randint(1, 3)]
        }
    return task


def random_attempt(random: Random) -> plain.Attempt:
    """Return an attempt at one of a few tasks."""
    return plain.Attempt(
        task=f"task{random.randrange(TASKS)}" if random.random() < 0.5 else None,
        calls=random_calls(random),
        outcome=random.choice((None, "success", "failure")),
        ending=random.choice((None,) * 8 + ("budget", "crashed")),
        answer=random.choice(ANSWERS),
    )


def endings(con: duckdb.DuckDBPyConnection, attempts: list[plain.Attempt]) -> None:
    """Note how the attempts were cut off."""
    con.execute("CREATE TEMP TABLE endings (trajectory_id TEXT, ending TEXT)")
    for i, attempt in enumerate(attempts):
        if attempt.ending:
            con.execute("INSERT INTO endings VALUES ($i, $e)", {"i": f"t{i}", "e": attempt.ending})


@given(st.randoms(use_true_random=True))
@settings(max_examples=many(1))
def test_conduct_agrees_with_the_definition(random: Random) -> None:
    """Each score of random attempts is what the definition says, in any order of rows."""
    agrees(random)


@pytest.mark.slow
@given(st.randoms(use_true_random=True))
@settings(max_examples=EXAMPLES)
def test_conduct_agrees_on_more_attempts(random: Random) -> None:
    """The same holds for others; a share of them has combinations that are rare."""
    agrees(random)


def agrees(random: Random) -> None:
    """Check the scores of random attempts."""
    tools = random_tools(random)
    tasks = {f"task{i}": random_task(random) for i in range(TASKS)}
    attempts = [random_attempt(random) for _ in range(ATTEMPTS)]
    steps, runs = rows_of(attempts)
    random.shuffle(steps)
    random.shuffle(runs)
    con = connection(steps, runs)
    endings(con, attempts)

    scored(con, specification(json.dumps({"version": 1, "tools": tools, "tasks": tasks})))
    found = job_scores(con)
    labels = dict(
        con.sql("SELECT unnest(trajectory_ids), termination.label FROM conduct_scores").fetchall()
    )
    spans = {
        (attempt_id, mode): step_index
        for attempt_id, mode, step_index in con.sql(
            "SELECT trajectory_id, mode, step_index FROM failure_rows"
        ).fetchall()
    }
    for i, attempt in enumerate(attempts):
        task = tasks.get(attempt.task or "", {})
        expected = plain_conduct.scores(attempt, task, tools)
        assert {name: found[f"t{i}"][name] for name in expected} == expected, attempt
        assert labels[f"t{i}"] == plain_conduct.ending(attempt, task, tools), attempt
        for mode, first in plain_conduct.first_steps(attempt, task, tools).items():
            assert spans.get((f"t{i}", mode)) == first, (mode, attempt)


def named(found: dict[str, Score]) -> dict[str, Any]:
    """Return value or status of each score of one attempt; of termination its label."""
    facts: dict[str, Any] = {
        name: score.value if score.status == "scored" else score.reason
        for name, score in found.items()
    }
    return facts | {"termination": found["termination"].label}


def made(*calls: Made) -> list[Row]:
    """Return calls of (tool, value of the argument n, result)."""
    return [
        call("t1", i, tool, arguments=json.dumps({"n": n}), result=rest[0] if rest else "found")
        for i, (tool, n, *rest) in enumerate(calls)
    ]


@pytest.fixture(scope="module")
def found() -> dict[str, list[dict[str, Score]]]:
    """The scores of all cases of each rule: together they cost as much as those of one."""
    cases = {
        "redundant": [Case(made(*calls)) for calls, _ in REDUNDANT],
        "loops": [Case(made(*calls)) for calls, _ in LOOPS],
        "failed_call_recoveries": [Case(failing(*each[:2])) for each in RECOVERIES],
        "endings": [Case(made(*each[0]), columns={"outcome": each[1]}) for each in ENDINGS],
    }
    scores = iter(scored_at_once([case for each in cases.values() for case in each], TOOLS))
    return {rule: [next(scores) for _ in each] for rule, each in cases.items()}


REDUNDANT: list[tuple[Calls, int]] = [
    ((("look", "a"), ("look", "a")), 1),
    ((("look", "a"), ("find", "a"), ("look", "a")), 1),
    ((("look", "a"), ("pay", "a"), ("look", "a")), 0),
    ((("look", "a"), ("unknown", "a"), ("look", "a")), 0),
    ((("look", "a"), ("look", "a"), ("pay", "b"), ("look", "a")), 1),
    ((("look", "a", "pending"), ("look", "a", "done")), 0),
    ((("look", "a", "Error: x"), ("look", "a", "Error: x")), 0),
    ((("pay", "a"), ("pay", "a")), 1),
    ((("look", "a", '{"x":1,"y":[2]}'), ("look", "a", '{ "y": [2.0], "x": 1 }')), 1),
    ((("look", "a", '{"x":1}'), ("look", "a", '{"x":true}')), 0),
]


@pytest.mark.parametrize("case", range(len(REDUNDANT)), ids=lambda i: str(REDUNDANT[i]))
def test_call_is_redundant_if_nothing_changed_since(
    found: dict[str, list[dict[str, Score]]], case: int
) -> None:
    """Polling that found something else, repeats of failures and reads after a write are none."""
    assert found["redundant"][case]["redundant_calls"].value == REDUNDANT[case][1]


LOOPS: list[tuple[Calls, int]] = [
    ((("look", "a"),) * 3, 1),
    ((("look", "a"),) * 2, 0),
    ((("look", "a"), ("pay", "b"), ("look", "a"), ("find", "c"), ("look", "a")), 1),
    ((("look", "a", "1"), ("look", "a", "2"), ("look", "a", "3")), 0),
    (
        tuple(
            ("look", "a", text) for text in ('{"x":1,"y":2}', '{"y":2,"x":1}', '{"y":2,"x":1.0}')
        ),
        1,
    ),
    ((("look", "a", "1"), ("find", "b", "2"), ("look", "a", "3"), ("find", "b", "4")), 0),
    (tuple((tool, "a", f"{i}{tool}") for i in range(3) for tool in ("look", "find")), 1),
    (tuple((tool, "a", str(i)) for i in range(3) for tool in ("look", "look", "find")), 1),
    (tuple(("look", "a", str(i)) for i in range(9)), 0),
    (tuple(("pay", "a", str(i)) for i in range(3)), 1),
    ((("pay", "a", "1"), ("pay", "a", "2"), ("look", "a"), ("pay", "a", "3")), 0),
    ((("pay", "a", "1"), ("pay", "b", "2"), ("pay", "a", "3")), 0),
    (tuple(("unknown", "a", str(i)) for i in range(3)), 0),
    (tuple(c for i in "bcd" for c in (("look", "a", "wait"), ("find", i, f"{i}1"))), 0),
    (tuple(c for i in "bcd" for c in (("look", "a", "wait"), ("find", i, "none"))), 1),
    ((("find", "b", "1"), *(("look", "a", "wait"),) * 3, ("find", "c", "2")), 1),
]


@pytest.mark.parametrize("case", range(len(LOOPS)), ids=lambda i: str(LOOPS[i]))
def test_loop_is_the_same_outcome_or_the_same_round(
    found: dict[str, list[dict[str, Score]]], case: int
) -> None:
    """Three equal outcomes, with nothing new between, or one write or a round three times over."""
    assert found["loops"][case]["loop_trap"].value == LOOPS[case][1]


@built_together
def test_call_of_a_made_up_tool_is_no_write() -> Scene:
    """It changed nothing: a tool that was not offered, and that did not answer."""
    first, middle, last = made(("look", "a"), ("pay", "a"), ("look", "a"))
    made_up = {**middle, "offered": False, "status": "not_executed"}
    unknown = {**call("t1", 1, "unknown", status="error")}
    between = [middle, made_up, {**made_up, "status": "ok"}, unknown]

    found = yield [Case([first, each, last]) for each in between]
    assert [each.scores["redundant_calls"].value for each in found] == [0, 1, 0, 1]


def failing(arguments: Row, later: Row) -> list[Row]:
    """Return a call that failed and one after it, with these arguments."""
    return [
        call("t1", 0, "look", arguments=json.dumps(arguments), status="error"),
        call("t1", 1, "look", arguments=json.dumps(later)),
    ]


RECOVERIES: list[tuple[Row, Row, int]] = [
    ({"n": 1}, {"n": 2}, 1),
    ({"n": 1}, {"n": 1}, 0),
    ({"n": 1, "m": 1}, {"n": 2, "m": 1}, 1),
    ({"n": 1, "m": 1}, {"n": 2, "m": 2}, 0),
    ({"n": 1, "m": 1}, {"n": 1}, 1),
    ({}, {"n": 1}, 1),
]


@pytest.mark.parametrize("case", range(len(RECOVERIES)), ids=lambda i: str(RECOVERIES[i]))
def test_recovery_changes_an_argument_and_keeps_one(
    found: dict[str, list[dict[str, Score]]], case: int
) -> None:
    """The same call again is a retry: it counts as not recovered, and the label says so."""
    arguments, later, recovered = RECOVERIES[case]
    score = found["failed_call_recoveries"][case]["recovery_rate"]

    assert score.value == recovered
    assert score.label == ("retried: 1" if arguments == later else None)


@built_together
def test_recovery_looks_five_calls_ahead() -> Scene:
    """The sixth call after a failure is too late."""
    failed = ("look", "a", "Error: none")
    between = [("find", str(i)) for i in range(4)]

    fifth = Case(made(failed, *between, ("look", "b")))
    sixth = Case(made(failed, *between, ("find", "x"), ("look", "b")))
    found = yield [fifth, sixth]
    assert [each.scores["recovery_rate"].value for each in found] == [1, 0]


ENDINGS: list[tuple[Calls, str | None, str]] = [
    ((("look", "a"), ("pay", "a")), "success", "at_success"),
    ((("pay", "a"), ("look", "a")), "success", "late"),
    ((("look", "a"),), "success", "unknown"),
    ((), "success", "at_success"),
    ((("pay", "a"),), "failure", "early"),
    ((("pay", "a"),), None, "unknown"),
    ((("look", "a"),) * 3, None, "looped"),
    ((("look", "a"),) * 3 + (("pay", "a"),) * 2, "failure", "looped"),
    ((("look", "a"),) * 3 + (("pay", "a"), ("pay", "b"), ("pay", "c")), "failure", "early"),
    ((("look", "a"),) * 3 + (("pay", "a"),), "success", "at_success"),
]


@pytest.mark.parametrize("case", range(len(ENDINGS)), ids=lambda i: str(ENDINGS[i]))
def test_termination_says_how_it_ended(
    found: dict[str, list[dict[str, Score]]], case: int
) -> None:
    """The first that holds: looped, late or at success, early, unknown."""
    assert found["endings"][case]["termination"].label == ENDINGS[case][2]


def endings_of(
    runs: Sequence[Mapping[str, Any]], verdicts: Sequence[Mapping[str, Any]] = ()
) -> dict[str, str]:
    """Return how each of these runs ended that did not end by itself."""
    con = connection([], runs, verdicts)
    RELATIONS.run(con, ["endings"], ["trajectories", "verdicts"])
    return dict(con.sql("FROM endings").fetchall())


def test_run_ends_early_by_the_words_of_its_last_model_call() -> None:
    """A limit of output, turns or time is the budget, in any vendor's words; else it may crash."""
    words = {
        "length": "budget", "MAX_TOKENS": "budget", "max_turns": "budget", "time_limit": "budget",
        "timeout": "budget", "maxIterations": "budget", "model_context_window_exceeded": "budget",
        "max_output_tokens": "budget", "maxCompletionTokens": "budget", "turn_limit": "budget",
        "stop": None, "tool_calls": None, "content_filter": None,
    }  # fmt: skip
    runs = [trajectory(word, finish_reasons=json.dumps([word])) for word in words]
    runs += [trajectory("lost", complete=False), trajectory("failed", root_failed=True)]
    found = endings_of(runs)

    expected = {word: ending for word, ending in words.items() if ending}
    assert found == {**expected, "lost": "unfinished", "failed": "crashed"}


LIMITED: list[tuple[dict[str, Any], str | None, str | None, str | None]] = [
    ({"complete": False}, "budget", "harness", "budget"),
    ({"root_failed": True}, "budget", "harness", "budget"),
    ({}, "Budget", "human:ann", "budget"),
    ({"interrupted": True}, "budget", "harness", "budget"),
    ({"complete": False}, "budget", "judge:j", "unfinished"),
    ({"complete": False}, "failed", "harness", "unfinished"),
    ({"root_failed": True, "flags": ["limit_reached"]}, None, None, "budget"),
    ({"root_failed": True, "flags": []}, None, None, "crashed"),
    ({"final_answer": "Agent stopped due to max iterations."}, None, None, "budget"),
    (
        {"final_answer": "Agent stopped due to iteration limit or time limit."},
        None,
        None,
        "budget",
    ),
    ({"final_answer": "Sorry, need more steps to process this request."}, None, None, "budget"),
    ({"final_answer": "The agent stopped due to max iterations, I hear."}, None, None, None),
]
"""What a trajectory is, label and source of the verdict on its success, and how it ended."""


def test_limit_that_ended_a_run_is_its_budget() -> None:
    """Whoever ran it knows, before the trace; a judge does not. Else its framework's own words."""
    runs = [trajectory(f"t{i:02}", **fields) for i, (fields, *_) in enumerate(LIMITED)]
    said = [
        {"trajectory_id": f"t{i:02}", "subject": "success", "label": label, "source": source}
        for i, (_, label, source, _) in enumerate(LIMITED)
        if source
    ]
    found = endings_of(runs, said)

    assert [found.get(f"t{i:02}") for i in range(len(LIMITED))] == [each[3] for each in LIMITED]


def test_tool_without_a_name_is_not_known_to_be_offered() -> None:
    """Of a call whose tool the trace does not name the registry cannot say anything."""
    nameless = {**call("t1", 0, "look"), "tool_name": None}
    con = scored(connection([nameless], [trajectory("t1")]), specification(TOOLS))

    assert scores(con)["tool_allowed_rate"].reason == "no_offered_tools"
    assert scores(con)["tool_hallucination"].reason == "no_offered_tools"


def test_failures_name_the_first_step_that_shows_each_mode() -> None:
    """A sub-agent's step is named with its trajectory; a failed attempt without any is one too."""
    steps = [
        call("t1", 0, "nope", offered=False, start_time=at(0)),
        *(call("sub", i, "look", result="x", span_id=f"u{i}", start_time=at(1)) for i in range(3)),
    ]
    runs = [
        trajectory("t1", outcome="success"),
        trajectory("sub", parent_trajectory_id="t1"),
        trajectory("t2", outcome="failure"),
        trajectory("t3", outcome="success"),
    ]
    con = scored(connection(steps, runs), specification(TOOLS))

    assert con.sql("FROM failure_rows ORDER BY ALL").fetchall() == [
        (
            *("t1", "loop_trap", "sub", 2, "u2", "static"),
            "look 3 times with the same arguments and result", True,
        ),
        ("t1", "tool_hallucination", "t1", 0, "s0", "static", "nope was not offered", True),
        ("t2", "unclassified", None, None, None, "static", None, False),
    ]  # fmt: skip


def test_calls_of_several_agents_are_no_loop() -> None:
    """Three agents that look the same thing up once each do not go round in circles."""
    steps = [call(agent, 0, "look", result="x") for agent in ("t1", "a", "b")]
    runs = [
        trajectory("t1"),
        *(trajectory(agent, parent_trajectory_id="t1") for agent in ("a", "b")),
    ]
    con = scored(connection(steps, runs), specification(TOOLS))

    assert scores(con)["loop_trap"].value == 0
    assert scores(con)["redundant_calls"].value == 2


@built_together
def test_what_is_judged_at_the_end_alone_is_no_open_prerequisite() -> Scene:
    """When SQL began to hold is not known: a write before it counts only if it never did."""
    looked = "count(*) FILTER (WHERE tool_name = 'look') >= 2"
    task = {
        "sub_goals": {
            "first": {"serves": ["look"], "success": {"sql": looked}},
            "then": {"serves": ["pay"], "deps": ["first"]},
        }
    }
    twice, once = (made(*[("look", "a")] * looks, ("pay", "a")) for looks in (2, 1))

    found = yield [Case(twice, task), Case(once, task)]
    assert [each.scores["premature_commitment"].value for each in found] == [0, 1]


PATHS = """
tools: {look: {effect: read}, ask: {effect: read}, pay: {effect: write}, mail: {effect: write}}
tasks:
  x:
    sub_goals:
      refund: {serves: [pay]}
      tell_refund: {serves: [mail], deps: [refund]}
      ask: {serves: [ask]}
      tell_refusal: {serves: [mail], deps: [ask]}
      end: {any_of: [[refund, tell_refund], [ask, tell_refusal]]}
"""
"""Two ways to the end that both mail."""


def test_call_serves_the_way_that_was_taken() -> None:
    """A write is too early if the sub-goal that it serves on the chosen way waits for another."""
    steps = [
        call(name, i, tool)
        for name in ("mail ask", "ask mail", "mail pay", "pay mail")
        for i, tool in enumerate(name.split())
    ]
    runs = [trajectory(name, task_id="x") for name in {step["trajectory_id"] for step in steps}]
    found = all_scores(scored(connection(steps, runs), specification(PATHS)))

    early = {name: each["premature_commitment"].value for name, each in found.items()}
    assert early == {"mail ask": 1, "ask mail": 0, "mail pay": 1, "pay mail": 0}


def test_cascade_follows_the_way_that_was_taken() -> None:
    """A question that failed leads to the mails that failed after it, not to refunds."""
    steps = [call("t1", 0, "ask", status="error")]
    steps += [call("t1", i, "mail", status="error") for i in (1, 2)]
    con = scored(connection(steps, [trajectory("t1", task_id="x")]), specification(PATHS))

    assert con.sql("SELECT call_index FROM cascades").fetchall() == [(0,)]


def test_sub_goal_that_the_task_does_not_know_is_none() -> None:
    """A span that names a step of the agent's own plan serves what the task's rules say."""
    steps = [call("t1", 0, "mail", sub_goal="step-1"), call("t1", 1, "ask")]
    steps += [call("t1", 2, "look", sub_goal="step-2")]
    run = trajectory("t1", task_id="x", outcome="success")
    con = scored(connection(steps, [run]), specification(PATHS))

    assert scores(con)["premature_commitment"].value == 1
    assert scores(con)["termination"].label == "late"
