"""Answers are compared by shape, then by value; what differs by itself tells nothing."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import many

from tracegrade_harness.diverge.comparison import (
    ABSENT,
    Divergence,
    ServiceAnswer,
    differences,
    divergences,
    type_of,
)

SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "b"])
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=8,
)


def ok(content: Any) -> ServiceAnswer:
    """Return an answer without an error."""
    return ServiceAnswer(failed=False, outcome="HTTP 200", content=content)


def error(status: int) -> ServiceAnswer:
    """Return an answer that is an error."""
    return ServiceAnswer(failed=True, outcome=f"HTTP {status}", content="no")


def same(one: Any, other: Any) -> bool:
    """Return whether two JSON values are equal, by the definition."""
    if type_of(one) != type_of(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


@pytest.mark.parametrize(
    ("recorded", "live", "found"),
    [
        ({"a": 1}, {"a": 2}, [("value", ("a",), 1, 2)]),
        ({"a": 1}, {"a": "1"}, [("schema", ("a",), 1, "1")]),
        ({"a": 1}, {"a": True}, [("schema", ("a",), 1, True)]),
        ({"a": 1}, {"a": None}, [("schema", ("a",), 1, None)]),
        ({"a": 1}, {}, [("schema", ("a",), 1, ABSENT)]),
        ({}, {"a": None}, [("schema", ("a",), ABSENT, None)]),
        ({"a": 1, "b": 2}, {"b": 2.0, "a": 1}, []),
        ([{"a": 1}], [{"a": 2}], [("value", (0, "a"), 1, 2)]),
        ([1, 2], [0, 1, 2], [("value", (), [1, 2], [0, 1, 2])]),
        ("text", "other", [("value", (), "text", "other")]),
    ],
)
def test_a_difference_is_of_shape_or_value(
    recorded: Any, live: Any, found: list[tuple[Any, ...]]
) -> None:
    """The order of keys, and how a number is written, are none."""
    assert [tuple(each) for each in divergences([ok(recorded)], [ok(live)] * 2)] == found


def test_items_of_a_longer_list_are_compared_by_shape() -> None:
    """One that came in front would make all others differ."""
    recorded, live = [{"id": 1}, {"id": 2}], [{"id": 0}, {"id": "1"}, {"id": 2}]
    found = divergences([ok(recorded)], [ok(live)] * 2)

    assert found == [
        Divergence("value", (), recorded, live),
        Divergence("schema", (1, "id"), 2, "1"),
    ]


@pytest.mark.parametrize(
    ("recorded", "live", "kinds"),
    [
        (ok(1), error(404), ["gone"]),
        (error(404), ok(1), ["schema"]),
        (error(404), error(500), ["schema"]),
        (error(404), error(404), []),
        (ok(1), ServiceAnswer(failed=False, outcome="HTTP 204", content=""), ["schema"]),
    ],
    ids=["gone", "no error any more", "another error", "same error", "another success"],
)
def test_the_class_of_an_answer_counts(
    recorded: ServiceAnswer, live: ServiceAnswer, kinds: list[str]
) -> None:
    """Only what was there can be gone."""
    assert [each.kind for each in divergences([recorded], [live] * 2)] == kinds


def test_what_differs_between_live_answers_is_volatile() -> None:
    """With all below it; what stands beside it is compared."""
    live = [ok({"at": {"s": n}, "list": [0] * n, "name": "new"}) for n in (1, 2)]
    found = divergences([ok({"at": {"s": 0}, "list": [], "name": "old"})], live)

    assert found == [Divergence("value", ("name",), "old", "new")]


def test_what_differed_while_it_was_recorded_is_volatile() -> None:
    """Equal calls of a tape show it, too."""
    assert divergences([ok({"n": 1}), ok({"n": 2})], [ok({"n": 7})] * 2) == []


@pytest.mark.parametrize("live", [[ok(1), error(503)], [error(503), ok(1)]])
def test_a_service_that_fails_at_times_is_volatile(live: list[ServiceAnswer]) -> None:
    """Whichever of its answers comes first."""
    assert divergences([ok(2)], live) == []


@settings(max_examples=many(50))
@given(JSON, JSON)
def test_there_is_a_divergence_exactly_where_values_differ(one: Any, other: Any) -> None:
    """None is lost in a longer list, none comes from equal values."""
    assert (divergences([ok(one)], [ok(other)] * 2) == []) == same(one, other)


@settings(max_examples=many(50))
@given(JSON, JSON, JSON)
def test_no_divergence_is_volatile(recorded: Any, one: Any, other: Any) -> None:
    """At no path at which the live answers differ, and at none below it."""
    volatile = [each.path for each in differences(one, other)]
    found = [each.path for each in divergences([ok(recorded)], [ok(one), ok(other)])]

    assert not [path for path in found for each in volatile if path[: len(each)] == each]


@settings(max_examples=many(50))
@given(JSON, JSON)
def test_differences_are_the_same_from_both_sides(one: Any, other: Any) -> None:
    """With their values the other way round."""
    there = [(each.kind, each.path, each.recorded, each.live) for each in differences(one, other)]
    back = [(each.kind, each.path, each.live, each.recorded) for each in differences(other, one)]

    assert there == back


def test_answers_may_be_nested_deeply() -> None:
    """As deeply as a hostile service likes."""
    one: Any = 1
    other: Any = 2
    for _ in range(5000):
        one, other = [one], [other]
    (found,) = differences(one, other)

    assert (found.recorded, found.live, len(found.path)) == (1, 2, 5000)
