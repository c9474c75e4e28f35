"""Replanning scores on cases that can be counted by hand."""

from tests.scoring.build import Row, call, trajectory

from .scored import Scored, plan, score

METRICS = (
    "replans",
    "replans_per_100_calls",
    "replans_reactive",
    "replans_spontaneous",
    "replan_given_failure",
    "replans_source_text",
)


def scored(*steps: Row) -> Scored:
    """Score one attempt without a task."""
    return score("tasks: {}", steps, [trajectory("t1")])


def test_failures_answered_and_not() -> None:
    """Two failures, one followed by a replan before the next call; one more replan by itself."""
    found = scored(
        plan("t1", 0, ["find", "pay", "tell"]),
        call("t1", 1, "find", status="error"),
        plan("t1", 2, ["ask", "pay", "tell"]),
        call("t1", 3, "ask", result='{"error": "nobody"}'),
        call("t1", 4, "pay"),
        plan("t1", 5, ["pay", "tell"]),
        plan("t1", 6, ["pay", "tell", "log"]),
    )

    assert found["replans"][:4] == (3, 3, 1, "scored")
    assert found["replans_reactive"].value == 2
    assert found["replans_spontaneous"].value == 1
    assert found["replan_given_failure"][:4] == (0.5, 1, 2, "scored")
    assert found["replans_per_100_calls"][:4] == (100, 3, 0.03, "scored")
    assert found["replans_source_text"].value == 3


def test_popping_is_a_replan_for_the_source_text_alone() -> None:
    """The text's own definition counts each list that differs."""
    found = scored(
        plan("t1", 0, [{"id": "a", "tool": "t"}, {"id": "b"}]),
        call("t1", 1, "t"),
        plan("t1", 2, [{"id": "b"}]),
        plan("t1", 3, []),
        plan("t1", 4, [{"id": "b"}]),
    )

    assert found["replans_source_text"].value == 1
    assert found["replans"].value == 2


def test_no_plan_is_not_applicable() -> None:
    """An agent whose plan was not observed is not one that never replans."""
    found = scored(call("t1", 0, "t", status="error"))

    for metric in METRICS:
        assert found[metric] == (None, None, None, "not_applicable", None, "no_plan")


def test_plan_that_was_not_captured_is_an_error() -> None:
    """Without its content a plan cannot be compared."""
    found = scored(plan("t1", 0, ["a"]), plan("t1", 1, None), call("t1", 2, "t", status="error"))

    for metric in METRICS:
        assert found[metric] == (None, None, None, "error", None, "content_missing")


def test_plan_whose_words_hold_no_list_is_an_error_of_its_own() -> None:
    """It was captured, so that capturing more would not help; what is missing comes first."""
    words = {**plan("t1", 1, None), "content": "I will look it up, then pay."}
    found = scored(plan("t1", 0, ["a"]), words, call("t1", 2, "t", status="error"))
    both = scored(plan("t1", 0, None), words)

    for metric in (*METRICS, "plan_coverage", "plan_completion"):
        assert found[metric] == (None, None, None, "error", None, "plan_unreadable")
        assert both[metric] == (None, None, None, "error", None, "content_missing")


def test_nothing_to_divide_by() -> None:
    """No call and no failure leave the shares without a value; counts are 0."""
    found = scored(plan("t1", 0, ["a"]))

    assert found["replans"].value == 0
    assert found["replans_per_100_calls"].reason == "no_calls"
    assert found["replan_given_failure"].reason == "no_failure"


def test_plans_of_sub_agents_are_their_own() -> None:
    """A sub-agent's plan is not a replan of its parent; its failed call belongs to the attempt."""
    steps = [
        plan("t1", 0, ["a", "b"]),
        plan("c1", 0, ["other"]),
        call("c1", 1, "t", status="error"),
    ]
    attempts = [trajectory("t1"), trajectory("c1", parent_trajectory_id="t1")]

    found = score("tasks: {}", steps, attempts)

    assert found["replans"].value == 0
    assert found["replan_given_failure"][:3] == (0, 0, 1)
