"""Canonical JSON is one text for all texts that mean the same (docs/metrics.md, section 0.5)."""

import json
import random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracegrade_queries.build.canonical import canonical_json, canonical_texts
from tracegrade_queries.build.nesting import MAX_DEPTH

NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def same(left: Any, right: Any) -> bool:
    """Say whether two parsed values are equal by the rule: typed, recursive, 1 equal to 1.0."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return (type(left) in (int, float) and type(right) in (int, float) and left == right) or (
        type(left) is type(right) and left == right
    )


@given(VALUES, VALUES)
def test_equal_values_have_equal_texts(left: Any, right: Any) -> None:
    """Two values have the same canonical form exactly when they are equal by the rule."""
    texts = [canonical_json(json.dumps(value)) for value in (left, right)]

    assert (texts[0] == texts[1]) == same(left, right)


@given(VALUES, st.randoms())
def test_spelling_does_not_matter(value: Any, order: random.Random) -> None:
    """Order of keys, blanks and escapes change nothing; what is written reads back equal."""
    text = canonical_json(json.dumps(value))
    respelled = canonical_json(json.dumps(_shuffled(value, order), indent=1, ensure_ascii=False))

    assert text == respelled
    assert text is not None
    assert same(json.loads(text), value)
    assert canonical_json(text) == text


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ('{"b": 1.0, "a": [true, null]}', '{"a":[true,null],"b":1}'),
        ("12345678901234567890123", "12345678901234567890123"),
        ("1e3", "1000"),
        ("-0.0", "0"),
        ("0.10", "0.1"),
        ("1e400", "1e+400"),
        ("1e99999999999999999999", None),
        ('["a, 12345678901234567.0", 1.0]', '["a, 12345678901234567.0",1]'),
        ('"\\ud800"', '"\\ud800"'),
        ('{"a": 1, "a": 2}', '{"a":2}'),
        ("[-0, 1" + "0" * 5000 + "]", "[0,1" + "0" * 5000 + "]"),
        ("[" * MAX_DEPTH + "]" * MAX_DEPTH, "[" * MAX_DEPTH + "]" * MAX_DEPTH),
        ("[" * MAX_DEPTH + "1.0" + "]" * MAX_DEPTH, "[" * MAX_DEPTH + "1" + "]" * MAX_DEPTH),
        (
            '{"a":' * MAX_DEPTH + "1e400" + "}" * MAX_DEPTH,
            '{"a":' * MAX_DEPTH + "1e+400" + "}" * MAX_DEPTH,
        ),
        ("[" * MAX_DEPTH + "[]" + "]" * MAX_DEPTH, None),
        ("[" * 100_000, None),
        ('["' + "[" * 300 + '\\"]"]', '["' + "[" * 300 + '\\"]"]'),
        ("Paris", None),
        ('{"a": NaN}', None),
        ('{"a": 1', None),
        ("", None),
        (None, None),
    ],
)
def test_canonical_form(text: str | None, canonical: str | None) -> None:
    """The form of what is easily got wrong; no form for what is not JSON."""
    assert canonical_json(text) == canonical


def test_texts_keep_their_order() -> None:
    """A column of texts becomes a column of forms, row by row."""
    assert canonical_texts(pa.array(["2.0", None, "x"])).to_pylist() == ["2", None, None]


def _shuffled(value: Any, order: random.Random) -> Any:
    if isinstance(value, list):
        return [_shuffled(item, order) for item in value]
    if isinstance(value, dict):
        keys = list(value)
        order.shuffle(keys)
        return {key: _shuffled(value[key], order) for key in keys}
    return value
