"""Sub-goal scores on cases that can be counted by hand."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from tests.scoring.build import call, trajectory

from .scored import Scored, plan, score

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


def one(goals: str, calls: Sequence[str | Mapping[str, Any]], **columns: Any) -> Scored:
    """Score one attempt at one task; a call is its tool, or its columns."""
    tasks = f"tasks:\n  x:\n    sub_goals:\n{goals}"
    steps = []
    for i, made in enumerate(calls):
        given = {"tool_name": made} if isinstance(made, str) else made
        steps.append(call("t1", i, **given))
    return score(tasks, steps, [trajectory("t1", task_id="x", **columns)])


def goal(**columns: Any) -> Mapping[str, Any]:
    """Return the columns of a call."""
    return columns


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
        "first_completed": 2,
        "pre_satisfied": False,
        "dependent": True,
        "place": 3,
    }


def test_nothing_done_is_scored_zero() -> None:
    """An attempt without a call covered nothing: a measured 0, not a missing score."""
    scored = one("      a: {serves: [t], critical: true}", [])

    assert scored["sub_goal_coverage"][:4] == (0, 0, 1, "scored")
    assert scored["critical_path_skipped"][:5] == (1, 1, 1, "scored", "a")
    assert scored["dependency_violation"].reason == "no_dependents"


def test_no_task_is_not_applicable() -> None:
    """Without a task, without sub-goals or without critical ones there is nothing to measure."""
    no_task = score("tasks: {}", [call("t1", 0, "t")], [trajectory("t1", task_id="x")])
    no_goals = score("tasks: {x: {}}", [call("t1", 0, "t")], [trajectory("t1", task_id="x")])
    no_critical = one("      a: {serves: [t]}", ["t"])

    for metric in ("sub_goal_coverage", "off_plan_calls", "critical_path_completion"):
        assert no_task[metric] == (None, None, None, "not_applicable", None, "no_task")
        assert no_goals[metric] == (None, None, None, "not_applicable", None, "no_sub_goals")
    assert no_critical["critical_path_completion"].reason == "no_critical"
    assert no_critical["critical_path_skipped"].status == "not_applicable"


@pytest.mark.parametrize(
    ("goals", "fact"),
    [
        ("      a: {serves: [t], deps: [b]}\n      b: {serves: [u], deps: [a]}", "a -> b -> a"),
        ("      a: {serves: [t], deps: [a]}", "a -> a"),
        ("      a: {serves: [t], deps: [z]}", "unknown sub-goal 'z'"),
        ("      a: {any_of: [[a]]}", "any_of of its sub-goals form a cycle: a -> a"),
        (
            "      c: {any_of: [[a]]}\n      a: {serves: [t], deps: [b]}\n"
            "      b: {serves: [u], deps: [c]}",
            "a -> b -> a",
        ),
    ],
)
def test_faulty_graph_is_an_error_that_names_the_task(goals: str, fact: str) -> None:
    """A graph that cannot be used makes its task's scores errors, and those of no other task."""
    tasks = f"tasks:\n  x:\n    sub_goals:\n{goals}\n  y:\n    sub_goals: {{a: {{serves: [t]}}}}"
    attempts = [trajectory("t1", task_id="x"), trajectory("t2", task_id="y")]

    scored = score(tasks, [call("t1", 0, "t"), call("t2", 0, "t")], attempts)

    found = scored["sub_goal_completion"]
    assert found.status == "error"
    assert (found.reason or "").startswith("specification_error: task 'x': ")
    assert fact in (found.reason or "")
    assert scored.scores["t2", "sub_goal_completion"].value == 1
    assert {trajectory_id for trajectory_id, _ in scored.sub_goals} == {"t2"}


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


def test_more_than_256_variants_is_an_error() -> None:
    """Nine groups of two paths are one too many; eight are allowed."""

    def groups(count: int) -> str:
        return "\n".join(
            f"      g{i}: {{any_of: [[a{i}], [b{i}]]}}\n      a{i}: {{serves: [t]}}\n"
            f"      b{i}: {{serves: [u]}}"
            for i in range(count)
        )

    assert "more than 256 variants" in (one(groups(9), ["t"])["sub_goal_coverage"].reason or "")
    assert one(groups(8), ["t"])["sub_goal_coverage"].value == 1


