"""Which changes of a plan are replans."""

import json
from collections.abc import Sequence

import pytest

from tracegrade_scoring.attempts.plan_steps import read_plan
from tracegrade_scoring.scorers.replanning.replans import is_replan


def replans(before: Sequence[object], after: Sequence[object], done: str = "") -> bool:
    """Return whether `after` is a replan; `done` are the ids of steps that calls finished."""
    first = read_plan(json.dumps(before))
    return is_replan(
        first, read_plan(json.dumps(after)), [step.id in done.split() for step in first]
    )


def marked(*steps: str) -> list[object]:
    """Return a todo list; `+` before a text: completed, `x`: cancelled."""
    marks = {"+": "completed", "x": "cancelled"}
    return [
        {"text": step.lstrip("+x "), "status": marks.get(step[0], "pending")} for step in steps
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (marked("+ read", "check", "write"), marked("check", "write")),
        (marked("read", "check", "write"), marked("check", "+ read", "write")),
        (marked("read", "check"), marked("+ read", "+ check")),
        (marked("+ read", "check"), marked("check", "read")),
        (marked("read", "check"), marked("+ read it", "check", "+ extra")),
        (["1. Read the file!", "2. Write"], ["a) read the FILE", "write."]),
        (["Step 1: read", "Step 2: write"], ["- read", "* write"]),
        (["read the big file", "write"], ["read the small file", "write"]),
        ([{"id": "a", "text": "one"}], [{"id": "a", "text": "something else"}]),
        (marked("x gone", "check"), marked("check")),
        ([], []),
    ],
)
def test_no_replan(before: Sequence[object], after: Sequence[object]) -> None:
    """Popping finished steps, renumbering and rewording leave what remains as it was."""
    assert replans(before, after) is False


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (marked("read", "check"), marked("check")),
        (marked("read", "check"), marked("read", "check", "write")),
        (marked("read", "check", "write"), marked("+ read", "write", "check")),
        (marked("read", "check"), marked("read", "x check")),
        (marked("+ fix test one", "check"), marked("fix test two", "check")),
        (["read the file"], ["call the customer"]),
        ([{"id": "a"}, {"id": "b"}], [{"id": "b"}, {"id": "a"}]),
        (["read"], []),
        ([], ["read"]),
        (["read", "read"], ["read"]),
    ],
)
def test_replan(before: Sequence[object], after: Sequence[object]) -> None:
    """Adding, removing and reordering unfinished steps is a replan."""
    assert replans(before, after) is True


def test_calls_finish_steps_only_where_nothing_is_marked() -> None:
    """Without marks a successful call finishes its step; with marks the marks decide."""
    plain = [{"id": "a"}, {"id": "b"}]
    with_marks = [{"id": "a", "status": "pending"}, {"id": "b", "status": "pending"}]

    assert replans(plain, plain[1:], done="a") is False
    assert replans(plain, plain[1:], done="b") is True
    assert replans(with_marks, with_marks[1:], done="a") is True


@pytest.mark.parametrize(
    ("before", "after", "is_one"),
    [
        (marked("look up the order", "pay"), marked("+ look up order", "pay"), False),
        (marked("pay", "look up the order"), marked("+ look up order", "pay"), False),
        (marked("+ pay", "tell"), marked("pay", "tell"), False),
        (marked("look up the order", "pay"), marked("+ call the customer", "pay"), True),
    ],
)
def test_steps_are_matched_before_finished_ones_are_dropped(
    before: Sequence[object], after: Sequence[object], is_one: bool
) -> None:
    """A step that is finished under other words, or open again, is dropped from both plans.

    If marked steps were dropped first, what they are in the other plan would be left, and seem
    removed or added. docs/metrics.md, section 4.6.
    """
    assert replans(before, after) is is_one


@pytest.mark.parametrize(
    ("before", "after", "is_one"),
    [
        (marked("+ test", "fix", "test"), marked("fix", "test"), False),
        (marked("+ test", "fix", "test"), marked("+ fix", "test"), False),
        (marked("test", "fix", "test"), marked("+ test", "fix", "test"), False),
        (marked("+ test", "fix", "test"), marked("+ test", "test", "fix"), True),
        (marked("+ test", "fix", "test"), marked("fix"), True),
        (marked("+ test", "fix"), marked("+ test", "fix", "test"), True),
        (marked("fix", "+ test", "test"), marked("test", "+ test", "fix"), True),
    ],
)
def test_step_that_stands_in_a_plan_twice_is_finished_once(
    before: Sequence[object], after: Sequence[object], is_one: bool
) -> None:
    """Dropping the finished step is not a replan; the other step is added, removed or moved."""
    assert replans(before, after) is is_one
