"""The plan that an agent declares for itself is scored apart from the task's sub-goals."""

import pytest
from tests.scoring.build import call, trajectory

from .scored import plan, score


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
