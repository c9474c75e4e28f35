"""Sub-goal scores on cases that can be counted by hand."""

import pytest
from tests.scenes import built_together
from tests.scoring.build import call, trajectory

from .scored import PlanCase, Scene, Scored, goal, score, several

# The customer-support flow of [Plan graph].
SUPPORT = """
version: 1
tasks:
  refund:
    sub_goals:
      intent:   {serves: [classify]}
      order:    {serves: [search_orders], deps: [intent], critical: true}
      policy:   {serves: [get_policy], deps: [intent]}
      eligible: {serves: [decide], deps: [order, policy], critical: true, weight: 2}
      refund:   {serves: [issue_refund], deps: [eligible], critical: true}
      confirm:  {serves: [send], deps: [refund]}
"""


@pytest.fixture(scope="module")
def support() -> Scored:
    """One attempt that skips the policy, fails to refund, and does something else."""
    steps = [
        call("t1", 0, "classify"),
        call("t1", 1, "search_orders"),
        call("t1", 2, "decide"),
        call("t1", 3, "issue_refund", status="error"),
        call("t1", 4, "weather"),
    ]
    return score(SUPPORT, steps, [trajectory("t1", task_id="refund", release="1.0")])


@pytest.mark.parametrize(
    ("metric", "numerator", "denominator"),
    [
        ("sub_goal_coverage", 4, 6),
        ("sub_goal_completion", 3, 6),
        ("sub_goal_coverage_weighted", 5, 7),
        ("sub_goal_completion_weighted", 4, 7),
        ("critical_path_completion", 2, 3),
        ("critical_path_skipped", 0, 1),
        ("completion_with_direct_deps", 2, 6),
        ("completion_with_all_deps", 2, 6),
        ("dependency_violation", 1, 2),
    ],
)
def test_shares(support: Scored, metric: str, numerator: int, denominator: int) -> None:
    """Each share is what can be counted by hand."""
    found = support[metric]

    assert (found.numerator, found.denominator) == (numerator, denominator)
    assert found.value == numerator / denominator


def test_counts_and_names(support: Scored) -> None:
    """Counts stand beside the names of what they count."""
    assert support["sub_goals_skipped"][:5] == (2, 2, 1, "scored", "policy, confirm")
    assert support["sub_goals_failed_inside"][:5] == (1, 1, 1, "scored", "refund")
    assert support["dependency_violation"].label == "eligible"
    assert support["off_plan_calls"].value == 1


def test_row_of_a_sub_goal(support: Scored) -> None:
    """A row says what became of the sub-goal and of its prerequisites."""
    row = dict(support.sub_goal("eligible"))

    assert row == {
        "trajectory_id": "t1",
        "sub_goal": "eligible",
        "critical": True,
        "weight": 2.0,
        "attempted": True,
        "completed": True,
        "ever_completed": True,
        "regressed": False,
        "deps": ["order", "policy"],
        "deps_met": False,
        "all_deps_met": False,
        "dependency_violation": True,
        "attribution": "rule",
        "completion_source": "status",
        "verdicts_disagree": False,
        "first_completed": 2,
        "pre_satisfied": False,
        "dependent": True,
        "position": 3,
    }


@built_together
def test_nothing_done_is_scored_zero() -> Scene:
    """An attempt without a call covered nothing: a measured 0, not a missing score."""
    (scored,) = yield [PlanCase("      a: {serves: [t], critical: true}", [])]

    assert scored["sub_goal_coverage"][:4] == (0, 0, 1, "scored")
    assert scored["critical_path_skipped"][:5] == (1, 1, 1, "scored", "a")
    assert scored["dependency_violation"].reason == "no_dependents"


