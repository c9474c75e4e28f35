"""What a fault in a plan graph costs its task: the scores that read it, and no others."""

import pytest
from tests.scenes import built_together
from tests.scoring.build import call, trajectory

from .scored import PlanCase, Scene, one, score

OF_ORDER = ("completion_with_direct_deps", "completion_with_all_deps", "dependency_violation")
"""Scores that read what depends on what."""


@pytest.mark.parametrize(
    ("goals", "facts"),
    [
        ("      a: {serves: [t], deps: [b]}\n      b: {serves: [u], deps: [a]}", ["a -> b -> a"]),
        ("      a: {serves: [t], deps: [a]}", ["a -> a"]),
        ("      a: {serves: [t], deps: [z]}", ["unknown sub-goal 'z'"]),
        (
            "      c: {any_of: [[a]]}\n      a: {serves: [t], deps: [b]}\n"
            "      b: {serves: [u], deps: [c]}",
            ["a -> b -> a"],
        ),
        (
            "      a: {serves: [t], deps: [a, y, b]}\n      b: {serves: [u], deps: [b, z, a]}",
            ["a -> a", "b -> b", "a -> b -> a", "unknown sub-goal 'y'", "unknown sub-goal 'z'"],
        ),
    ],
)
def test_dependencies_with_a_fault_cost_the_scores_that_read_them(
    goals: str, facts: list[str]
) -> None:
    """All faults are named; coverage and completion need no order, and other tasks no other's."""
    tasks = f"tasks:\n  x:\n    sub_goals:\n{goals}\n  y:\n    sub_goals: {{a: {{serves: [t]}}}}"
    attempts = [trajectory("t1", task_id="x"), trajectory("t2", task_id="y")]

    scored = score(tasks, [call("t1", 0, "t"), call("t2", 0, "t")], attempts)

    for metric in OF_ORDER:
        found = scored[metric]
        assert (found.value, found.status) == (None, "error")
        assert (found.reason or "").startswith("specification_error: task 'x': ")
        assert [fact for fact in facts if fact not in (found.reason or "")] == []
    assert scored["sub_goal_coverage"].numerator == 1
    assert scored["sub_goal_completion"].status == "scored"
    row = scored.sub_goal("a")
    assert (row["completed"], row["deps"], row["dependency_violation"]) == (True, None, None)
    assert scored.scores["t2", "completion_with_all_deps"].value == 1


@pytest.mark.parametrize(
    ("goals", "fact"),
    [
        ("      a: {any_of: [[a]]}", "any_of of its sub-goals form a cycle: a -> a"),
        ("      a: {serves: [t], any_of: [[z]]}", "unknown sub-goal 'z'"),
    ],
)
def test_alternatives_with_a_fault_cost_every_score(goals: str, fact: str) -> None:
    """Without variants it is not known which sub-goals are to be completed."""
    scored = one(goals, ["t"])

    for metric in ("sub_goal_coverage", "sub_goal_completion", "off_plan_calls", *OF_ORDER):
        assert scored[metric].status == "error"
        assert fact in (scored[metric].reason or "")
    assert not scored.sub_goals


@built_together
def test_order_with_a_fault_still_lets_a_variant_be_chosen() -> Scene:
    """Which path was taken shows by what was completed."""
    goals = """
      decide: {any_of: [[refund], [escalate]]}
      refund: {serves: [pay], deps: [refund]}
      escalate: {serves: [ticket]}
"""
    (scored,) = yield [PlanCase(goals, ["ticket"])]

    assert {name for _, name in scored.sub_goals} == {"escalate"}
    assert scored["sub_goal_completion"].value == 1
    assert scored["dependency_violation"].status == "error"


@built_together
def test_more_than_256_variants_is_an_error() -> Scene:
    """Nine groups of two paths are one too many; eight are allowed."""

    def groups(count: int) -> str:
        return "\n".join(
            f"      g{i}: {{any_of: [[a{i}], [b{i}]]}}\n      a{i}: {{serves: [t]}}\n"
            f"      b{i}: {{serves: [u]}}"
            for i in range(count)
        )

    nine, eight = yield [*(PlanCase(groups(count), ["t"]) for count in (9, 8))]

    assert "more than 256 variants" in (nine["sub_goal_coverage"].reason or "")
    assert eight["sub_goal_coverage"].value == 1
