"""Why runs failed: the kinds, their order, and what a sentence may hold."""

import json
from typing import Any

import pytest
from tests.scoring.build import (
    Case,
    all_scored,
    call,
    connection,
    rows_of,
    scored,
    specification,
    trajectory,
)
from tests.scoring.scorers.selection import attempt, failing, picks

from tracegrade_scoring.schema import REASON_KINDS
from tracegrade_scoring.scorers.tool_selection.differing_values import MOST, differing_values

from . import plain

TOOLS = """
tools:
  look: {effect: read, alternatives: []}
  peek: {effect: read}
  pay: {effect: write}
  spend: {effect: write, alternatives: [hold]}
  hold: {effect: read}
  wipe: {effect: destructive}
  typed: {effect: read, parameters: {type: object, required: [id]}}
"""
FAILED: dict[str, Any] = {"outcome": "failure"}


def failed(task: str, calls: list[Any], ended: str | None = None, **columns: Any) -> Case:
    """Return a failed attempt at a task, which is given in YAML."""
    return attempt(task, calls, ended, **FAILED, **columns)


CITY = "{expected: [{tool: look, arguments: {city: Paris, days: 2}}]}"
ROUTE = '{expected: [{tool: look, arguments: {to: {city: Paris, days: [1, 2]}, "a b": 1}}]}'
GOALS = "{sub_goals: {a: {serves: [look], critical: true}, b: {serves: [pay], critical: true}}}"
ANSWER = "{success: {answer: '42'}}"

REASONS = "SELECT trajectory_id, kind, object, sentence FROM reason_rows"