def test_span_names_the_sub_goal_before_rules_do() -> None:
    """The sub-goal on the span counts; one that the task does not know leaves it to the rules."""
    goals = "      a: {serves: [t]}\n      b: {serves: [u]}"

    scored = one(
        goals,
        [goal(tool_name="u", sub_goal="a"), goal(tool_name="u", sub_goal="unknown")],
    )

    assert scored.sub_goal("a")["attribution"] == "span"
    assert scored.sub_goal("b")["attribution"] == "rule"


def test_call_of_two_sub_goals_is_ambiguous() -> None:
    """A call that rules give to two sub-goals serves both, and the rows say so."""
    goals = "      a: {serves: [t]}\n      b: {serves: [t, u]}"

    assert one(goals, ["t"]).sub_goal("a")["attribution"] == "ambiguous"
    assert one(goals, ["t", "u"]).sub_goal("b")["attribution"] == "rule"


def test_rule_may_ask_for_arguments() -> None:
    """An argument pattern decides; arguments that were not captured leave it open."""
    goals = '      a: {serves: [{tool: t, arguments: \'"city":"Paris"\'}]}'

    paris = one(goals, [goal(tool_name="t", arguments='{"city":"Paris"}')])
    rome = one(goals, [goal(tool_name="t", arguments='{"city":"Rome"}')])
    unseen = one(goals, [goal(tool_name="t", arguments=None)])

    assert paris["sub_goal_coverage"].value == 1
    assert rome["sub_goal_coverage"].value == 0
    assert rome["off_plan_calls"].value == 1
    assert unseen["sub_goal_coverage"][3:] == ("error", None, "content_missing")
    assert unseen["off_plan_calls"].status == "error"


def test_state_can_be_lost_again() -> None:
    """A state holds as the last result that has it says: reached, then lost, is regressed."""
    goals = "      a: {serves: [t], success: {state: {$.state: done}}}"
    done, undone = '{"state":"done"}', '{"state":"open"}'

    scored = one(goals, [goal(tool_name="t", result=done), goal(tool_name="u", result=undone)])

    row = scored.sub_goal("a")
    assert (row["completed"], row["ever_completed"], row["regressed"]) == (False, True, True)
    assert scored["sub_goals_regressed"][:5] == (1, 1, 1, "scored", "a")
    assert scored["sub_goals_failed_inside"].value == 1


@pytest.mark.parametrize(
    ("wanted", "result", "completed"),
    [
        ("1", '{"n":1.0}', True),
        ("1", '{"n":true}', False),
        ("null", '{"n":null}', True),
        ("null", "{}", False),
        ("{b: 1, a: [2]}", '{"n":{"a":[2.0],"b":1}}', True),
        ("'1'", '{"n":1}', False),
        ("1", "n = 1", False),
    ],
)
def test_results_are_compared_by_type(wanted: str, result: str, completed: bool) -> None:
    """Values in results are equal by rule 0.5: typed, recursive, keys in any order."""
    goals = f"      a: {{serves: [t], success: {{tool: t, result: {{$.n: {wanted}}}}}}}"

    scored = one(goals, [goal(tool_name="t", result=result)])

    assert scored.sub_goal("a")["completed"] is completed


def test_result_that_was_not_captured_is_an_error() -> None:
    """Completion that needs a lost result is an error; coverage does not need it."""
    goals = "      a: {serves: [t], success: {tool: t, result: {$.n: 1}}}"

    lost = one(goals, ["t"])
    found_elsewhere = one(goals, ["t", goal(tool_name="t", result='{"n":1}')])

    assert lost["sub_goal_completion"][3:] == ("error", None, "content_missing")
    assert lost["sub_goal_coverage"].value == 1
    assert lost.sub_goal("a")["completed"] is None
    assert found_elsewhere["sub_goal_completion"].value == 1


