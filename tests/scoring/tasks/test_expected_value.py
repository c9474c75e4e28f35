"""What a task file asks of a value is one rule for picks, tool correctness and criteria alike."""

import json
from fractions import Fraction
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.scoring.build import (
    Case,
    Score,
    all_scores,
    call,
    connection,
    scored,
    scored_at_once,
    specification,
    trajectory,
)
from tests.scoring.scorers import plain_values
from tests.scoring.scorers.plain_values import ABSENT, equal

from tracegrade_queries.build.canonical import canonical_json
from tracegrade_scoring.sql import query
from tracegrade_scoring.tasks.expected_value import (
    MAX_ALTERNATIVES,
    argument_path,
    expected_values,
    faults,
    literally,
)

FITS = "SELECT matches_expected($found, $value, $pattern, $low, $high, $optional)"


@pytest.fixture(scope="module")
def con() -> duckdb.DuckDBPyConnection:
    """A connection that knows the rule."""
    con = duckdb.connect()
    con.execute(query("matches_expected"))
    return con


def fits(con: duckdb.DuckDBPyConnection, found: Any, rule: Any) -> bool:
    """Return whether a value, or `ABSENT`, fits one that is not bound."""
    text = None if found is ABSENT else canonical_json(json.dumps(found))
    held = []
    for asked in expected_values(rule):
        parts = {name: getattr(asked, name) for name in ("value", "pattern", "low", "high")}
        given = {**parts, "found": text, "optional": asked.optional}
        held += con.execute(FITS, given).fetchall()
    assert all(isinstance(holds, bool) for (holds,) in held)
    return any(holds for (holds,) in held)


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        ({"matches": "(?i)paris"}, ["Paris", "in paris, france"], ["Rome", ["paris"], None]),
        ({"matches": "^7$"}, ["7"], [7, "77"]),
        ({"matches": '^"\n$'}, ['"\n'], ["\n"]),
        ({"about": 10, "within": 0.01}, [10, 9.99, 10.01, 10.0], [10.02, "10", True, [10], None]),
        ({"about": 0.3, "within": 0.1}, [0.2, 0.4], [0.19, 0.41]),
        ({"about": -5, "within": 0}, [-5, -5.0], [-5.1, 5]),
        ({"about": 1e300, "within": 0}, [1e300], [10**400, -(10**400)]),
        ({"exactly": {"input": "x"}}, [{"input": "x"}], ["x"]),
        ({"exactly": {"exactly": 1}}, [{"exactly": 1.0}], [1]),
        ({"exactly": None}, [None], [False, 0]),
        ({"plain": {"about": 1}}, [{"plain": {"about": 1}}], [1]),
        (
            {"any_of": [1, "a", None, [2], {"b": 3}]},
            [1.0, "a", None, [2], {"b": 3}],
            [True, ABSENT],
        ),
        ({"any_of": [{"about": 5, "within": 1}, {"matches": "^x"}]}, [4, "xy"], [7, "yx", ABSENT]),
        ({"any_of": [1, {"any_of": [2, {"exactly": {"any_of": 3}}]}]}, [1, 2, {"any_of": 3}], [3]),
        ({"optional": "C"}, ["C", ABSENT], ["F", None]),
        ({"optional": {"any_of": ["C", "F"]}}, ["C", "F", ABSENT], [None]),
        ({"any_of": ["C", {"optional": 1}]}, ["C", 1, ABSENT], [2]),
        (
            {"unit": {"any_of": ["C", "F"]}, "days": {"optional": [1, {"optional": 2}]}},
            [{"unit": "C"}, {"unit": "F", "days": [1]}, {"days": [1, 2], "unit": "F"}],
            [{}, {"unit": "C", "days": [2]}, {"unit": "C", "more": 1}, ABSENT],
        ),
        ([{"any_of": [{"exactly": {"optional": 1}}, 2]}], [[{"optional": 1}], [2]], [[1], []]),
    ],
)
def test_rule_fits_what_it_says(
    con: duckdb.DuckDBPyConnection, rule: Any, good: list[Any], bad: list[Any]
) -> None:
    """A pattern fits texts, a range numbers with its bounds, all else what is equal."""
    assert list(faults(rule)) == []
    assert [value for value in (*good, *bad) if fits(con, value, rule)] == good


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | st.text("a1", max_size=2),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["input", "any_of", "optional", "a"]), inner, max_size=2)
    ),
    max_leaves=4,
)


