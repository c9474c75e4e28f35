"""Decision points and the scores of tool selection, each by hand on a tiny case."""

import json
from typing import Any

import pytest
import yaml
from tests.scenes import built_together
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
from tests.scoring.together import Found, Scene

from tracegrade_queries.build.canonical import canonical_json

from .selection import TOOLS, at_once, attempt, failing, picks, run


def tsa(found: Found) -> tuple[float | None, float | None]:
    """Return correct and counted decision points."""
    score = found.scores["tsa"]
    return score.numerator, score.denominator


def reasons(found: Found) -> list[Any]:
    """Return the decisions of an attempt, each with what is wrong with it."""
    return found.rows("decision, picked_tool, correct, failed_criteria, reason", "decision_rows")


@built_together
def test_worked_example_of_the_triangle_scores_seven_and_a_half() -> Scene:
    """9 right of 12 decision points give 9/12, that is 7.5 on the axis."""
    expected = ["is_empty", *["read"] * 4, "free_space", *["write"] * 5]
    made = ["list_all", *["read"] * 4, "write", *["write"] * 5, "archive"]
    listed = ", ".join(f"{{tool: {name}}}" for name in expected)

    (found,) = yield [attempt(f"{{expected: [{listed}]}}", picks(*made))]
    assert found.scores["tsa"][:3] == (0.75, 9, 12)
    rows = found.rows("picked_tool, expected_tool, correct", "decision_rows")
    assert sorted((row[:2] for row in rows if not row[2]), key=str) == [
        ("archive", None),
        ("list_all", "is_empty"),
        ("write", "free_space"),
    ]


@built_together
def test_retries_join_the_point_of_the_failed_call() -> Scene:
    """After a failure, calls of the same tool up to the first success are one decision point."""
    calls = [failing(0, "read"), *picks("x", "is_empty")[1:], failing(2, "read")]
    calls += [call("t1", 3, "read"), call("t1", 4, "read")]

    (found,) = yield [attempt("{}", calls)]
    points = found.rows("decision_index, call_index, calls", "decision_points")
    assert sorted(points) == [(0, 0, 3), (1, 1, 1), (2, 4, 1)]


@built_together
def test_another_tool_for_the_same_sub_goal_joins_too() -> Scene:
    """Where sub-goals are known, what serves the same one is the same decision."""
    task = "{sub_goals: {a: {serves: [read, list_all]}, b: {serves: [write]}}}"
    calls = [failing(0, "read"), call("t1", 1, "write"), call("t1", 2, "list_all")]

    (found,) = yield [attempt(task, calls)]
    assert sorted(found.rows("call_index, calls", "decision_points")) == [(0, 2), (1, 1)]


@built_together
def test_only_the_first_pick_of_a_point_counts() -> Scene:
    """Reaching the right arguments after a failure does not make the first pick right."""
    task = "{expected: [{tool: read, arguments: {path: a}}]}"
    calls = [failing(0, "read", arguments='{"path":"b"}')]
    calls += [call("t1", 1, "read", arguments='{"path":"a"}')]

    (found,) = yield [attempt(task, calls)]
    assert tsa(found) == (0, 1)
    assert found.scores["wrong_call_rate"].value == 1.0
    assert reasons(found) == [
        (None, "read", False, ["b"], 'argument path of read is "b", expected "a"')
    ]


@built_together
def test_reason_names_the_first_value_that_differs_inside_an_argument() -> Scene:
    """Objects and lists are not repeated whole; the number of other differing values is given."""
    task = "{expected: [{tool: pay, arguments: {legs: [{to: OSL, day: 1}, {to: BGO}]}}]}"
    legs = '{"legs":[{"to":"TRD","day":1},{"to":"CPH"}]}'

    (found,) = yield [attempt(task, [call("t1", 1, "pay", arguments=legs)])]
    sentence = 'argument legs[0].to of pay is "TRD", expected "OSL", and 1 more value differs'
    assert reasons(found) == [(None, "pay", False, ["b"], sentence)]


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


@built_together
def test_bound_value_is_compared_as_text_or_number() -> Scene:
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
    found = yield [case(*each) for each in cases]
    assert [tsa(each) for each in found] == [(1, 1), (0, 1), (1, 1), (0, 1)]


@built_together
def test_unbound_value_is_an_error_not_a_wrong_pick() -> Scene:
    """An expectation that refers to words that are not there cannot be judged."""
    expected = "expected: [{tool: read, arguments: {n: {input: n}}}]"
    task = rf"{{match: {{user_input: '(?P<n>\d+)'}}, {expected}}}"

    (found,) = yield [attempt(task, picks("read"), user_input="nothing")]
    score = found.scores["tsa"]
    assert (score.value, score.status, score.reason) == (None, "error", "input_unbound")


@built_together
def test_arguments_that_were_not_captured_are_an_error() -> Scene:
    """Content that is missing equals nothing, and makes a score that needs it an error."""
    task = {"expected": [{"tool": "read", "arguments": {"path": "a"}}]}
    cut: Row = {"arguments": '{"path":"a"}', "flags": ["truncated"]}

    found = yield [Case(picks("read", **lost), task) for lost in ({"arguments": None}, cut)]
    for each in found:
        score = each.scores["tsa"]
        assert (score.value, score.status, score.reason) == (None, "error", "content_missing")


@built_together
def test_wrong_tool_is_wrong_even_without_its_arguments() -> Scene:
    """Where criterion a fails already, missing arguments change nothing."""
    task = "{expected: [{tool: read, arguments: {path: a}}]}"

    (found,) = yield [attempt(task, picks("archive", arguments=None))]
    assert tsa(found) == (0, 1)