CASES: list[tuple[Case, list[tuple[str, str | None, str]]]] = [
    (
        failed(CITY, picks("look", arguments='{"city":"Rome","days":2}')),
        [("wrong_argument", "look.city", 'called look with city "Rome", expected "Paris"')],
    ),
    (
        failed("{expected: [{tool: look, arguments: {city: [Paris]}}]}",
               picks("look", arguments='{"city":[]}')),
        [("wrong_argument", "look.city", 'called look with city [], expected ["Paris"]')],
    ),
    (
        failed(CITY, picks("look", arguments='{"city":"Paris"}')),
        [("wrong_argument", "look.days", "called look without days, expected 2")],
    ),
    (
        failed(ROUTE, picks("look", arguments='{"a b":1,"to":{"city":"Paris","days":[1,3,4]}}')),
        [
            (
                "wrong_argument", "look.to.days[*]",
                "called look with to.days[1] 3, expected 2",
            ),
        ],
    ),
    (
        failed(ROUTE, picks("look", arguments='{"a b":2,"to":{"city":"Paris","days":[1,2]}}')),
        [("wrong_argument", 'look."a b"', 'called look with "a b" 2, expected 1')],
    ),
    (
        failed("{expected: [{tool: look, arguments: {n: {about: 3, within: 1}}}]}",
               picks("look", arguments='{"n":9}')),
        [("wrong_argument", "look.n", 'called look with n 9, expected {"about":3,"within":1}')],
    ),
    (
        failed("{expected: [{tool: pay}]}", picks("hold")),
        [("wrong_tool", "pay", "called hold where pay was expected")],
    ),
    (
        failed("{expected: [{effect: write}], expected_complete: false}", []),
        [("never_called", "a write tool", "never called a write tool")],
    ),
    (
        failed("{expected: [{tool: look}, {tool: pay}], expected_complete: false}", []),
        [("never_called", tool, f"never called {tool}") for tool in ("pay", "look")],
    ),
    (
        failed("{expected: []}", picks("look", "wipe")),
        [
            ("not_expected", "wipe", "called wipe (destructive), where no call was expected"),
            ("not_expected", "look", "called look (read), where no call was expected"),
        ],
    ),
    (
        failed("{expected: [{tool: look}]}", picks("look")),
        [("unexplained", None,
          "failed by the outcome that its trace states; no step shows why")],
    ),
    (
        attempt(ANSWER, picks("look"), final_answer="41"),
        [("wrong_answer", None, "the answer is not what the task asks")],
    ),
    (
        attempt("{success: {tool: pay}}", picks("look"), final_answer="41"),
        [("wrong_answer", None, "the run did not end as the task asks")],
    ),
    (
        failed("{}", picks("nope", offered=False)),
        [("not_offered", "nope", "called nope, which was not offered")],
    ),
    (
        failed("{}", picks("typed")),
        [("bad_arguments", "typed",
          'called typed with arguments that its schema refuses: "id" is a required property')],
    ),
    (
        failed("{}", picks("look", "look", "look", result="x")),
        [("loop", "look", "called look 3 times with the same arguments and result")],
    ),
    (
        failed("{}", [failing(0, "pay", result='{"error": "no such\\norder"}')]),
        [("lost_call", "pay", r"pay failed, and the run did not recover: no such\norder")],
    ),
    (
        failed("{}", [failing(0, "pay", result="Error: card declined\nTraceback")]),
        [("lost_call", "pay",
          "pay failed, and the run did not recover: Error: card declined Traceback")],
    ),
    (
        failed("{}", [call("t1", 0, "pay", status="not_executed", result="no", offered=True)]),
        [("denied", "pay", "the call of pay was not executed: no")],
    ),
    (
        failed(GOALS, [call("t1", 0, "look"), failing(1, "pay")]),
        [
            ("lost_call", "pay", "pay failed, and the run did not recover"),
            ("unfinished_goal", "b", "critical sub-goal b was tried, but not completed"),
        ],
    ),
    (
        failed(GOALS, [call("t1", 0, "look")]),
        [("skipped_goal", "b", "skipped critical sub-goal b")],
    ),
    (
        failed("{expected: [{tool: look}], expected_complete: false}", picks("look", "spend")),
        [("unsafe", "spend", "used spend (write) though hold does the same")],
    ),
    (
        failed("{}", picks("look"), user_input="do"),
        [("no_answer", None, "ended without an answer")],
    ),
    (
        failed("{}", [call("t1", 0, "look")], "budget", finish_reasons='["max_turns"]'),
        [("budget", "max_turns", "stopped at a limit (max_turns) after 1 call")],
    ),
    (
        failed("{}", [], "budget", finish_reasons='["tool_calls"]'),
        [("budget", None, "stopped at a limit after 0 calls")],
    ),
    (
        attempt("{}", [], "unfinished", complete=False),
        [],
    ),
    (
        failed("{expected: [{tool: pay, effect: read}]}", picks("pay")),
        [("wrong_tool", "pay", "called pay (write), expected a read-only call")],
    ),
    (
        failed("{}", [failing(0, "pay", result="boom")], "crashed", root_failed=True),
        [
            ("crashed", "pay", "crashed after pay failed: boom"),
            ("lost_call", "pay", "pay failed, and the run did not recover: boom"),
        ],
    ),
    (
        failed("{}", picks("look"), "crashed", root_failed=True),
        [("crashed", None, "crashed after 1 call: its root span is an error")],
    ),
    (
        failed("{}", picks("look"), "unfinished", complete=False),
        [("no_answer", "end", "the run has no end after 1 call")],
    ),
]  # fmt: skip


def test_each_kind_has_its_sentence() -> None:
    """What went wrong is said in a sentence, beside what it is about."""
    with all_scored([case for case, _ in CASES], TOOLS, until="run_reasons") as con:
        rows = con.sql(f"{REASONS} ORDER BY trajectory_id, rank_in_run").fetchall()
    found = [[row[1:] for row in rows if row[0] == f"t{i}"] for i in range(len(CASES))]

    assert found == [reasons for _, reasons in CASES]


