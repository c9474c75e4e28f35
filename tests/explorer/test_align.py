"""Two runs are aligned so that a reader sees where they part."""

from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracegrade_explorer.comparison.align import align, parting, word_diff
from tracegrade_explorer.comparison.page import agreement, pair_rows
from tracegrade_scoring.timeline.model import Step


def steps(*given: dict[str, Any]) -> list[Step]:
    """Return steps with their place as index; what is left out is None."""
    empty = {field.name: None for field in fields(Step)}
    return [
        Step(**{**empty, "step_index": place, "flags": [], "longest": 0, "kind": "tool_call",
                **each})
        for place, each in enumerate(given)
    ]  # fmt: skip


def call(tool: str, arguments: str = "{}", **facts: Any) -> dict[str, Any]:
    """Return a call."""
    return {"tool_name": tool, "arguments": arguments, **facts}


THOUGHT: dict[str, Any] = {"kind": "thought", "content": "hm", "role": "assistant"}


def told(one: list[Step], other: list[Step]) -> list[tuple[int | None, int | None, str]]:
    """Return the alignment as pairs of places."""
    return [(_place(pair.first), _place(pair.second), pair.how) for pair in align(one, other)]


def _place(step: Step | None) -> int | None:
    return step.step_index if step else None


def test_another_tool_stands_beside_the_one_it_replaced() -> None:
    """The rest is aligned before and after it."""
    one = steps(THOUGHT, call("search"), call("refund", '{"amount": 10}'))
    other = steps(THOUGHT, call("scan"), call("refund", '{"amount": 100}'))

    assert told(one, other) == [(0, 0, "same"), (1, 1, "tool"), (2, 2, "arguments")]
    assert parting(align(one, other)) == (1, 1)


def test_calls_of_one_run_alone_are_shown_alone() -> None:
    """They do not shift what follows, and end a run that goes on longer."""
    one = steps(call("a"), call("b"))
    other = steps(call("a"), call("x"), call("x"), call("b"), call("c"))

    assert told(one, other) == [
        (0, 0, "same"), (None, 1, "only_second"), (None, 2, "only_second"), (1, 3, "same"),
        (None, 4, "only_second"),
    ]  # fmt: skip
    assert parting(align(one, other)) == (None, 1)


def test_thoughts_are_never_aligned_across_a_call() -> None:
    """One before a call is not the other's after it."""
    one, other = steps(THOUGHT, call("a")), steps(call("a"), THOUGHT)

    assert told(one, other) == [
        (0, None, "only_first"), (1, 0, "same"), (None, 1, "only_second"),
    ]  # fmt: skip


def test_calls_that_did_not_end_well_say_how() -> None:
    """A waiting call is named like a failed one; the others need no note."""
    statuses = ("ok", "error", "not_executed", "interrupted", "unknown")
    told_by = [{**call("send"), "status": status} for status in statuses]

    rows = pair_rows(align(steps(*told_by), steps(*told_by)))

    shown = [row["first"]["status"] for row in rows]
    assert shown == ["", "error", "not_executed", "interrupted", ""]
    assert [row["second"]["status"] for row in rows] == shown


def test_equal_runs_do_not_part() -> None:
    """Whatever the thoughts say; observations stand with their calls."""
    one = steps(THOUGHT, call("a"), {"kind": "observation", "content": "1"})
    other = steps({**THOUGHT, "content": "well"}, call("a"), {"kind": "observation"})

    assert told(one, other) == [(0, 0, "text"), (1, 1, "same")]
    assert told(one, one[:2]) == [(0, 0, "same"), (1, 1, "same")]
    assert parting(align(one, other)) == (None, None)


@pytest.mark.parametrize("kind", ["thought", "message", "answer"])
def test_texts_that_differ_are_not_called_the_same(kind: str) -> None:
    """They are paired, the words that differ are marked, and the sign is not that of equality."""
    rows = [
        pair_rows(align(steps({**THOUGHT, "kind": kind}), steps({**other, "kind": kind})))[0]
        for other in (THOUGHT, {**THOUGHT, "content": "no"})
    ]
    assert [row["sign"] for row in rows] == ["=", "≈"]
    assert [row["differs"] for row in rows] == [False, False]
    assert [len(row["diff"]) for row in rows] == [0, 2]


