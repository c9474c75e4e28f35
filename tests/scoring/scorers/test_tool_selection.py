"""Decision points and the scores of tool selection, each by hand on a tiny case."""

import json

import pytest
import yaml
from tests.scoring.build import (
    Case,
    Row,
    Score,
    call,
    connection,
    scored,
    scores,
    specification,
    trajectory,
)
from tests.slow import slow_after

from tracegrade_queries.build.canonical import canonical_json

from .selection import REASON, TOOLS, at_once, failing, picks, run, tsa


def test_worked_example_of_the_triangle_scores_seven_and_a_half() -> None:
    """12 decision points of which 9 are right give 9/12, that is 7.5 on the axis."""
    expected = ["is_empty", *["read"] * 4, "free_space", *["write"] * 5]
    made = ["list_all", *["read"] * 4, "write", *["write"] * 5, "archive"]
    listed = ", ".join(f"{{tool: {name}}}" for name in expected)

    con = run(f"{{expected: [{listed}]}}", picks(*made))
    assert tsa(con) == (9, 12)
    assert scores(con)["tsa"].value == 0.75
    wrong = con.sql("SELECT picked_tool, expected_tool FROM decision_rows WHERE NOT correct")
    assert sorted(wrong.fetchall(), key=str) == [
        ("archive", None),
        ("list_all", "is_empty"),
        ("write", "free_space"),
    ]


def test_retries_join_the_point_of_the_failed_call() -> None:
    """After a failure, calls of the same tool up to the first success are one decision point."""
    calls = [failing(0, "read"), *picks("x", "is_empty")[1:], failing(2, "read")]
    calls += [call("t1", 3, "read"), call("t1", 4, "read")]

    con = run("{}", calls)
    points = con.sql("SELECT decision_index, call_index, calls FROM decision_points").fetchall()
    assert points == [(0, 0, 3), (1, 1, 1), (2, 4, 1)]


def test_another_tool_for_the_same_sub_goal_joins_too() -> None:
    """Where sub-goals are known, what serves the same one is the same decision."""
    task = "{sub_goals: {a: {serves: [read, list_all]}, b: {serves: [write]}}}"
    calls = [failing(0, "read"), call("t1", 1, "write"), call("t1", 2, "list_all")]

    con = run(task, calls)
    points = con.sql("SELECT call_index, calls FROM decision_points").fetchall()
    assert points == [(0, 2), (1, 1)]


def test_only_the_first_pick_of_a_point_counts() -> None:
    """Reaching the right arguments after a failure does not make the first pick right."""
    task = "{expected: [{tool: read, arguments: {path: a}}]}"
    calls = [failing(0, "read", arguments='{"path":"b"}')]
    calls += [call("t1", 1, "read", arguments='{"path":"a"}')]

    con = run(task, calls)
    assert tsa(con) == (0, 1)
    assert scores(con)["wrong_call_rate"].value == 1.0
    assert con.sql(REASON).fetchall() == [
        (None, "read", False, ["b"], 'argument path of read is "b", expected "a"')
    ]


EQUAL: list[tuple[Row, Row, bool]] = [
    ({"n": 1}, {"n": 1.0}, True),
    ({"n": True}, {"n": 1}, False),
    ({"n": None}, {"n": None}, True),
    ({"n": None}, {}, False),
    ({"o": {"a": 1, "b": [2]}}, {"o": {"b": [2], "a": 1}, "more": 0}, True),
    ({"o": [1, 2]}, {"o": [2, 1]}, False),
    ({"a/b~c": 1}, {"a/b~c": 1}, True),
    ({"n": 0.1}, {"n": 0.1}, True),
    ({"n": 1e300}, {"n": 1e300}, True),
    ({"n": 2**70}, {"n": 2**70}, True),
    ({"n": 2**70}, {"n": 2**70 + 1}, False),
    ({"s": "é\n\u2028"}, {"s": "é\n\u2028"}, True),
]
"""Expected arguments, those of the call, and whether these are right."""


