"""Patterns of what tapes pass over are checked before anything is run."""

from pathlib import Path

import pytest
from tests.harness.loading.build import START, found


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        (
            "[{pattern: a, with: b}, {pattern: '(?=a)', with: x}]",
            "15: cases.c.normalize[1].pattern '(?=a)' is not an RE2 pattern for texts: "
            "invalid perl operator: (?=; correct it (RE2 has no look-around or back-references)",
        ),
        (
            "[{pattern: 'a*', with: x}]",
            "15: cases.c.normalize[0].pattern 'a*' is not an RE2 pattern for texts: "
            "it matches the empty text; correct it",
        ),
        ("[{pattern: '(((a{99}){99}){99})', with: x}]", "15: cases.c.normalize[0].pattern "),
        ("[{patern: a, with: b}]", "15: unknown key 'patern' in cases.c.normalize[0]; did you "),
        ("[{pattern: a}]", "15: key 'with' is missing in cases.c.normalize[0]; add it"),
        (f"[{{pattern: {'a' * 1001}, with: b}}]", "15: cases.c.normalize[0].pattern is 'aaa"),
        (f"[{'{pattern: a, with: b}, ' * 21}]", "15: cases.c.normalize is "),
    ],
    ids=["look-around", "empty", "too large", "key", "lack", "long", "many"],
)
def test_a_wrong_pattern_is_named(folder: Path, rules: str, problem: str) -> None:
    """Before anything is run."""
    case = f"cases:\n  c:\n    agent: a\n    environment: e\n    normalize: {rules}\n"
    problems = found(folder, START.lstrip() + case)

    assert [each for each in problems if each.startswith(problem)], problems