def test_what_is_not_recorded_is_neither_the_same_nor_different() -> None:
    """Missing texts, missing arguments and cut arguments equal nothing."""
    lacking = {"kind": "answer", "role": "assistant"}
    cut = {**call("pay", '{"card": "[redacted]"}'), "flags": ["redacted"]}
    runs = steps(THOUGHT, call("a"), {"tool_name": "b"}, cut, lacking)
    pairs = align(runs, runs)

    assert [pair.how for pair in pairs] == ["same", "same", *["unrecorded"] * 3]
    assert parting(pairs) == (None, None)
    assert align(steps({"tool_name": "b"}), steps(call("b")))[0].how == "unrecorded"
    assert align(steps(lacking), steps({**lacking, "content": "42"}))[0].how == "unrecorded"


@pytest.mark.parametrize(("flag", "how"), [("redacted", "arguments"), ("truncated", "unrecorded")])
def test_arguments_differ_beside_what_was_redacted(flag: str, how: str) -> None:
    """Another sum is another call; where texts were cut, their order may be all that differs."""
    one, other = (
        steps({**call("pay", f'{{"card": "[redacted]", "sum": {n}}}'), "flags": [flag]})
        for n in (5, 7)
    )

    assert [pair.how for pair in align(one, other)] == [how]


@pytest.mark.parametrize(("flag", "differs"), [("redacted", True), ("truncated", False)])
@pytest.mark.parametrize(
    ("kind", "other_way"), [("thought", "text"), ("message", "text"), ("plan", "arguments")]
)
def test_texts_of_which_something_was_taken_out_are_not_the_same(
    kind: str, other_way: str, flag: str, differs: bool
) -> None:
    """What was redacted may differ; where the rest does, they do. What was cut off is unknown."""
    said = {"kind": kind, "role": "assistant", "content": "ask [redacted]"}
    one = steps({**said, "flags": [flag]})
    other = steps({**said, "content": "tell [redacted]", "flags": [flag]})
    pairs = [align(one, beside) for beside in (one, steps(said), other)]

    hows = [[pair.how for pair in each] for each in pairs]
    assert hows == [["unrecorded"], ["unrecorded"], [other_way if differs else "unrecorded"]]


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ([THOUGHT, call("a")], [], "Both made the same calls and said the same."),
        ([call("a")], [], "Both made the same calls."),
        ([call("a"), {**THOUGHT, "content": None}], [],
         "Both made the same calls; what 1 text said is not recorded."),
        ([{"tool_name": "a"}, THOUGHT], [],
         "Both called the same tools, but the arguments of 1 call are not recorded."),
        ([call("a"), THOUGHT], [call("a"), {**THOUGHT, "content": "well"}],
         "Both made the same calls; 1 text differs."),
    ],
)  # fmt: skip
def test_runs_that_do_not_part_are_said_to_share_what_is_known(
    one: list[dict[str, Any]], other: list[dict[str, Any]], said: str
) -> None:
    """Nobody knows whether they said the same where what they said is not there."""
    assert agreement(align(steps(*one), steps(*(other or one)))) == said


some = st.lists(st.sampled_from([THOUGHT, call("a"), call("a", "1"), call("b"), call("c")]))


@given(some, some)
def test_every_step_stands_once_and_in_order(
    one: list[dict[str, Any]], other: list[dict[str, Any]]
) -> None:
    """Nothing of either run is lost, and nothing aligned is of two kinds."""
    pairs = align(steps(*one), steps(*other))

    assert [pair.first.step_index for pair in pairs if pair.first] == [*range(len(one))]
    assert [pair.second.step_index for pair in pairs if pair.second] == [*range(len(other))]
    assert all(pair.first.kind == pair.second.kind for pair in pairs if pair.first and pair.second)


@given(st.text(max_size=60), st.text(max_size=60))
def test_words_of_either_side_are_its_text(one: str, other: str) -> None:
    """Without what only the other has, the words are the whole text again."""
    found = word_diff(one, other)
    if one == other:
        assert found == []
        return
    assert "".join(word.text for word in found if word.how != "only_second") == one
    assert "".join(word.text for word in found if word.how != "only_first") == other


def test_only_the_word_that_differs_is_marked() -> None:
    """Numbers are words."""
    found = word_diff('{"amount":10}', '{"amount":100}')
    assert [word.text for word in found if word.how != "same"] == ["10", "100"]