@pytest.fixture(scope="module")
def equal() -> list[dict[str, Score]]:
    """The scores of all EQUAL."""
    return at_once(
        [
            Case(
                picks("read", arguments=canonical_json(json.dumps(actual))),
                {"expected": [{"tool": "read", "arguments": expected}]},
            )
            for expected, actual, _ in EQUAL
        ]
    )


@pytest.mark.parametrize("case", range(len(EQUAL)), ids=lambda i: str(EQUAL[i][:2]))
def test_arguments_are_equal_by_value_and_type(equal: list[dict[str, Score]], case: int) -> None:
    """Every key that the task gives is present and equal; other keys are free."""
    assert equal[case]["tsa"][1:3] == (int(EQUAL[case][2]), 1)


def test_bound_value_is_compared_as_text_or_number() -> None:
    """A value bound in the user's words is text unless the task says that it is a number."""

    def case(kind: str, argument: str) -> Case:
        bound = {"n": {"input": "n", "as": kind}}
        task = {
            "match": {"user_input": r"order (?P<n>\d+)"},
            "expected": [{"tool": "read", "arguments": bound}],
        }
        return Case(
            picks("read", arguments=f'{{"n":{argument}}}'), task, {"user_input": "order 7"}
        )

    cases = [("text", '"7"'), ("text", "7"), ("number", "7"), ("number", "8")]
    found = [each["tsa"][1:3] for each in at_once([case(*each) for each in cases])]
    assert found == [(1, 1), (0, 1), (1, 1), (0, 1)]


def test_unbound_value_is_an_error_not_a_wrong_pick() -> None:
    """An expectation that refers to words that are not there cannot be judged."""
    expected = "expected: [{tool: read, arguments: {n: {input: n}}}]"
    task = rf"{{match: {{user_input: '(?P<n>\d+)'}}, {expected}}}"

    score = scores(run(task, picks("read"), user_input="nothing"))["tsa"]
    assert (score.value, score.status, score.reason) == (None, "error", "input_unbound")


def test_arguments_that_were_not_captured_are_an_error() -> None:
    """Content that is missing equals nothing, and makes a score that needs it an error."""
    task = {"expected": [{"tool": "read", "arguments": {"path": "a"}}]}
    cut: Row = {"arguments": '{"path":"a"}', "flags": ["truncated"]}

    for found in at_once(
        [Case(picks("read", **lost), task) for lost in ({"arguments": None}, cut)]
    ):
        score = found["tsa"]
        assert (score.value, score.status, score.reason) == (None, "error", "content_missing")


def test_wrong_tool_is_wrong_even_without_its_arguments() -> None:
    """Where criterion a fails already, missing arguments change nothing."""
    task = "{expected: [{tool: read, arguments: {path: a}}]}"

    assert tsa(run(task, picks("archive", arguments=None))) == (0, 1)


def test_pick_without_a_name_is_said_to_have_none() -> None:
    """A call whose tool the trace does not name reads like the others in the evidence."""
    nameless = [{**call("t1", i, "read"), "tool_name": None} for i in range(2)]

    con = run("{expected: [{tool: read}]}", nameless)
    assert sorted(reason for *_, reason in con.sql(REASON).fetchall()) == [
        "picked an unnamed tool where no call was expected",
        "picked an unnamed tool, expected read",
    ]


def test_accepted_tool_is_as_right_as_the_expected_one() -> None:
    """A pick out of the accepted list meets the expectation."""
    task = "{expected: [{decision: keep, tool: delete, accept: [archive]}]}"

    con = run(task, picks("archive"))
    assert con.sql(REASON).fetchall() == [("keep", "archive", True, [], None)]


def test_effect_alone_may_be_expected() -> None:
    """An expectation with an effect and no tool accepts any tool of that effect."""
    found = at_once([Case(picks(name), {"expected": [{"effect": "write"}]})
                     for name in ("archive", "read")])  # fmt: skip

    assert [each["tsa"][1:3] for each in found] == [(1, 1), (0, 1)]