@settings(max_examples=150)
@given(found=JSON, meant=JSON)
def test_any_value_can_be_meant_literally(
    con: duckdb.DuckDBPyConnection, found: Any, meant: Any
) -> None:
    """What is written literally fits the values equal to it and no others, and has no fault."""
    assert list(faults(literally(meant))) == []
    assert fits(con, meant, literally(meant))
    assert fits(con, found, literally(meant)) == equal(found, meant)


PLAIN = st.recursive(
    st.sampled_from([0, 1, "a", None, False]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=3,
)
CHOICES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=2).map(lambda values: {"any_of": values})
        | inner.map(lambda value: {"optional": value})
        | st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=4,
)


@settings(max_examples=200)
@given(found=PLAIN | st.just(ABSENT), wanted=CHOICES)
def test_choices_at_any_depth_fit_as_defined(
    con: duckdb.DuckDBPyConnection, found: Any, wanted: Any
) -> None:
    """Alternatives written out fit what the definition says, at any depth of any type."""
    assert fits(con, found, wanted) == plain_values.fits(found, wanted)


@pytest.mark.parametrize(
    ("rule", "fact"),
    [
        ({"any_of": []}, "any_of is []"),
        ({"any_of": "C"}, "any_of is 'C'"),
        ({"any_of": [1], "optional": 2}, "unknown key 'optional' next to 'any_of'"),
        ({"a": [{"optional": 1, "b": 2}]}, "unknown key 'b' next to 'optional'"),
        ({"a": {"any_of": [{"matches": "x"}]}}, "matches stands inside another value"),
        ({"any_of": [{"matches": "("}]}, "matches is not an RE2 pattern"),
        ({"optional": {"about": 1, "within": "x"}}, "within is 'x'"),
        ({name: {"any_of": [1, 2]} for name in "abcdefghij"}, "it has 1,024 alternative values"),
    ],
)
def test_faults_of_choices_are_named(rule: Any, fact: str) -> None:
    """What cannot be read as alternatives, or stands for too many values, is an error."""
    ((found, way_out),) = faults(rule)

    assert found.startswith(fact)
    assert way_out
    assert MAX_ALTERNATIVES < 1024


TENTHS = st.integers(-300, 300)


@settings(max_examples=300)
@given(found=TENTHS, about=TENTHS, within=st.integers(0, 300))
def test_bounds_are_those_of_the_numbers_as_written(
    con: duckdb.DuckDBPyConnection, found: int, about: int, within: int
) -> None:
    """Numbers with one decimal are compared as they are written, not as binary fractions."""
    rule = {"about": about / 10, "within": within / 10}

    assert fits(con, found / 10, rule) == (
        abs(Fraction(found, 10) - Fraction(about, 10)) <= Fraction(within, 10)
    )


@pytest.mark.parametrize(
    ("key", "pointer", "name"),
    [
        ("a/b~c", "/a~1b~0c", "a/b~c"),
        ("$ref", "/$ref", "$ref"),
        ("$.a.b[0]", "$.a.b[0]", "a"),
        ('$."a.b".c', '$."a.b".c', "a.b"),
        ('$."a\\"b"', '$."a\\"b"', 'a"b'),
    ],
)
def test_key_leads_into_an_argument(key: str, pointer: str, name: str) -> None:
    """A key that begins like a JSON path is one; the argument is its first part."""
    assert argument_path(key) == (pointer, name)


