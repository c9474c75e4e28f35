"""Spans are shown as a tree: each once, below its parent, whatever a trace says of parents."""

import itertools
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tracegrade_explorer.run_view.span_tree import (
    MOST_CHARACTERS,
    PlacedSpan,
    span_lines,
    span_tree,
)


def span(name: str, parent: str | None = None, start: int = 0, **facts: Any) -> dict[str, Any]:
    """Return a span as the lake has it; it takes 10 ms."""
    return {
        "span_id": name, "parent_span_id": parent, "name": name,
        "start_ns": (start + 1) * 1_000_000, "end_ns": (start + 11) * 1_000_000,
        "status_code": 0, "status_message": None, "scope_name": None,
        "service_name": None, "attributes": {}, **facts,
    }  # fmt: skip


def names(placed: list[PlacedSpan]) -> list[tuple[str, int]]:
    """Return spans with their levels."""
    return [(each.row["span_id"], len(each.rails)) for each in placed]


def test_children_follow_their_parent_by_start() -> None:
    """A span that begins between two siblings may be the child of the first."""
    rows = [span("root"), span("a", "root", 1), span("b", "root", 2), span("a1", "a", 3)]
    assert names([*span_tree(rows)]) == [("root", 0), ("a", 1), ("a1", 2), ("b", 1)]


def test_a_rail_leads_to_the_next_sibling() -> None:
    """So one sees which spans are on one level."""
    rows = [span("root"), span("a", "root"), span("a1", "a"), span("b", "root")]
    assert [each.rails for each in span_tree(rows)] == [(), (True,), (True, False), (False,)]


def test_spans_without_a_received_parent_are_roots() -> None:
    """The parent may be another service's."""
    assert names([*span_tree([span("a", "lost"), span("b", "a")])]) == [("a", 0), ("b", 1)]


def test_parents_in_a_circle_end() -> None:
    """Each span is there once, also one that is its own parent."""
    rows = [span("a", "b"), span("b", "a"), span("c", "c")]
    assert sorted(name for name, _ in names([*span_tree(rows)])) == ["a", "b", "c"]


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdefg") | st.none())))
def test_each_span_is_there_once(pairs: list[tuple[str, str | None]]) -> None:
    """Also of ids that occur twice, and a child is not above its parent unless in a circle."""
    rows = [span(name, parent, number) for number, (name, parent) in enumerate(pairs)]
    placed = [*span_tree(rows)]
    assert sorted(each.row["start_ns"] for each in placed) == [row["start_ns"] for row in rows]
    for before, after in itertools.pairwise(placed):
        assert len(after.rails) <= len(before.rails) + 1


def test_a_deep_trace_needs_no_deep_stack() -> None:
    """Levels below the last that is drawn stand below one another."""
    rows = [span("0"), *(span(str(number), str(number - 1)) for number in range(1, 5_000))]
    assert len(span_lines(rows)) == 5_000


def test_a_line_says_when_and_how_long() -> None:
    """Its bar is a part of the time of all spans; a failed one has its message."""
    kind = {"openinference.span.kind": "TOOL"}
    rows = [
        span("root"),
        span("a", "root", 5, status_code=2, status_message="no", attributes=kind),
    ]
    first, second = span_lines(rows)
    assert (first.failed, second.failed, second.kind) == ("", "no", "TOOL")
    assert (second.offset, second.took) == ("5.0 ms", "10 ms")
    assert 'x="33.33"' in second.bar


def test_a_model_call_shows_its_messages_as_text() -> None:
    """By role, bold and lists as such; what it answered follows. HTML is text."""
    messages = '[{"role": "user", "parts": [{"type": "text", "content": "Hi!\\nRefund it"}]}]'
    (line,) = span_lines([span("chat", attributes={"gen_ai.input.messages": messages})])
    assert line.given == [("user", "<p>Hi!\nRefund it</p>")]
    assert line.returned == []
    assert line.attributes == [("gen_ai.input.messages", messages)]


def test_a_model_call_shows_its_answer() -> None:
    """However the span writes it; the arguments of a call are JSON on several lines."""
    parts = {
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "**Two** ways:\n- pay\n- <b>wait</b>",
    }
    (line,) = span_lines([span("chat", attributes=parts)])
    assert line.given == []
    assert line.returned == [
        ("assistant", "<p><b>Two</b> ways:</p><ul><li>pay</li>"
                      "<li>&lt;b&gt;wait&lt;/b&gt;</li></ul>"),
    ]  # fmt: skip
    (called,) = span_lines([span("tool", attributes={"output.value": '{"paid": 40}'})])
    assert called.returned == [("", "{<b>&#34;paid&#34;</b>: 40}")]


def test_messages_of_a_page_end() -> None:
    """A conversation of many messages shows the first ones."""
    said = [{"role": "user", "content": "x" * 3_000} for _ in range(100)]
    keys = {"gen_ai.input.messages": json.dumps(said)}
    (line,) = span_lines([span("chat", attributes=keys)])
    assert sum(len(text) for _, text in line.given) <= MOST_CHARACTERS + 100
