"""Globs stand for names of objects and for paths, in linear time."""

import pytest

from tracegrade_harness.parts.globs import matcher

STANDS_FOR = [
    ("clean/**", ["clean", "clean/a", "clean/a/b", "clean/a\n"], ["cleaner", "a/clean"]),
    ("**/x", ["x", "a/x", "a/b/x"], ["ax", "x/a", "a/ax"]),
    ("a/**/b", ["a/b", "a/x/b", "a/x/y\n/b"], ["ab", "a/xb", "b"]),
    ("a/**/**", ["a", "a/b", "a/b/c"], ["ab"]),
    ("**/**/b", ["b", "a/b", "a/a/b"], ["ab"]),
    ("**", ["", "a", "a/b", "\n"], []),
    ("*", ["", "a", "a\n.b"], ["a/b"]),
    ("a**b", ["ab", "axxb"], ["a/b"]),
    ("?", ["a", "é", "\n", "\udcff"], ["", "/", "ab"]),
    ("a*\udcff", ["a\udcff", "ab\udcff"], ["a"]),
    ("files:**/*.lock", ["files:a.lock", "files:data/a/b.lock"], ["sqlite:a/b.lock"]),
    ("files:data/**/*.lock", ["files:data/b.lock", "files:data/a/b.lock"], ["files:data.lock"]),
    ("a/*", ["a/", "a/b", "a/b/"], ["a", "a/b/c"]),
    ("a/", ["a/"], ["a"]),
    ("[a].{b}", ["[a].{b}"], ["a.b", "[a]x{b}"]),
    (r"a?b", [r"a\\b", r"a\x0ab", r"a\xffb", r"a\u202eb", r"a\x2fb"], ["a/b", r"a\\\\b"]),
    (r"a\b", [r"a\\b"], ["ab"]),
    (r"a\\b", [r"a\\b"], ["ab"]),
    ("a\nb", [r"a\x0ab"], ["ab"]),
    (r"a\x0ab", [r"a\x0ab"], [r"a\\x0ab"]),
    ("runs/a:b", [r"runs/a\x3ab"], ["runs/ab"]),
    ("runs/a/b", ["runs/a/b"], [r"runs/a\x2fb"]),
    ("data/two words %20*", ["data/two words %20", "data/two words %20*"], ["data/two words  "]),
]


@pytest.mark.parametrize(("glob", "names", "others"), STANDS_FOR)
def test_a_glob_stands_for_these_names(glob: str, names: list[str], others: list[str]) -> None:
    """`**` is any number of names, `*` a part of one, `?` a character; the rest is itself."""
    matches = matcher(glob)

    assert [name for name in (*names, *others) if matches(name)] == names


def test_a_glob_of_many_stars_ends() -> None:
    """A backtracking matcher would not end on this one in a lifetime."""
    assert not matcher("**/" + "*a" * 50 + "/**/b")("a" * 5_000 + "/c" * 2_000)