def test_no_task_is_not_applicable() -> None:
    """Without a task, without sub-goals or without critical ones there is nothing to measure."""
    names = ("none", "bare", "mild")
    runs = [trajectory(name, task_id=name) for name in names]
    tasks = "tasks: {bare: {}, mild: {sub_goals: {a: {serves: [t]}}}}"
    found = score(tasks, [call(name, 0, "t") for name in names], runs).scores

    for metric in ("sub_goal_coverage", "off_plan_calls", "critical_path_completion"):
        assert found["none", metric] == (None, None, None, "not_applicable", None, "no_task")
        assert found["bare", metric] == (None, None, None, "not_applicable", None, "no_sub_goals")
    assert found["mild", "critical_path_completion"].reason == "no_critical"
    assert found["mild", "critical_path_skipped"].status == "not_applicable"


def test_expression_that_fails_on_real_steps_is_an_error() -> None:
    """An expression that cannot be run over the steps of one attempt spoils no other."""
    tasks = """
tasks:
  x:
    sub_goals: {a: {serves: [t], success: {sql: 'max(result::INT) > 1'}}}
"""
    steps = [call("t1", 0, "t", result="text"), call("t2", 0, "t", result="2")]

    scored = score(tasks, steps, [trajectory(name, task_id="x") for name in ("t1", "t2")])

    assert scored["sub_goal_completion"][3:] == ("error", None, "expression_failed")
    assert scored.scores["t2", "sub_goal_completion"].value == 1


@built_together
def test_span_names_the_sub_goal_before_rules_do() -> Scene:
    """The sub-goal on the span counts; one that the task does not know leaves it to the rules."""
    goals = "      a: {serves: [t]}\n      b: {serves: [u]}"

    (scored,) = yield [
        PlanCase(
            goals,
            [goal(tool_name="u", sub_goal="a"), goal(tool_name="u", sub_goal="unknown")],
        )
    ]

    assert scored.sub_goal("a")["attribution"] == "span"
    assert scored.sub_goal("b")["attribution"] == "rule"


@built_together
def test_call_of_two_sub_goals_is_ambiguous() -> Scene:
    """A call that rules give to two sub-goals serves both, and the rows say so."""
    goals = "      a: {serves: [t]}\n      b: {serves: [t, u]}"

    alone, beside = yield [PlanCase(goals, ["t"]), PlanCase(goals, ["t", "u"])]

    assert alone.sub_goal("a")["attribution"] == "ambiguous"
    assert beside.sub_goal("b")["attribution"] == "rule"


@built_together
def test_rule_may_ask_for_arguments() -> Scene:
    """An argument pattern decides; arguments that were not captured leave it open."""
    goals = '      a: {serves: [{tool: t, arguments: \'"city":"Paris"\'}]}'

    asked = ('{"city":"Paris"}', '{"city":"Rome"}', None)
    paris, rome, unseen = yield [
        *(PlanCase(goals, [goal(tool_name="t", arguments=each)]) for each in asked)
    ]

    assert paris["sub_goal_coverage"].value == 1
    assert rome["sub_goal_coverage"].value == 0
    assert rome["off_plan_calls"].value == 1
    assert unseen["sub_goal_coverage"][3:] == ("error", None, "content_missing")
    assert unseen["off_plan_calls"].status == "error"


@built_together
def test_state_can_be_lost_again() -> Scene:
    """A state holds as the last result that has it says: reached, then lost, is regressed."""
    goals = "      a: {serves: [t], success: {state: {$.state: done}}}"
    done, undone = '{"state":"done"}', '{"state":"open"}'

    (scored,) = yield [
        PlanCase(goals, [goal(tool_name="t", result=done), goal(tool_name="u", result=undone)])
    ]

    row = scored.sub_goal("a")
    assert (row["completed"], row["ever_completed"], row["regressed"]) == (False, True, True)
    assert scored["sub_goals_regressed"][:5] == (1, 1, 1, "scored", "a")
    assert scored["sub_goals_failed_inside"].value == 1


RESULTS = [
    ("1", '{"n":1.0}', True),
    ("1", '{"n":true}', False),
    ("null", '{"n":null}', True),
    ("null", "{}", False),
    ("{b: 1, a: [2]}", '{"n":{"a":[2.0],"b":1}}', True),
    ("'1'", '{"n":1}', False),
    ("1", "n = 1", False),
]
"""The value that a task wants, a result, and whether it has that value."""


