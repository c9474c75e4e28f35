"""Which sub-goal a call serves whose tool may serve several, where scores ask for one of them."""

from tests.scenes import built_together
from tests.scoring.build import Case, Row, call
from tests.scoring.together import Scene

TOOLS = """
tools:
  look: {effect: read}
  find: {effect: read}
  pay: {effect: write}
"""


def calls(*tools: str, **last: str) -> list[Row]:
    """Return calls without arguments; `!` marks those that failed; the last has more columns."""
    made = [
        call("t1", i, tool.rstrip("!"), status="error" if tool.endswith("!") else "ok")
        for i, tool in enumerate(tools)
    ]
    return [*made[:-1], {**made[-1], **last}]


@built_together
def test_failed_call_is_recovered_for_the_one_sub_goal_that_it_serves() -> Scene:
    """A later call recovers it only if the first sub-goal of the file that it serves is the same.

    Both tools serve `details`, but a call of `find` is made for `order`, which stands before it.
    docs/metrics.md, sections 1.1 and 3.3.
    """
    task: Row = {
        "sub_goals": {"order": {"serves": ["find"]}, "details": {"serves": ["look", "find"]}}
    }
    turned: Row = {"sub_goals": dict(reversed(task["sub_goals"].items()))}
    found = yield [
        Case(calls("look!", "find"), task),
        Case(calls("find!", "look"), task),
        Case(calls("look!", "find", sub_goal="details"), task),
        Case(calls("look!", "find", sub_goal="order"), turned),
        Case(calls("look!", "find"), turned),
        Case(calls("find!", "look"), turned),
    ]
    assert [each.scores["recovery_rate"].value for each in found] == [0, 0, 1, 0, 1, 1]


@built_together
def test_call_that_recovers_belongs_to_the_same_decision_point() -> Scene:
    """Sections 1.1 and 3.3 give a call the same sub-goal, so both say whether it is a retry."""
    task: Row = {
        "sub_goals": {"order": {"serves": ["find"]}, "details": {"serves": ["look", "find"]}},
        "expected": [{"tool": "look"}, {"tool": "find"}],
    }
    named = calls("look!", "find", sub_goal="details")
    found = yield [Case(calls("look!", "find"), task), Case(named, task)]

    assert [each.scores["recovery_rate"].value for each in found] == [0, 1]
    assert [each.scores["missed_decisions"].value for each in found] == [0, 1]


@built_together
def test_write_is_premature_for_the_first_sub_goal_that_it_serves() -> Scene:
    """What another sub-goal waits for that the tool may serve as well does not count.

    docs/metrics.md, section 9.3.
    """
    free: Row = {"serves": ["pay"]}
    waiting: Row = {"serves": ["pay"], "deps": ["check"]}
    check: Row = {"serves": ["look"]}
    free_first: Row = {"sub_goals": {"deposit": free, "rest": waiting, "check": check}}
    waiting_first: Row = {"sub_goals": {"rest": waiting, "deposit": free, "check": check}}
    found = yield [
        Case(calls("pay"), free_first),
        Case(calls("pay"), waiting_first),
        Case(calls("pay", sub_goal="rest"), free_first),
        Case(calls("pay", sub_goal="deposit"), waiting_first),
        Case(calls("look", "pay"), waiting_first),
    ]
    assert [each.scores["premature_commitment"].value for each in found] == [0, 1, 1, 0, 0]