@pytest.mark.parametrize(
    ("flag", "completed"), [("truncated", True), ("result_truncated", None), ("redacted", True)]
)
def test_only_a_result_cut_short_is_unknown(flag: str, completed: bool | None) -> None:
    """What is missing of the arguments says nothing about the result, and the other way round."""
    goals = "      a: {serves: [t], success: {tool: t, result: {$.n: 1}}}"

    cut = one(goals, [goal(tool_name="t", result='{"n":1}', flags=[flag])])

    assert cut.sub_goal("a")["completed"] is completed


def test_expression_that_is_null_does_not_hold() -> None:
    """NULL over the steps is not the answer that no steps at all would give."""
    goals = "      a: {serves: [t], success: {sql: 'max(cost) < 5 OR count(*) = 0'}}"

    assert one(goals, ["t"])["sub_goals_regressed"].value == 1


def test_criterion_alone_is_not_enough() -> None:
    """A criterion that holds does not complete a sub-goal that nothing was done for."""
    goals = "      a: {serves: [t], success: {tool: u}}"

    scored = one(goals, ["u"])

    assert scored["sub_goal_completion"][:4] == (0, 0, 1, "scored")
    assert scored["sub_goals_failed_inside"].value == 0


def test_expected_failure_can_be_the_criterion() -> None:
    """`status: error` asks for a call that failed."""
    goals = "      a: {serves: [t], success: {tool: t, status: error}}"

    assert one(goals, [goal(tool_name="t", status="error")])["sub_goal_completion"].value == 1
    assert one(goals, ["t"])["sub_goal_completion"].value == 0


def test_answer_serves_a_sub_goal_that_asks_for_it() -> None:
    """The final answer is the action where the criterion asks for it and names no tool."""
    goals = "      a: {success: {answer: '(?i)refunded'}}\n      b: {serves: [t], deps: [a]}"

    right = one(goals, ["t"], final_answer="Refunded.")
    wrong = one(goals, ["t"], final_answer="Sorry.")
    silent = one(goals, ["t"])

    assert right.sub_goal("a")["completed"] is True
    assert right.sub_goal("b")["dependency_violation"] is True
    assert (wrong.sub_goal("a")["attempted"], wrong.sub_goal("a")["completed"]) == (True, False)
    assert silent.sub_goal("a")["attempted"] is False


@pytest.mark.parametrize(
    ("asked", "completed"), [("refund c-7", True), ("refund c-8", False), ("hello", None)]
)
def test_answer_may_have_to_hold_a_bound_value(asked: str, completed: bool | None) -> None:
    """`{input: NAME}` is found as it is in the answer; what is not bound is unknown."""
    tasks = r"""
tasks:
  x:
    match: {user_input: '(?P<who>c-\d+)'}
    sub_goals: {tell: {success: {answer: {input: who}}}}
"""
    run = trajectory("t1", task_id="x", user_input=asked, final_answer="Refunded c-7.")

    assert score(tasks, [], [run]).sub_goal("tell")["completed"] is completed


def test_what_held_before_is_counted_apart() -> None:
    """A sub-goal whose criterion held at the start is in neither part of completion."""
    goals = """
      clean: {serves: [tidy], critical: true, success: {sql: "count(*) < 9"}}
      next:  {serves: [t], deps: [clean]}
"""
    scored = one(goals, ["t"])

    assert scored["sub_goals_pre_satisfied"][:5] == (1, 1, 1, "scored", "clean")
    assert scored["sub_goal_completion"][:4] == (1, 1, 1, "scored")
    assert scored["sub_goal_coverage"][:4] == (0.5, 1, 2, "scored")
    assert scored["critical_path_completion"].reason == "pre_satisfied"
    assert scored["completion_with_direct_deps"].value == 1
    assert scored.sub_goal("next")["dependency_violation"] is False


ALTERNATIVES = """
      lookup:   {serves: [search]}
      decide:   {deps: [lookup], any_of: [[refund], [escalate, note]]}
      refund:   {serves: [pay], deps: [decide], critical: true}
      escalate: {serves: [ticket], deps: [lookup], critical: true}
      note:     {serves: [write], deps: [escalate]}
      tell:     {serves: [send], deps: [decide]}
"""