@pytest.fixture(scope="module")
def compared() -> list[Scored]:
    """The scores of all RESULTS."""
    goals = "      a: {serves: [t], success: {tool: t, result: {$.n: %s}}}"
    return several(
        *(
            PlanCase(goals % wanted, [goal(tool_name="t", result=result)])
            for wanted, result, _ in RESULTS
        )
    )


@pytest.mark.parametrize("case", range(len(RESULTS)), ids=lambda i: str(RESULTS[i][:2]))
def test_results_are_compared_by_type(compared: list[Scored], case: int) -> None:
    """Values in results are equal by rule 0.5: typed, recursive, keys in any order."""
    assert compared[case].sub_goal("a")["completed"] is RESULTS[case][2]


@built_together
def test_result_that_was_not_captured_is_an_error() -> Scene:
    """Completion that needs a lost result is an error; coverage does not need it."""
    goals = "      a: {serves: [t], success: {tool: t, result: {$.n: 1}}}"

    found = goal(tool_name="t", result='{"n":1}')
    lost, found_elsewhere = yield [PlanCase(goals, ["t"]), PlanCase(goals, ["t", found])]

    assert lost["sub_goal_completion"][3:] == ("error", None, "content_missing")
    assert lost["sub_goal_coverage"].value == 1
    assert lost.sub_goal("a")["completed"] is None
    assert found_elsewhere["sub_goal_completion"].value == 1


@built_together
def test_only_a_result_cut_short_is_unknown() -> Scene:
    """What is missing of the arguments says nothing about the result, and the other way round."""
    goals = "      a: {serves: [t], success: {tool: t, result: {$.n: 1}}}"
    flags = ("truncated", "result_truncated", "redacted")

    cut = [goal(tool_name="t", result='{"n":1}', flags=[flag]) for flag in flags]
    found = yield [*(PlanCase(goals, [each]) for each in cut)]
    assert [each.sub_goal("a")["completed"] for each in found] == [True, None, True]


@built_together
def test_expression_that_is_null_does_not_hold() -> Scene:
    """NULL over the steps is not the answer that no steps at all would give."""
    goals = "      a: {serves: [t], success: {sql: 'max(cost) < 5 OR count(*) = 0'}}"

    (scored,) = yield [PlanCase(goals, ["t"])]

    assert scored["sub_goals_regressed"].value == 1


@built_together
def test_criterion_alone_is_not_enough() -> Scene:
    """A criterion that holds does not complete a sub-goal that nothing was done for."""
    goals = "      a: {serves: [t], success: {tool: u}}"

    (scored,) = yield [PlanCase(goals, ["u"])]

    assert scored["sub_goal_completion"][:4] == (0, 0, 1, "scored")
    assert scored["sub_goals_failed_inside"].value == 0


@built_together
def test_expected_failure_can_be_the_criterion() -> Scene:
    """`status: error` asks for a call that failed."""
    goals = "      a: {serves: [t], success: {tool: t, status: error}}"

    failed = goal(tool_name="t", status="error")

    found = yield [PlanCase(goals, [failed]), PlanCase(goals, ["t"])]
    assert [each["sub_goal_completion"].value for each in found] == [1, 0]


@built_together
def test_answer_serves_a_sub_goal_that_asks_for_it() -> Scene:
    """The final answer is the action where the criterion asks for it and names no tool."""
    goals = "      a: {success: {answer: '(?i)refunded'}}\n      b: {serves: [t], deps: [a]}"

    answers = ("Refunded.", "Sorry.", None)
    right, wrong, silent = yield [
        *(PlanCase(goals, ["t"], {"final_answer": each}) for each in answers)
    ]

    assert right.sub_goal("a")["completed"] is True
    assert right.sub_goal("b")["dependency_violation"] is True
    assert (wrong.sub_goal("a")["attempted"], wrong.sub_goal("a")["completed"]) == (True, False)
    assert silent.sub_goal("a")["attempted"] is False