ADDRESS = {"to": {"city": "Paris", "zip": 7}, "n": 10}
ALIKE: list[tuple[Any, int, float]] = [
    ({"$.to.city": {"matches": "^P"}, "n": {"about": 9, "within": 1}}, 1, 1),
    ({"$.to.city": "Paris", "$.to.zip": 7}, 1, 1 / 2),
    ({"$.to.city": "Paris", "$.to.zip": 8, "n": 10}, 0, 1 / 2),
    ({"$.to.city": "Paris", "to": {"city": "Paris", "zip": 7}}, 1, 1 / 2),
    ({"$.of.city": "Paris", "n": 10}, 0, 1 / 3),
    ({"n": {"about": 8, "within": 1}}, 0, 0),
    ({"n": {"any_of": [9, 10]}, "to": {"any_of": [{"city": "Paris", "zip": 7}]}}, 1, 1),
    ({"n": {"any_of": [8, 9]}}, 0, 0),
    ({"n": 10, "unit": {"optional": "C"}}, 1, 1 / 2),
    ({"n": {"optional": 10}, "$.to.zip": {"optional": 8}}, 0, 1 / 2),
    ({"n": 10, "$.to.street": {"optional": "x"}}, 1, 1),
    ({"n": 10, "to": {"city": {"any_of": ["Paris", "Rome"]}, "zip": 7}}, 1, 1),
]
"""What is asked of ADDRESS, whether it fits, and how like it is."""


@pytest.fixture(scope="module")
def alike() -> list[dict[str, Score]]:
    """The scores of all ALIKE."""
    steps = [call("t1", 0, "a", arguments=canonical_json(json.dumps(ADDRESS)))]
    cases = [
        Case(steps, {"expected": [{"tool": "a", "arguments": arguments}]})
        for arguments, *_ in ALIKE
    ]
    return scored_at_once(cases, until="tool_correctness")


@pytest.mark.parametrize("case", range(len(ALIKE)), ids=lambda i: str(ALIKE[i][0]))
def test_picks_and_tool_correctness_ask_the_same(alike: list[dict[str, Score]], case: int) -> None:
    """An argument is alike if it fits at every place given in it; the keys are those of both."""
    _, correct, similarity = ALIKE[case]

    assert alike[case]["tsa"].value == correct
    assert alike[case]["tool_parameters"].value == pytest.approx(similarity)


def test_alternative_may_be_a_bound_value() -> None:
    """One that is not bound could be the one that fits, unless another does."""
    task = """
    tasks:
      t:
        match: {user_input: 'to (?P<city>\\w+)'}
        expected: [{tool: a, arguments: {city: {any_of: [{input: city}, Rome]}}}]
    """
    asked = (
        ("Oslo", "to Oslo", 1.0, None),
        ("Rome", "nowhere", 1.0, None),
        ("Bonn", "to Oslo", 0.0, None),
        ("Bonn", "nowhere", None, "input_unbound"),
    )
    steps = [
        call(f"t{i}", 0, "a", arguments=json.dumps({"city": city}))
        for i, (city, *_) in enumerate(asked)
    ]
    runs = [
        trajectory(f"t{i}", task_id="t", user_input=words)
        for i, (_, words, *_) in enumerate(asked)
    ]
    con = scored(connection(steps, runs), specification(task), until="tool_selection")

    found = [all_scores(con)[f"t{i}"]["tsa"] for i in range(len(asked))]
    assert [(each.value, each.reason) for each in found] == [each[2:] for each in asked]


def test_wrong_alternative_is_shown_with_the_rule() -> None:
    """The reason quotes what was asked for as it is written."""
    task = "tasks: {t: {expected: [{tool: a, arguments: {n: {any_of: [1, {optional: 2}]}}}]}}"
    run = connection([call("t1", 0, "a", arguments='{"n":3}')], [trajectory("t1", task_id="t")])

    con = scored(run, specification(task), until="tool_selection")
    assert con.sql("SELECT reason FROM decision_rows").fetchall() == [
        ('argument n of a is 3, expected {"any_of":[1,{"optional":2}]}',)
    ]
