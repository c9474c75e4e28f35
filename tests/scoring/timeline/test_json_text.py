"""JSON is shown on several lines; no token changes, and nothing in it acts."""

import json
import re
from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import many

from tracegrade.terminal.visible import visible_text
from tracegrade_scoring.timeline.cards.json_text import (
    FOLDED,
    LINE,
    beginning,
    folded_json,
    indented,
    is_json,
    marked_json,
    with_marked_keys,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
CONTAINERS = st.lists(VALUES) | st.dictionaries(st.text(), VALUES)


@settings(max_examples=many(25))
@given(CONTAINERS)
def test_indented_json_has_the_same_values(value: object) -> None:
    """However it was laid out before."""
    for indent in (None, 3):
        assert json.loads(indented(json.dumps(value, indent=indent))) == value


@settings(max_examples=many(25))
@given(CONTAINERS)
def test_only_the_layout_changes(value: object) -> None:
    """Outside texts nothing but white space is new, and a short value stays on one line."""
    text = json.dumps(value, ensure_ascii=False)
    shown = indented(text)
    assert re.sub(r"\s", "", shown) == re.sub(r"\s", "", text)
    assert ("\n" in shown) == (len(json.dumps(value, ensure_ascii=False)) > LINE) or "\n" in text


@settings(max_examples=many(25))
@given(CONTAINERS, st.integers(0, 400))
def test_folds_hide_no_line(value: object, most: int) -> None:
    """Each line is there, in its order, and every fold is closed, where the text is cut, too."""
    text = indented(json.dumps([value, value], indent=1))[: max(most, 1)]
    shown = str(folded_json(text))
    assert shown.count("<details>") == shown.count("</details>")
    lines = re.sub(r"<summary>(.*?) <span.*?</summary>", "\\1\n", shown)
    lines = re.sub(r"</details>(?!$)", "\n", lines)
    bare = unescape(re.sub(r"</?(?:b|details)>", "", lines))
    assert re.sub(r"\n+", "\n", bare).strip("\n") == visible_text(text).strip("\n")


def test_long_parts_are_folded() -> None:
    """The outermost object is open; what has many lines in it is one line that says how many."""
    rows = ["x" * LINE] * (FOLDED + 5)
    shown = str(folded_json(indented(json.dumps({"rows": rows, "few": rows[:3]}))))
    assert re.findall("<summary>(.*?)</summary>", shown) == [
        f'  <b>&#34;rows&#34;</b>: [ <span class="faint">{FOLDED + 5} lines</span>'
    ]
    assert shown.startswith("{<details>")
    assert "</details>  <b>&#34;few&#34;</b>: [\n" in shown


def test_numbers_and_repeated_keys_stay() -> None:
    """A parser would round the first and lose the second."""
    text = '{"n": 12345678901234567890.10, "n": 1.0, "long": "' + "x" * LINE + '"}'
    assert is_json(text)
    lines = indented(text).splitlines()
    assert lines[1:3] == ['  "n": 12345678901234567890.10,', '  "n": 1.0,']


def test_inner_values_stay_on_one_line_where_they_fit() -> None:
    """So a list of small objects reads as a table."""
    rows = [{"from": "LAX", "to": "SFO", "price": number} for number in range(4)]
    assert (
        indented(json.dumps(rows)).splitlines()[1] == '  {"from": "LAX", "to": "SFO", "price": 0},'
    )


@pytest.mark.parametrize(
    "text", ["", "word", '"text"', "12", "{'a': 1}", '{"a": 1', "[1] and more", "[NaN]"]
)
def test_another_text_is_not_json(text: str) -> None:
    """It is shown as it was sent."""
    assert not is_json(text)
    assert "\n" not in marked_json(text, 99)


@settings(max_examples=many(25))
@given(CONTAINERS, st.integers(1, 60))
def test_a_beginning_says_whether_there_is_more(value: object, most: int) -> None:
    """It reads no more of the text than it needs."""
    text = json.dumps(value)
    shown, is_cut = beginning(text, most)
    assert len(shown) <= most
    assert is_cut or shown == indented(text)
    assert indented(text).startswith(shown.rstrip())


def test_nothing_in_json_acts() -> None:
    """Keys are bold, their signs escaped, and directions of writing are spelled out."""
    text = '{"<b>k</b>": "</pre><script>alert(1)</script>", "\u202e": 1}'
    shown = str(with_marked_keys(indented(text)))
    assert "<script" not in shown
    assert "\u202e" not in shown
    assert re.findall("</?[a-z]+>", shown) == ["<b>", "</b>"] * 2


def test_deep_json_is_laid_out_in_little_space() -> None:
    """Levels below the last that is indented are not."""
    text = '[{"a": ' * 400 + f'"{"x" * LINE}"' + "}]" * 400
    assert is_json(text)
    assert len(indented(text)) < 100_000