@built_together
def test_answer_that_was_not_recorded_may_serve_a_sub_goal_that_asks_for_it() -> Scene:
    """Whether it did is unknown, and so are the scores that this decides."""
    goals = "      a: {success: {answer: '(?i)refunded'}}\n      b: {serves: [t]}"

    run = {"flags": ["unrecorded_answer"]}
    (scored,) = yield [PlanCase(goals, ["t"], run)]

    assert scored.sub_goal("a")["attempted"] is None
    assert scored.sub_goal("b")["completed"] is True
    assert scored["sub_goal_completion"].reason == "content_missing"


def test_answer_may_have_to_hold_a_bound_value() -> None:
    """`{input: NAME}` is found as it is in the answer; what is not bound is unknown."""
    tasks = r"""
tasks:
  x:
    match: {user_input: '(?P<who>c-\d+)'}
    sub_goals: {tell: {success: {answer: {input: who}}}}
"""
    completed = {"refund c-7": True, "refund c-8": False, "hello": None}
    runs = [
        trajectory(asked, task_id="x", user_input=asked, final_answer="Refunded c-7.")
        for asked in completed
    ]

    found = score(tasks, [], runs).sub_goals
    assert {asked: row["completed"] for (asked, _), row in found.items()} == completed


@built_together
def test_what_held_before_is_counted_apart() -> Scene:
    """A sub-goal whose criterion held at the start is in neither part of completion."""
    goals = """
      clean: {serves: [tidy], critical: true, success: {sql: "count(*) < 9"}}
      next:  {serves: [t], deps: [clean]}
"""
    (scored,) = yield [PlanCase(goals, ["t"])]

    assert scored["sub_goals_pre_satisfied"][:5] == (1, 1, 1, "scored", "clean")
    assert scored["sub_goal_completion"][:4] == (1, 1, 1, "scored")
    assert scored["sub_goal_coverage"][:4] == (0.5, 1, 2, "scored")
    assert scored["critical_path_completion"].reason == "pre_satisfied"
    assert scored["completion_with_direct_deps"].value == 1
    assert scored.sub_goal("next")["dependency_violation"] is False


def test_graphs_of_different_size_keep_their_own_totals() -> None:
    """Each attempt is divided by its own graph, unlike the text's report()."""
    tasks = """
tasks:
  small: {sub_goals: {a: {serves: [t]}}}
  large: {sub_goals: {a: {serves: [t]}, b: {serves: [u]}, c: {serves: [v]}}}
"""
    attempts = [trajectory("t1", task_id="small"), trajectory("t2", task_id="large")]

    scored = score(tasks, [call("t1", 0, "t"), call("t2", 0, "t")], attempts)

    assert scored["sub_goal_coverage"][1:3] == (1, 1)
    assert scored.scores["t2", "sub_goal_coverage"][1:3] == (1, 3)


def test_sub_agents_serve_the_attempt() -> None:
    """Calls of a sub-agent count for the attempt of its root, which alone has rows."""
    tasks = "tasks: {x: {sub_goals: {a: {serves: [t]}}}}"
    attempts = [trajectory("t1", task_id="x"), trajectory("c1", parent_trajectory_id="t1")]

    scored = score(tasks, [call("c1", 0, "t")], attempts)

    assert scored["sub_goal_completion"].value == 1
    assert {trajectory_id for trajectory_id, _ in scored.scores} == {"t1"}


def test_bound_value_is_compared() -> None:
    """`{input: NAME}` stands for what the task's pattern found in the request."""
    tasks = """
tasks:
  x:
    match: {user_input: 'order (?P<order>\\d+)'}
    sub_goals:
      a: {serves: [t], success: {tool: t, result: {$.id: {input: order, as: number}}}}
"""
    steps = [call(t, 0, "t", result='{"id":7}') for t in ("t1", "t2")]
    attempts = [trajectory("t1", user_input="order 7"), trajectory("t2", user_input="order 8")]

    scored = score(tasks, steps, attempts)

    assert scored["sub_goal_completion"].value == 1
    assert scored.scores["t2", "sub_goal_completion"].value == 0