@built_together
def test_pick_without_a_name_is_said_to_have_none() -> Scene:
    """A call whose tool the trace does not name reads like the others in the evidence."""
    nameless = [{**call("t1", i, "read"), "tool_name": None} for i in range(2)]

    (found,) = yield [attempt("{expected: [{tool: read}]}", nameless)]
    assert sorted(reason for *_, reason in reasons(found)) == [
        "picked an unnamed tool where no call was expected",
        "picked an unnamed tool, expected read",
    ]


@built_together
def test_accepted_tool_is_as_right_as_the_expected_one() -> Scene:
    """A pick out of the accepted list meets the expectation."""
    task = "{expected: [{decision: keep, tool: delete, accept: [archive]}]}"

    (found,) = yield [attempt(task, picks("archive"))]
    assert reasons(found) == [("keep", "archive", True, [], None)]


@built_together
def test_effect_alone_may_be_expected() -> Scene:
    """An expectation with an effect and no tool accepts any tool of that effect."""
    task = {"expected": [{"effect": "write"}]}

    found = yield [Case(picks(name), task) for name in ("archive", "read")]
    assert [tsa(each) for each in found] == [(1, 1), (0, 1)]


@built_together
def test_effect_of_an_accepted_tool_may_be_demanded() -> Scene:
    """Where the task gives tool and effect, the picked tool must have that effect."""
    task = "{expected: [{tool: delete, accept: [archive], effect: destructive}]}"

    (found,) = yield [attempt(task, picks("archive"))]
    assert reasons(found) == [
        (None, "archive", False, ["a"], "archive has effect write, expected destructive")
    ]


@built_together
def test_span_names_the_decision_it_makes() -> Scene:
    """A decision id on the span pairs a call with its expectation, in any order."""
    task = "{expected: [{decision: a, tool: read}, {decision: b, tool: write}]}"
    calls = [call("t1", 0, "write", decision="b"), call("t1", 1, "read", decision="a")]

    (found,) = yield [attempt(task, calls)]
    assert tsa(found) == (2, 2)


@built_together
def test_missed_expectation_counts_as_wrong() -> Scene:
    """An expectation without a call is in the denominator, and in missed_decisions."""
    task = "{expected: [{tool: read}, {decision: w, tool: write}]}"

    (found,) = yield [attempt(task, picks("read"))]
    assert tsa(found) == (1, 2)
    assert found.scores["missed_decisions"].value == 1
    assert found.scores["tsa_source_text"].value == 1.0
    assert [each for each in reasons(found) if each[1] is None] == [
        ("w", None, False, ["a"], "no call was made where write was expected")
    ]


@built_together
def test_expectation_after_an_early_end_is_left_out() -> Scene:
    """What a run that was cut off did not reach is not counted against it."""
    task = "{expected: [{tool: read}, {tool: write}]}"

    found = yield [attempt(task, picks("read"), ended) for ended in ("crashed", "budget")]
    assert [tsa(each) for each in found] == [(1, 1)] * 2
    assert [each.scores["missed_decisions"].value for each in found] == [0, 0]


@built_together
def test_unexpected_call_is_wrong_only_where_the_list_is_complete() -> Scene:
    """An unexpected call is wrong under a complete list, else judged by b and c alone."""
    expected = "expected: [{tool: read}]"
    calls = picks("read", "archive", "list_all", "is_empty")

    complete, *others = yield [
        attempt(f"{{{expected}, expected_complete: {whole}}}", calls)
        for whole in ("true", "writes", "false")
    ]
    assert tsa(complete) == (1, 4)
    for found in others:
        assert tsa(found) == (1, 2)
        assert [each for each in reasons(found) if each[2] is False] == [
            (
                None, "list_all", False, ["c"],
                "is_empty was offered and does the same with effect read and cost 1, "
                "list_all has read and 20",
            )
        ]  # fmt: skip


@built_together
def test_expected_pick_satisfies_criterion_c() -> Scene:
    """What the expert would pick is not too expensive."""
    (found,) = yield [attempt("{expected: [{tool: list_all}]}", picks("list_all"))]
    assert tsa(found) == (1, 1)


@built_together
def test_only_an_offered_alternative_is_better() -> Scene:
    """A cheaper tool counts if the run offered it; if nothing is known, if it is registered."""

    def case(offered: list[str] | None) -> Case:
        tools = None if offered is None else json.dumps([{"name": name} for name in offered])
        return Case(picks("list_all"), {}, {"offered_tools": tools})

    found = yield [case(["list_all", "is_empty"]), case(["list_all"]), case(None)]
    assert [tsa(each) for each in found] == [(0, 1), (1, 1), (0, 1)]
    assert {each.scores["tsa"].label for each in found} == {"c"}


def test_schema_alone_does_not_make_tsa_applicable() -> None:
    """Without an expectation or an alternative, valid arguments are not a tool selection."""
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


@built_together
def test_destructive_call_of_a_made_up_tool_is_none() -> Scene:
    """One that was not offered, and failed, destroyed nothing."""
    made_up = call("t1", 0, "delete", offered=False, status="error")

    (found,) = yield [attempt("{}", [made_up, call("t1", 1, "delete", offered=False)])]
    assert found.scores["destructive_when_safe_existed"].value == 1


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
    assert scores(con)["tsa"][1:3] == (2, 2)
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