def test_effect_of_an_accepted_tool_may_be_demanded() -> None:
    """Where the task gives tool and effect, the picked tool must have that effect."""
    task = "{expected: [{tool: delete, accept: [archive], effect: destructive}]}"

    con = run(task, picks("archive"))
    assert con.sql(REASON).fetchall() == [
        (None, "archive", False, ["a"], "archive has effect write, expected destructive")
    ]


def test_span_names_the_decision_it_makes() -> None:
    """A decision id on the span pairs a call with its expectation, whatever the order."""
    task = "{expected: [{decision: a, tool: read}, {decision: b, tool: write}]}"
    calls = [call("t1", 0, "write", decision="b"), call("t1", 1, "read", decision="a")]

    assert tsa(run(task, calls)) == (2, 2)


def test_missed_expectation_counts_as_wrong() -> None:
    """An expectation without a call is in the denominator, and in missed_decisions."""
    con = run("{expected: [{tool: read}, {decision: w, tool: write}]}", picks("read"))

    assert tsa(con) == (1, 2)
    assert scores(con)["missed_decisions"].value == 1
    assert scores(con)["tsa_source_text"].value == 1.0
    assert con.sql(REASON + " WHERE missed").fetchall() == [
        ("w", None, False, ["a"], "no call was made where write was expected")
    ]


@pytest.mark.parametrize("ended", slow_after(1, ["crashed", "budget"]))
def test_expectation_after_an_early_end_is_left_out(ended: str) -> None:
    """What a run that was cut off did not reach is not counted against it."""
    con = run("{expected: [{tool: read}, {tool: write}]}", picks("read"), ended=ended)

    assert tsa(con) == (1, 1)
    assert scores(con)["missed_decisions"].value == 0


def test_unexpected_call_is_wrong_only_where_the_list_is_complete() -> None:
    """A call that nobody expected is wrong under a complete list, else judged by b and c alone."""
    expected = "expected: [{tool: read}]"
    calls = picks("read", "archive", "list_all", "is_empty")

    assert tsa(run(f"{{{expected}}}", calls)) == (1, 4)
    for other in ("writes", "false"):
        con = run(f"{{{expected}, expected_complete: {other}}}", calls)
        assert tsa(con) == (1, 2)
        assert con.sql(REASON + " WHERE NOT correct").fetchall() == [
            (
                None, "list_all", False, ["c"],
                "is_empty was offered and does the same with effect read and cost 1, "
                "list_all has read and 20",
            )
        ]  # fmt: skip


def test_expected_pick_satisfies_criterion_c() -> None:
    """What the expert would pick is not too expensive."""
    assert tsa(run("{expected: [{tool: list_all}]}", picks("list_all"))) == (1, 1)


def test_only_an_offered_alternative_is_better() -> None:
    """A cheaper tool counts if the run offered it; if nothing is known, if it is registered."""

    def case(offered: list[str] | None) -> Case:
        tools = None if offered is None else json.dumps([{"name": name} for name in offered])
        return Case(picks("list_all"), {}, {"offered_tools": tools})

    found = at_once([case(["list_all", "is_empty"]), case(["list_all"]), case(None)])
    assert [each["tsa"][1:3] for each in found] == [(0, 1), (1, 1), (0, 1)]
    assert {each["tsa"].label for each in found} == {"c"}


def test_schema_alone_does_not_make_tsa_applicable() -> None:
    """Without an expectation or an alternative, valid arguments are no tool selection."""
    tools = "tools: {read: {parameters: {type: object}}}"

    score = scores(run("{}", picks("read"), tools=tools))["tsa"]
    assert (score.status, score.reason) == ("not_applicable", "no_expectation")


@pytest.mark.parametrize(
    ("offered", "known", "rate"),
    [([True, False], None, 0.5), ([None, None], TOOLS, 0.5), ([None, None], None, None)],
)
def test_allowed_rate_asks_the_trace_then_the_registry(
    offered: list[bool | None], known: str | None, rate: float | None
) -> None:
    """A call is allowed if its tool was offered; where that is not known, if it is registered."""
    calls = [call("t1", 0, "read", offered=offered[0]), call("t1", 1, "nope", offered=offered[1])]

    score = scores(run("{}", calls, tools=known or "tools: {}"))["tool_allowed_rate"]
    assert score.value == rate
    assert score.reason == (None if rate is not None else "no_offered_tools")


