"""What a task file asks of a value is one rule for picks, tool correctness and criteria alike."""

import json
from fractions import Fraction
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.scoring.build import call, connection, scored, scores, specification, trajectory
from tests.scoring.scorers.plain import equal

from tracegrade_queries.build.canonical import canonical_json
from tracegrade_scoring.sql import query
from tracegrade_scoring.tasks.expected_value import (
    argument_path,
    expected_value,
    faults,
    literally,
)

FITS = "SELECT matches_expected($found, $value, $pattern, $low, $high)"


@pytest.fixture(scope="module")
def con() -> duckdb.DuckDBPyConnection:
    """A connection that knows the rule."""
    con = duckdb.connect()
    con.execute(query("matches_expected"))
    return con


def fits(con: duckdb.DuckDBPyConnection, found: Any, rule: Any) -> bool:
    """Return whether a value that is not bound fits."""
    asked = expected_value(rule)
    text = canonical_json(json.dumps(found))
    parameters = {"found": text, "value": asked.value, "pattern": asked.pattern}
    ((holds,),) = con.execute(
        FITS, {**parameters, "low": asked.low, "high": asked.high}
    ).fetchall()
    assert isinstance(holds, bool)
    return holds


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
    ],
)
def test_rule_fits_what_it_says(
    con: duckdb.DuckDBPyConnection, rule: Any, good: list[Any], bad: list[Any]
) -> None:
    """A pattern fits texts, a range numbers with its bounds, all else what is equal."""
    assert [value for value in (*good, *bad) if fits(con, value, rule)] == good


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | st.text("a1", max_size=2),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["input", "matches", "about", "a"]), inner, max_size=2)
    ),
    max_leaves=4,
)


@settings(max_examples=300)
@given(found=JSON, meant=JSON)
def test_any_value_can_be_meant_literally(
    con: duckdb.DuckDBPyConnection, found: Any, meant: Any
) -> None:
    """What is written literally fits the values equal to it and no others, and has no fault."""
    assert list(faults(literally(meant))) == []
    assert fits(con, meant, literally(meant))
    assert fits(con, found, literally(meant)) == equal(found, meant)


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


def graded(arguments: Any, made: Any) -> tuple[float | None, float | None]:
    """Return whether the pick is correct, and how like the arguments are."""
    whole = {"tasks": {"t": {"expected": [{"tool": "a", "arguments": arguments}]}}}
    run = connection(
        [call("t1", 0, "a", arguments=canonical_json(json.dumps(made)))],
        [trajectory("t1", task_id="t")],
    )
    found = scores(scored(run, specification(json.dumps(whole)), until="tool_correctness"))
    return found["tsa"].value, found["tool_parameters"].value


ADDRESS = {"to": {"city": "Paris", "zip": 7}, "n": 10}


@pytest.mark.parametrize(
    ("arguments", "correct", "similarity"),
    [
        ({"$.to.city": {"matches": "^P"}, "n": {"about": 9, "within": 1}}, 1, 1),
        ({"$.to.city": "Paris", "$.to.zip": 7}, 1, 1 / 2),
        ({"$.to.city": "Paris", "$.to.zip": 8, "n": 10}, 0, 1 / 2),
        ({"$.to.city": "Paris", "to": {"city": "Paris", "zip": 7}}, 1, 1 / 2),
        ({"$.of.city": "Paris", "n": 10}, 0, 1 / 3),
        ({"n": {"about": 8, "within": 1}}, 0, 0),
    ],
)
def test_picks_and_tool_correctness_ask_the_same(
    arguments: Any, correct: int, similarity: float
) -> None:
    """An argument is alike if it fits at every place given in it; the keys are those of both."""
    picked, alike = graded(arguments, ADDRESS)

    assert picked == correct
    assert alike == pytest.approx(similarity)