def test_variant_that_was_taken_is_scored() -> None:
    """Sub-goals of the other path leave totals, critical path and dependencies."""
    refunded = one(ALTERNATIVES, ["search", "pay", "send"])
    escalated = one(ALTERNATIVES, ["search", "ticket", "write", "send"])

    assert refunded["sub_goal_completion"][:3] == (1, 3, 3)
    assert refunded["critical_path_completion"][:3] == (1, 1, 1)
    assert refunded["completion_with_all_deps"].value == 1
    assert escalated["sub_goal_completion"][:3] == (1, 4, 4)
    assert {name for _, name in escalated.sub_goals} == {"lookup", "escalate", "note", "tell"}


def test_variants_that_tie_go_by_size_then_file() -> None:
    """Equal completion and coverage: fewest sub-goals; equal size too: first in the file."""
    untouched = one(ALTERNATIVES, [])
    twins = one(
        "      d: {any_of: [[b], [a]]}\n      a: {serves: [t]}\n      b: {serves: [u]}", []
    )

    assert "refund" in {name for _, name in untouched.sub_goals}
    assert {name for _, name in twins.sub_goals} == {"b"}


def test_who_depends_on_a_choice_depends_on_what_was_chosen() -> None:
    """An uncounted prerequisite stands for its own ones and for the chosen path."""
    scored = one(ALTERNATIVES, ["search", "send", "pay"])

    assert scored.sub_goal("tell")["dependency_violation"] is True
    assert scored.sub_goal("refund")["dependency_violation"] is False


GRAPHS = """
      find:  {serves: [search]}
      pay:   {serves: [pay], critical: true}
      call:  {serves: [phone], critical: true}
    graphs:
      online:  {find: {}, pay: {deps: [find]}}
      counter: {pay: {}, find: {deps: [pay]}}
      phone:   {call: {}}
"""


def test_graph_that_fits_the_run_is_scored() -> None:
    """One of several: highest completion, then coverage, fewest sub-goals, first in the file."""
    called = one(GRAPHS, ["phone"])
    paid = one(GRAPHS, ["pay", "search"])
    nothing = one(GRAPHS, [])

    assert called["sub_goal_completion"][:3] == (1, 1, 1)
    assert called["sub_goal_completion"].label == "phone"
    assert {name for _, name in called.sub_goals} == {"call"}
    assert called["off_plan_calls"].value == 0
    assert paid["sub_goal_completion"].label == "online"
    assert paid["dependency_violation"].value == 1
    assert nothing["sub_goal_completion"].label == "phone"
    assert one(ALTERNATIVES, [])["sub_goal_completion"].label is None


def test_group_inside_an_unchosen_path_is_not_asked() -> None:
    """Nested groups count only inside the chosen path."""
    goals = """
      top:   {any_of: [[inner], [plain]]}
      inner: {any_of: [[a], [b]]}
      a:     {serves: [t]}
      b:     {serves: [u]}
      plain: {serves: [v]}
"""
    assert {name for _, name in one(goals, ["u"]).sub_goals} == {"b"}
    assert {name for _, name in one(goals, ["v"]).sub_goals} == {"plain"}


def test_call_of_another_path_is_not_off_plan() -> None:
    """Off-plan calls serve no sub-goal of the task at all."""
    scored = one(ALTERNATIVES, ["search", "pay", "ticket", "weather"])

    assert scored["off_plan_calls"].value == 1


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


def test_own_plan_is_scored_apart() -> None:
    """Without a task the first plan is the graph; sub-goal scores stay not applicable."""
    steps = [
        plan("t1", 0, [{"id": "a", "tool": "t"}, {"id": "b", "tool": "u"}, {"id": "c"}]),
        call("t1", 1, "t"),
        call("t1", 2, "u", status="error"),
        plan("t1", 3, [{"id": "z", "tool": "v"}]),
        call("t1", 4, "v"),
    ]
    scored = score("tasks: {}", steps, [trajectory("t1")])

    assert scored["plan_coverage"][1:4] == (2, 3, "scored")
    assert scored["plan_completion"][1:4] == (1, 3, "scored")
    assert scored["sub_goal_coverage"].reason == "no_task"