VERDICTS = [
    # source, label, value, evidence: kind, object, sentence
    ("human:ann", None, 0, "refunded twice", "person", None, "ann says: refunded twice"),
    ("human:ann", "looped", 0, None, "person", None, "ann says: looped"),
    ("human:ann", "fail", None, None, "unexplained", None,
     "failed by the verdict of people; no step shows why"),
    ("unit-tests", None, 0, "2 of 9 failed", "check", "unit-tests",
     "check failed: unit-tests: 2 of 9 failed"),
    ("humaneval", None, 0, "2 of 9", "check", "humaneval", "check failed: humaneval: 2 of 9"),
    ("unit-tests", None, 0, '{"failed":2}', "check", "unit-tests",
     'check failed: unit-tests: {"failed":2}'),
    ("judge:cost", "budget", 0, "dear", "judge", None, "judge cost says: dear"),
    ("judge:answers", None, 0.2, "It invents a price.", "judge", None,
     "judge answers says: It invents a price."),
    ("gen_ai.evaluation.result", "fail", 0, "off topic", "check", "gen_ai.evaluation.result",
     "check failed: gen_ai.evaluation.result: off topic"),
    ("harness", None, 0, json.dumps({"status": "done", "verifiers": [
        {"verifier": "a.json", "outcome": "pass", "evidence": "as expected"},
        {"verifier": "b.json", "outcome": "fail", "evidence": "it is missing"}]}),
     "check", "b.json", "check failed: b.json: it is missing"),
    ("harness", "budget", 0, json.dumps({
        "status": "budget", "reason": "calls: more than 60", "notes": ["a note"]}),
     "budget", "calls", "stopped at a limit (calls: more than 60) after 0 calls"),
    ("harness", "budget", 0, json.dumps({"status": "budget", "notes": ["a note"]}),
     "budget", None, "stopped at a limit after 0 calls"),
    ("my-runner", "Budget", 0, "out of credits", "budget", "out of credits",
     "stopped at a limit (out of credits) after 0 calls"),
    ("my-runner", "budget", 0, ": spent", "budget", None,
     "stopped at a limit (: spent) after 0 calls"),
    ("my-runner", "budget", 0, "x" * 99, "budget", "x" * 39 + "…",
     f"stopped at a limit ({'x' * 39}…) after 0 calls"),
]  # fmt: skip


def test_verdicts_are_reasons_if_they_tell_more_than_failure() -> None:
    """A person's note, a check's evidence and a judge's words are shown as theirs."""
    names = [f"t{i:02}" for i in range(len(VERDICTS))]
    verdicts = [
        {
            **{"trajectory_id": name, "subject": "success", "source": source},
            **{"label": label, "value": value, "evidence": evidence},
        }
        for name, (source, label, value, evidence, *_) in zip(names, VERDICTS, strict=True)
    ]
    con = connection([], [trajectory(name) for name in names], verdicts)
    ended = [(name,) for name, each in zip(names, VERDICTS, strict=True) if each[4] == "budget"]
    con.execute("CREATE TEMP TABLE endings (trajectory_id TEXT, ending TEXT)")
    con.executemany("INSERT INTO endings VALUES (?, 'budget')", ended)
    con = scored(con, specification("tools: {}"), until="run_reasons")

    rows = con.sql(f"{REASONS} ORDER BY trajectory_id, rank_in_run").fetchall()
    assert rows == [
        (name, *said) for name, (*_, kind, what, text) in zip(names, VERDICTS, strict=True)
        for said in [(kind, what, text)]
    ]  # fmt: skip


