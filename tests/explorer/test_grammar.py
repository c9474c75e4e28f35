"""Filters mean the same as addresses and as conditions: equal ones are equal addresses."""

from datetime import date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import many

from tracegrade_explorer.errors import BadFilter
from tracegrade_explorer.filters.conditions import matching_runs
from tracegrade_explorer.filters.grammar import (
    LEVELS,
    NAMED,
    NUMBERS,
    STARTED,
    Filter,
    Range,
    parse_query,
)
from tracegrade_scoring.metrics import METRICS

numbers = st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number + 0.0)
ends = st.one_of(st.none(), numbers)
ranges = st.tuples(ends, ends).map(
    lambda pair: Range(*sorted(pair)) if None not in pair else Range(*pair)  # type: ignore[type-var]
)
names = st.one_of(st.none(), st.text(max_size=20).filter(str.isprintable), st.just("~"))


@st.composite
def filters(draw: st.DrawFn) -> Filter:
    """Return any filter that an address can have."""
    chosen: dict[str, tuple[str | None, ...]] = {}
    for key in draw(st.lists(st.sampled_from([*NAMED]), unique=True, max_size=4)):
        found = draw(st.sets(names, min_size=1, max_size=3))
        chosen[key] = tuple(sorted(found, key=lambda name: (name is not None, name or "")))
    keys = draw(st.lists(st.sampled_from([*NUMBERS]), unique=True, max_size=4))
    times = st.one_of(st.none(), st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1)))  # noqa: DTZ001
    order = draw(st.sampled_from([STARTED, *NUMBERS]))
    days = sorted(draw(st.lists(st.dates(date(2020, 1, 1)), min_size=2, max_size=2)))
    return Filter(
        {key: chosen[key] for key in NAMED if key in chosen},
        {key: draw(st.one_of(st.none(), ranges)) for key in NUMBERS if key in keys},
        since=draw(times),
        until=draw(times),
        received=draw(st.sampled_from([None, (days[0], days[1])])),
        request=draw(st.text(max_size=20)),
        level=draw(st.sampled_from(LEVELS)),
        counted=draw(st.sampled_from([None, True, False])),
        complete=draw(st.sampled_from([None, True, False])),
        sort=order,
        descending=draw(st.booleans()),
        after=draw(st.sampled_from([None, "t1"])),
        columns=tuple(draw(st.lists(st.sampled_from([*METRICS]), unique=True, min_size=1,
                                    max_size=8))),
    )  # fmt: skip


@settings(max_examples=many(40))
@given(filters())
def test_a_filter_is_its_address(wanted: Filter) -> None:
    """Every filter has exactly one address, with any names."""
    assert parse_query(wanted.query) == wanted
    assert parse_query(wanted.query).query == wanted.query


@settings(max_examples=many(40))
@given(filters())
def test_every_value_of_a_filter_is_a_parameter(wanted: Filter) -> None:
    """No text of an address stands in the SQL."""
    relation = matching_runs(wanted)
    plain = matching_runs(
        Filter(
            {key: tuple(name and "x" for name in found) for key, found in wanted.names.items()},
            {key: each and Range(*(end and 1.0 for end in each))
             for key, each in wanted.ranges.items()},
            wanted.since, wanted.until, wanted.received, wanted.request and "x", wanted.level,
            wanted.counted, wanted.sort, wanted.descending,
        )
    )  # fmt: skip
    texts = {value for value in relation.values.values() if isinstance(value, str)}

    assert len(relation.text) >= len(plain.text) - 200
    assert not any(f"'{text}'" in relation.text for text in texts if text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("release=2&agent=b&agent=a", "agent=a&agent=b&agent=a&release=2"),
        ("tsa=0.5", "tsa=0.5..0.5"),
        ("tsa=..", "tsa=.."),
        ("steps=50.0..", "steps=5e1.."),
        ("sort=started", ""),
        ("request=&since=&level=", ""),
        ("asked=refund", "request=refund"),
        ("tsa=-0..", "tsa=0.."),
    ],
)
def test_equal_filters_are_equal_addresses(one: str, other: str) -> None:
    """Order, repetition and spelling do not matter."""
    one = one.replace("&add=", "")
    assert parse_query(one).query == parse_query(other).query


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("tas=0..1", "did you mean 'task'"),
        ("tsa=high", "tsa=high is not a range"),
        ("tsa=1..0", "ends before it begins"),
        ("tsa=nan", "is not a range"),
        ("steps=..inf", "is not a range"),
        ("since=tomorrow", "is not a time; write 2026-11-21"),
        ("received=2026-02-01..2026-01-01", "is not a date"),
        ("sort=-agent", "sort 'agent' is not known"),
        ("level=child", "level 'child' is not known"),
        ("cols=tsa,nothing", "cols 'nothing' is not known"),
        ("cols=" + ",".join([*METRICS][:9]), "8 are the most"),
        ("&".join(f"agent={n}" for n in range(101)), "100 are the most"),
    ],
)
def test_what_cannot_be_understood_is_named(query: str, words: str) -> None:
    """The message has the key, the value and what would do."""
    with pytest.raises(BadFilter, match=r".") as error:
        parse_query(query)
    assert words in str(error.value)


def test_a_filter_changes_one_thing_at_a_time() -> None:
    """Chosen names add up, and each change begins the list anew."""
    wanted = parse_query("agent=a&after=t9&tsa=0..1")

    assert wanted.narrowed("agent", None).query == "agent=~&agent=a&tsa=0..1"
    assert wanted.without("agent", "a").query == "tsa=0..1"
    assert wanted.without("tsa").query == "agent=a"
    assert wanted.within("tsa", 0.5, None).query == "agent=a&tsa=0.5.."
    assert wanted.sorted_by("tsa").query == "agent=a&tsa=0..1&sort=-tsa"
    assert wanted.sorted_by("tsa").sorted_by("tsa").query == "agent=a&tsa=0..1&sort=tsa"
