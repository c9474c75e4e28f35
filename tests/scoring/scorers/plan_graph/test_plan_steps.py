"""Which changes of a plan are replans."""

import json
from collections.abc import Sequence

import pytest

from tracegrade_scoring.attempts.plan_steps import (
    changes_remaining_steps,
    matches,
    normal_text,
    read_plan,
)


def replans(before: Sequence[object], after: Sequence[object], done: str = "") -> bool:
    """Return whether `after` is a replan; `done` are the ids of steps that calls finished."""
    first = read_plan(json.dumps(before))
    return changes_remaining_steps(
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


def test_similar_steps_match_greedily_and_by_position() -> None:
    """The most similar pair is matched first; of equals the first with the first."""
    before = read_plan(json.dumps(["read file one", "read file two"]))
    after = read_plan(json.dumps(["read file two now", "read file three"]))

    assert matches(before, after) == {1: 0, 0: 1}


def test_id_goes_before_text_and_text_before_likeness() -> None:
    """A step is matched by the strongest thing it shares."""
    before = read_plan('[{"id":"1","text":"read"},{"text":"write it"},{"text":"send"}]')
    after = read_plan('[{"text":"read"},{"id":"1","text":"send"},{"text":"write it"}]')

    assert matches(before, after) == {0: 1, 1: 2}


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("1. Read", "read"),
        ("  2) READ   it ", "read it"),
        ("- [ ] read", "read"),
        ("Step 3: read", "read"),
        ("1.2. read", "read"),
        ("3 files", "3 files"),
        ("…", ""),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("1. - [x] a) read", "read"),
        ("1. " * 300_000 + "read", "read"),
    ],
    ids=lambda text: text[:9],
)
def test_numbering_and_punctuation_do_not_count(text: str, normal: str) -> None:
    """Texts are compared case-folded, without numbering and punctuation."""
    assert normal_text(text) == normal


@pytest.mark.parametrize(
    "plan",
    [
        '["read", "write"]',
        '{"todos": [{"content": "read"}, {"content": "write"}]}',
        '{"plan": [{"step": "read"}, {"step": "write"}]}',
        '"1. read\\n2. write"',
        "My plan:\n1. read\n2. write\n",
        "read\nwrite",
    ],
)
def test_plans_are_read_as_agents_write_them(plan: str) -> None:
    """Lists, todo tools' objects and numbered text are the same plan."""
    assert [step.text for step in read_plan(plan)] == ["read", "write"]


@pytest.mark.parametrize(
    "plan", ["7", "null", "", "{}", "[]", "[null]", '[{"text": 7}]', "[[]]", "[" * 99_999]
)
def test_odd_plans_are_read_without_failing(plan: str) -> None:
    """Whatever a trace calls a plan can be read."""
    assert len(read_plan(plan)) <= 1
