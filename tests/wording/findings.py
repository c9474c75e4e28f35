"""Where the project breaks a rule of wording, and how often it may."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from tests.changes import git
from tests.citations import ROOT
from tests.wording.prose import prose_of
from tests.wording.rules import IN_TESTS, PATTERNS, RULES

BUDGET: Final = Path(__file__).with_name("budget.toml")
MESSAGES: Final = Path(__file__).with_name("messages.txt")
MADE: Final = ("tests/queries/captures", "tests/queries/cases", "tests/wording/rules.py")
"""Not prose of the project's own."""

PARTS: Final = {
    "collector/tracegrade_lake": "lake",
    "scoring/tracegrade_judges": "judges",
    "scoring/tracegrade_scale": "scale",
    "scoring/tracegrade_testing": "testing",
    "scoring/tracegrade_send": "send",
    "scoring/tracegrade_watch": "watch",
    "scoring/tracegrade_ci": "ci",
}
"""Packages that share a folder with another."""


class Finding(NamedTuple):
    """A place where a rule is broken."""

    file: str
    line: int
    rule: str
    words: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.rule}: '{self.words}'; {RULES[self.rule][1]}"


def area(file: str) -> str:
    """Return the part of the project in whose budget a file counts."""
    folder = file.partition("/")[0] if "/" in file else "root"
    return next((name for part, name in PARTS.items() if file.startswith(part)), folder)


def findings(file: str, content: str) -> list[Finding]:
    """Return where a file breaks the rules of its area; code in backticks is left out."""
    rules = IN_TESTS if area(file) in {"tests", "demo"} else RULES.keys()
    return [
        Finding(file, prose.line, rule, found[0])
        for prose in prose_of(file, content)
        for rule in rules
        for found in PATTERNS[rule].finditer(re.sub(r"`[^`]*`", "`x`", prose.text))
    ]


def read(files: Iterable[str]) -> Iterator[Finding]:
    """Yield the findings of files as they are in the work tree."""
    for file in files:
        yield from findings(file, (ROOT / file).read_text("utf-8"))


def named_by_git(*arguments: str) -> list[str]:
    """Return the files with prose of the project's own that a git command names."""
    return with_prose(git(*arguments).splitlines())


def with_prose(files: Iterable[str]) -> list[str]:
    """Return those of some files that hold prose of the project's own."""
    return [
        file
        for file in files
        if file.endswith((".md", ".py", ".sql")) and not file.startswith(MADE)
    ]


def counts(found: Iterable[Finding]) -> dict[str, dict[str, int]]:
    """Return how often each rule is broken, by area."""
    by_rule: dict[str, Counter[str]] = {rule: Counter() for rule in RULES}
    for finding in found:
        by_rule[finding.rule][area(finding.file)] += 1
    return {rule: dict(sorted(areas.items())) for rule, areas in by_rule.items() if areas}


def budget() -> dict[str, dict[str, int]]:
    """Return how often each rule is broken in each area at most."""
    return tomllib.loads(BUDGET.read_text("utf-8"))


def messages() -> str:
    """Return each message of the product, in the order of files, behind the file's name."""
    lines = (
        f"{file}: {prose.text}\n"
        for file in named_by_git("ls-files", "*.py")
        if area(file) not in {"tests", "docgen"}
        for prose in prose_of(file, (ROOT / file).read_text("utf-8"))
        if prose.kind == "message"
    )
    return "".join(lines)