def test_own_todo_list_is_read_by_its_marks() -> None:
    """Marks of later lists tell how far each step of the first list got, also when reworded."""

    def todo(**marks: str) -> list[dict[str, str]]:
        return [{"content": text, "status": mark} for text, mark in marks.items()]

    first = todo(read="pending", check="pending", write="pending")
    later = [
        {"content": "1. Read!", "status": "completed"},
        {"content": "check", "status": "in_progress"},
    ]
    steps = [plan("t1", 0, {"todos": first}), call("t1", 1, "t"), plan("t1", 2, later)]

    scored = score("tasks: {}", steps, [trajectory("t1")])

    assert scored["plan_coverage"][1:3] == (2, 3)
    assert scored["plan_completion"][1:3] == (1, 3)


@pytest.mark.parametrize(
    ("declared", "reason"),
    [([], "empty_plan"), (["read it", "write it"], "no_attribution")],
)
def test_own_plan_that_cannot_be_followed(declared: list[str], reason: str) -> None:
    """A plan without steps, or whose steps leave no mark, is not applicable, never 0."""
    steps = [plan("t1", 0, declared), call("t1", 1, "t")]

    scored = score("tasks: {}", steps, [trajectory("t1")])

    assert scored["plan_coverage"] == (None, None, None, "not_applicable", None, reason)


JUDGED = """
tasks:
  x:
    sub_goals:
      look: {serves: [look]}
      tone: {success: {judge: Is it polite}, deps: [look]}
      both: {serves: [pay], success: {tool: pay, judge: Is the sum right}}
"""
"""Sub-goals without a criterion, for a judge alone, and for a judge and a rule."""


def judged(calls: Sequence[Mapping[str, Any]], **values: float | None) -> Scored:
    """Score one attempt with a judge's verdicts on sub-goals; None: the judge failed."""
    verdicts = [
        {
            **{"trajectory_id": "t1", "subject": "sub_goal", "sub_goal": name},
            **{"source": "judge", "value": value, "label": "error" if value is None else None},
        }
        for name, value in values.items()
    ]
    return score(JUDGED, calls, [trajectory("t1", task_id="x")], verdicts)


def test_judge_settles_what_no_rule_can() -> None:
    """A verdict completes a sub-goal that asks for one; a rule beside it must hold as well."""
    paid = call("t1", 0, "pay")

    scored = judged([paid], tone=0.7, both=1)
    assert {name: scored.sub_goal(name)["completed"] for name in ("tone", "both")} == {
        "tone": True,
        "both": True,
    }
    assert scored.sub_goal("tone")["completion_source"] == "judge"
    assert scored.sub_goal("tone")["attempted"]
    assert scored.sub_goal("tone")["dependency_violation"]
    assert judged([], tone=0.7, both=1).sub_goal("both")["completed"] is False
    assert judged([paid], tone=0.7, both=0.6).sub_goal("both")["completed"] is False


def test_verdict_counts_more_than_the_status_of_a_call() -> None:
    """Without a criterion a verdict decides; without a verdict a call that went well."""
    looked = call("t1", 0, "look")

    by_call = judged([looked], tone=1, both=0).sub_goal("look")
    assert (by_call["completed"], by_call["completion_source"]) == (True, "status")
    denied = judged([looked], look=0, tone=1, both=0).sub_goal("look")
    assert (denied["completed"], denied["completion_source"]) == (False, "judge")
    assert judged([], look=1, tone=1, both=0).sub_goal("look")["completed"]


@pytest.mark.parametrize("values", [{"both": 1.0}, {"both": 1.0, "tone": None}])
def test_unjudged_sub_goal_leaves_nothing_to_measure(values: dict[str, float | None]) -> None:
    """A judge who was not asked, or failed, makes no 0 of completion; calls are still counted."""
    scored = judged([call("t1", 0, "pay"), call("t1", 1, "x")], **values)

    assert scored["sub_goal_completion"][3:] == ("not_applicable", None, "not_judged")
    assert scored["off_plan_calls"].value == 1
