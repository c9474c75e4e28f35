"""Plans are read as agents write them, and their steps are found again in other plans."""

import json

import pytest

from tracegrade_scoring.attempts.plan_steps import (
    OPEN_STATUSES,
    matches,
    normal_text,
    read_plan,
)
from tracegrade_scoring.scorers.replanning.replans import is_replan


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
    "plan",
    [
        [{"tool": "search"}, {"tool": "pay"}],
        [{"task": "look it up"}, {"task": "pay"}],
        ["\U0001f50e", "\U0001f4b8"],
        [{"text": "Step 1:"}, {"text": "Step 2:"}],
        {"plan": {"phases": ["look", "pay"]}},
    ],
)
def test_steps_without_words_are_found_again(plan: object) -> None:
    """They are matched as a whole: the same plan is not a replan, and a moved step is one."""
    steps = read_plan(json.dumps(plan))
    marked = read_plan(json.dumps(_started(plan)))

    assert not is_replan(steps, steps, [False] * len(steps))
    assert not is_replan(steps, marked, [False] * len(steps))
    assert is_replan(steps, steps[::-1], [False] * len(steps)) == (len(steps) > 1)


def _started(plan: object) -> object:
    """Return the plan with its first step marked as begun, where it can be marked."""
    if not isinstance(plan, list) or not isinstance(plan[0], dict):
        return plan
    return [{**plan[0], "status": "in_progress"}, *plan[1:]]


@pytest.mark.parametrize("status", ["not_started", "Not Started", "not-started", " NOT  started "])
def test_marks_are_read_however_they_are_written(status: str) -> None:
    """With blanks, underscores or hyphens between their words."""
    (step,) = read_plan(json.dumps([{"text": "look", "status": status}]))

    assert step.status in OPEN_STATUSES


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
    "plan",
    [
        *("7", "null", "", "{}", "[]", "[null]", '[{"text": 7}]', "[[]]", "[" * 99_999),
        *("[" * levels + "]" * levels for levels in (300, 900, 1020)),
        *('{"a":' * levels + "7" + "}" * levels for levels in (300, 900, 1020)),
    ],
)
def test_odd_plans_are_read_without_failing(plan: str) -> None:
    """Whatever a trace calls a plan can be read."""
    assert len(read_plan(plan)) <= 1