def test_the_first_reason_is_the_most_direct_and_one_that_changes_something() -> None:
    """A person before a loop, a loop before a wrong call; of one kind writes before reads."""
    task = {"expected": [{"tool": "peek"}, {"tool": "pay"}], "expected_complete": True}
    steps = picks("look", "look", "look", "wipe", result="x")
    verdict = {
        **{"trajectory_id": "t1", "subject": "success", "source": "human:ann"},
        **{"value": 0.0, "evidence": "no refund"},
    }
    con = connection(steps, [trajectory("t1", task_id="t")], [verdict])
    con = scored(con, specification(f"{TOOLS}\ntasks: {{t: {json.dumps(task)}}}"),
                 until="run_reasons")  # fmt: skip

    rows = con.sql("SELECT rank_in_run, kind, object FROM reason_rows ORDER BY 1").fetchall()
    assert rows == [
        (1, "person", None),
        (2, "loop", "look"),
        (3, "wrong_tool", "pay"),
        (4, "wrong_tool", "peek"),
        (5, "not_expected", "wipe"),
        (6, "drift", None),
        (7, "not_expected", "look"),
    ]


def test_places_are_the_declared_order() -> None:
    """The precedence that the queries give the kinds is that of `REASON_KINDS`."""
    with all_scored([case for case, _ in CASES], TOOLS, until="run_reasons") as con:
        names = ("verdict", "ending", "call", "mode", "decision", "sub_goal")
        rows = " UNION ".join(f"SELECT precedence, kind FROM {name}_reasons" for name in names)
        found = con.sql(rows).fetchall()

    assert len(REASON_KINDS) == 23
    assert all(REASON_KINDS[precedence - 1] == kind for precedence, kind in found)


def test_step_of_a_sub_agent_is_named_with_its_trajectory() -> None:
    """Reasons, like decisions, name steps by the run that made them."""
    steps = [call("t1", 0, "ask"), call("sub", 4, "wipe", span_id="w")]
    runs = [
        trajectory("t1", task_id="t", **FAILED),
        trajectory("sub", parent_trajectory_id="t1"),
    ]
    spec = specification(f"{TOOLS}\ntasks: {{t: {{expected: []}}}}")
    con = scored(connection(steps, runs), spec, until="run_reasons")

    named = "step_trajectory_id, step_index, span_id"
    assert con.sql(f"SELECT {named} FROM reason_rows WHERE object = 'wipe'").fetchall() == [
        ("sub", 4, "w")
    ]
    assert con.sql(f"SELECT {named} FROM decision_rows ORDER BY ALL").fetchall() == [
        ("sub", 4, "w"),
        ("t1", 0, "s0"),
    ]


def test_key_is_of_agent_kind_and_object_alone() -> None:
    """Runs of other releases and tasks share a key; another agent's do not."""
    spec = specification(f"{TOOLS}\ntasks: {{t: {{expected: []}}, u: {{expected: []}}}}")
    runs = [
        trajectory("a", task_id="t", release="1", agent_name="x", **FAILED),
        trajectory("b", task_id="u", release="2", agent_name="x", **FAILED),
        trajectory("c", task_id="u", release="2", agent_name="y", **FAILED),
    ]
    con = connection([call(name, 0, "wipe") for name in "abc"], runs)
    con = scored(con, spec, until="run_reasons")

    a, b, c = (
        key for (key,) in con.sql("SELECT key FROM reason_rows ORDER BY trajectory_id").fetchall()
    )
    assert a == b != c
    assert len(a) == 12


HOSTILE = "\x1b[2J<script>\u202e\r\nx\x07"


@pytest.mark.parametrize("place", ["tool", "argument", "result", "evidence"])
def test_hostile_text_is_on_one_line_of_a_bounded_length(place: str) -> None:
    """No control character, line break or change of direction is in a sentence or object."""
    long = HOSTILE * 50
    steps = [
        failing(0, long if place == "tool" else "pay", offered=place != "tool",
                result=long if place == "result" else None,
                arguments=json.dumps({"c": long if place == "argument" else "x"})),
    ]  # fmt: skip
    verdict = {"trajectory_id": "t1", "subject": "success", "source": f"human:{HOSTILE}",
               "value": 0.0, "evidence": long}  # fmt: skip
    con = connection(steps, [trajectory("t1", task_id="t", **FAILED)], [verdict])
    task = "{expected: [{tool: pay, arguments: {c: y}}]}"
    con = scored(con, specification(f"{TOOLS}\ntasks: {{t: {task}}}"), until="run_reasons")

    texts = con.sql("SELECT sentence, object FROM reason_rows").fetchall()
    assert texts
    assert all(len(sentence) <= 120 for sentence, _ in texts)
    said = [text for row in texts for text in row if text is not None]
    assert all(text.isprintable() and len(text) <= 200 for text in said)


