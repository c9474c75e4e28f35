"""Rules over names of objects: what they match, hide and call held."""

import pytest

from tracegrade_harness.parts.diff import StateDifference, diff, held_by_rule
from tracegrade_harness.parts.globs import Globs
from tracegrade_harness.parts.names import name_text, part_text, path_text, plain_text


def _matches(rule: str, name: str) -> bool:
    return Globs([rule]).rule(name) is not None


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        ("*.csv", "a.csv"),
        ("clean/**", "clean/a/b.csv"),
        ("clean/**", "clean/"),
        ("clean", "clean/"),
        ("clean/", "clean/"),
        ("**/x", "x"),
        ("**/x", "a/b/x"),
        ("a/**/b", "a/b"),
        ("a/**/b", "a/x/y/b"),
        ("**/__pycache__/**", "src/__pycache__/m.pyc"),
        ("files:**/*.lock", "files:data/x.lock"),
        ("files:**/*.lock", "files:data/deep/x.lock"),
        ("a?c", "abc"),
        ("[a].txt", "[a].txt"),
        (r"a\x0ab", r"a\x0ab"),
    ],
)
def test_a_rule_matches(rule: str, name: str) -> None:
    """Stars and question marks stand for names; all else for itself."""
    assert _matches(rule, name)


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        ("*.csv", "a/b.csv"),
        ("clean/**", "cleaner/a"),
        ("clean/", "clean"),
        ("clean", "clean/a"),
        ("a?c", "a/c"),
        ("a.c", "abc"),
        ("a**/b", "ab"),
        ("[a].txt", "a.txt"),
    ],
)
def test_a_rule_does_not_match(rule: str, name: str) -> None:
    """A star stays within a name; a folder is not what stands in it."""
    assert not _matches(rule, name)


def test_a_hostile_name_costs_linear_time() -> None:
    """A rule that makes a backtracking matcher try for ages answers."""
    assert not _matches("*a*a*a*a*a*a*a*a*a*a*a*b", "a" * 100_000)


def test_the_first_rule_that_matches_is_named() -> None:
    """Of two rules that match, the one that the suite lists first counts."""
    rules = Globs(["*.txt", "a.*", "**"])

    assert [rules.rule(name) for name in ("a.txt", "a.csv", "x/y")] == ["*.txt", "a.*", "**"]
    assert Globs([]).rule("a") is None


def test_states_differ_by_what_is_new_other_and_gone() -> None:
    """Names are sorted, for every order of the states."""
    before = {"b": "1", "a": "1", "gone": "1"}
    after = {"new": "1", "b": "2", "a": "1"}

    assert diff(before, after) == StateDifference(["new"], ["b"], ["gone"])
    assert diff(before, after).names == ["b", "gone", "new"]


def test_new_and_changed_objects_that_a_lock_rule_matches_are_held() -> None:
    """One that is gone is held no more."""
    held = held_by_rule(StateDifference(["a.lock"], ["b.lock"], ["c.lock"]), Globs(["*.lock"]))

    assert held == ["a.lock", "b.lock"]


HOSTILE = [
    r"a\b",
    "a\nb",
    r"a\x0ab",
    "\udcff",
    "\x7f\x80",
    "x\u202ey",
    "ü %20*[?]",
    r"\\",
    r"\xff",
    "a:b,c",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_name_stands_for_can_be_told(text: str) -> None:
    """Of a path and of a key alike; a name that was written once is not escaped again."""
    assert plain_text(path_text(text)) == text
    assert plain_text(part_text(text)) == text
    assert name_text(path_text(text)) == path_text(text)


def test_a_name_that_is_written_by_hand_is_the_one_that_states_have() -> None:
    """A backslash that begins no escape is one."""
    assert name_text("a\\b\n\udcff") == r"a\\b\x0a\xff"