def test_destructive_calls_are_counted_where_a_safe_tool_existed() -> None:
    """Each destructive call with a registered alternative that destroys nothing is one."""
    con = run("{}", picks("delete", "delete", "archive"))

    assert scores(con)["destructive_when_safe_existed"].value == 2
    none = scores(run("{}", picks("delete"), tools="tools: {}"))["destructive_when_safe_existed"]
    assert (none.status, none.reason) == ("not_applicable", "no_registry")


def test_destructive_call_of_a_made_up_tool_is_none() -> None:
    """One that was not offered, and failed, destroyed nothing."""
    made_up = call("t1", 0, "delete", offered=False, status="error")
    con = run("{}", [made_up, call("t1", 1, "delete", offered=False)])

    assert scores(con)["destructive_when_safe_existed"].value == 1


BAGS: list[tuple[str, str, float | None]] = [
    ("expected: [{tool: a}, {tool: a}]", "aa", 1.0),
    ("expected: [{tool: s}, {tool: s}, {tool: m}]", "smm", 0.5),
    ("expected: [{tool: a}, {tool: b}]", "abzz", 0.5),
    ("expected: [{tool: a}, {tool: b}], expected_complete: false", "abzz", 1.0),
    ("expected: [{tool: a}]", "", 0.0),
    ("expected: []", "a", 0.0),
    ("expected: []", "", None),
    ("expected: [{tool: a, accept: [b]}, {tool: b}]", "ab", 1.0),
    ("expected: [{tool: b}, {tool: a, accept: [b]}]", "bb", 1.0),
    ("expected: [{tool: w}, {tool: r}], expected_complete: writes", "rrw", 1.0),
    ("expected: [{effect: write}]", "w", 1.0),
]
"""A task, the tools that were called, one a letter, and the score."""


@pytest.fixture(scope="module")
def bags() -> list[dict[str, Score]]:
    """The scores of all BAGS."""
    tools = "tools: {w: {effect: write}, r: {effect: read}}"
    cases = [Case(picks(*made), yaml.safe_load(f"{{{task}}}")) for task, made, _ in BAGS]
    return at_once(cases, tools)


@pytest.mark.parametrize("case", range(len(BAGS)), ids=lambda i: str(BAGS[i][:2]))
def test_jaccard_compares_bags_of_tools(bags: list[dict[str, Score]], case: int) -> None:
    """Matched calls over expected and made calls, as multisets; reads may be left out."""
    assert bags[case]["tool_selection_jaccard"].value == BAGS[case][2]


def test_sub_agent_has_its_own_calls_and_no_task_scores() -> None:
    """A child is judged by what needs no task; its calls count for the parent's decisions."""
    steps = [call("t1", 0, "read"), call("c1", 0, "write")]
    runs = [trajectory("t1", task_id="t"), trajectory("c1", parent_trajectory_id="t1")]
    spec = specification(f"{TOOLS}\ntasks:\n  t: {{expected: [{{tool: read}}, {{tool: write}}]}}")

    con = scored(connection(steps, runs), spec, until="tool_correctness")
    assert tsa(con) == (2, 2)
    assert scores(con)["tool_allowed_rate"].denominator == 1
    assert set(scores(con, "c1")) == {
        "tool_allowed_rate",
        "parameter_validity",
        "destructive_when_safe_existed",
    }


def test_ambiguous_attempt_is_said_to_be() -> None:
    """An attempt that two tasks match is scored against none of them."""
    spec = specification(
        "tasks:\n  a: {match: {user_input: x}, expected: []}\n  b: {match: {user_input: x}}"
    )

    con = scored(
        connection(picks("read"), [trajectory("t1", user_input="x")]),
        spec,
        until="tool_correctness",
    )
    assert scores(con)["tsa"].reason == "ambiguous_task"
    assert scores(con)["tool_selection_jaccard"].reason == "ambiguous_task"