def test_random_failed_attempts_have_reasons_of_their_own_steps() -> None:
    """Each failed attempt has ranks from 1 on, and the steps named are the attempt's own."""
    attempts = [
        plain.Attempt(
            task=None,
            calls=[plain.Call(tool="pay", arguments={"k": i % 3}, failed=bool(i % 2))] * (i % 5),
            outcome=("failure", "success", None)[i % 3],
        )
        for i in range(30)
    ]
    steps, runs = rows_of(attempts)
    con = scored(connection(steps, runs), specification(TOOLS), until="run_reasons")

    ranks = con.sql("""
      SELECT attempts.attempt_id, list(rank_in_run ORDER BY rank_in_run)
      FROM attempts
      INNER JOIN reason_rows ON attempt_id = trajectory_id
      WHERE attempts.success IS FALSE
      GROUP BY ALL
    """).fetchall()
    assert len(ranks) == 10
    assert all(found == list(range(1, len(found) + 1)) for _, found in ranks)
    strangers = "FROM reason_rows WHERE step_trajectory_id <> trajectory_id"
    assert con.sql(strangers).fetchall() == []


LEAVES = [
    # sent, expected: path, sent, expected
    ('{"a":1}', '{"a":2}', [(".a", "1", "2")]),
    ('{"a":1,"b":2}', '{"a":1}', [(".b", "2", None)]),
    ("[1,2]", "[1]", [("[1]", "2", None)]),
    ('{"a":{"b":[{"c":"x"}]}}', '{"a":{"b":[{"c":"y"}]}}', [(".a.b[0].c", '"x"', '"y"')]),
    ('{"a":5}', '{"a":{"b":1}}', [(".a", "5", '{"b":1}')]),
    ('{"a":[]}', '{"a":["x"]}', [(".a", "[]", '["x"]')]),
    ('{"a":{"b":1.50,"ä":[true]}}', '{"a":{}}', [(".a", '{"b":1.50,"ä":[true]}', "{}")]),
    ('{"a":[1]}', '{"a":{"b":1}}', [(".a", "[1]", '{"b":1}')]),
    ('{"a":{"b":{"c":1,"d":[]}}}', '{"a":{"e":1}}',
     [(".a.b.c", "1", None), (".a.b.d", "[]", None), (".a.e", None, "1")]),
    ('{"a":1}', '{"a":"1"}', [(".a", "1", '"1"')]),
    ('{"a":[]}', '{"a":{}}', [(".a", "[]", "{}")]),
    ('{"a-b":"ä"}', '{"a-b":null}', [('."a-b"', '"ä"', "null")]),
    ("[100000000000000000001]", "[100000000000000000002]",
     [("[0]", "100000000000000000001", "100000000000000000002")]),
    ('{"a":1}', '{"a":1}', []),
]  # fmt: skip


@pytest.mark.parametrize(("sent", "expected", "leaves"), LEAVES)
def test_objects_and_lists_differ_value_by_value(
    sent: str, expected: str, leaves: list[tuple[str, str | None, str | None]]
) -> None:
    """Each value that differs has a path; numbers are as they are written."""
    assert differing_values(sent, expected) == leaves


def test_differing_values_are_bounded() -> None:
    """A long list has as many as are shown, a deep one is compared as one."""
    assert len(differing_values(json.dumps([1] * 999), json.dumps([2] * 999))) == MOST
    deep = "[" * 5000 + "]" * 5000
    assert [leaf.path for leaf in differing_values(deep, "[1]")] == [""]
