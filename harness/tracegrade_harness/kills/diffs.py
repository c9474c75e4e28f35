"""Compares the texts of an object before a run, after its kill and after recovery."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import islice
from typing import Final, NamedTuple

from tracegrade_harness.kills.read import KilledObject

MOST_LINES: Final = 400
"""Lines of a text that are compared."""
CONTEXT: Final = 2
"""Equal lines around a difference."""
BY_RUN, BY_RECOVERY = "the run", "the recovery"
ADDED, REMOVED, EQUAL, SKIPPED = "+", "\u2212", " ", "\u2026"


class DiffLine(NamedTuple):
    """A line of a text."""

    sign: str
    """ADDED | REMOVED | EQUAL | SKIPPED (lines that are equal)."""
    text: str


class TextDiff(NamedTuple):
    """What the run, or the recovery, changed in a text."""

    by: str
    lines: Sequence[DiffLine]
    """Empty if the texts are equal."""
    more: int
    """Lines that were not compared."""


def object_diffs(each: KilledObject) -> Iterator[TextDiff]:
    """Yield what the run changed in an object, then what the recovery did, where texts tell."""
    before = _content(each.before == "absent", each.text_before)
    killed = _content(each.killed == "removed", each.text_killed)
    recovered = _content(each.recovered == "removed", each.text_recovered)
    if each.killed == "same":
        killed = before
    if before is not None and killed is not None and before != killed:
        yield text_diff(BY_RUN, before, killed)
    if each.left and killed is not None and recovered is not None and killed != recovered:
        yield text_diff(BY_RECOVERY, killed, recovered)


def _content(is_absent: bool, text: str | None) -> str | None:
    """Return the text of an object at one moment; '' if there was no object, None if unknown."""
    return "" if is_absent else text


def text_diff(by: str, before: str, after: str) -> TextDiff:
    """Return the lines that differ, with those around them."""
    old, new = (text.splitlines() for text in (before, after))
    more = max(len(old) - MOST_LINES, 0) + max(len(new) - MOST_LINES, 0)
    return TextDiff(by, [*_lines(old[:MOST_LINES], new[:MOST_LINES])], more)


def _lines(old: Sequence[str], new: Sequence[str]) -> Iterator[DiffLine]:
    groups = SequenceMatcher(None, old, new).get_grouped_opcodes(CONTEXT)
    for number, group in enumerate(groups):
        if number:
            yield DiffLine(SKIPPED, "")
        for kind, from_old, to_old, from_new, to_new in group:
            if kind == "equal":
                yield from (DiffLine(EQUAL, line) for line in islice(old, from_old, to_old))
                continue
            yield from (DiffLine(REMOVED, line) for line in islice(old, from_old, to_old))
            yield from (DiffLine(ADDED, line) for line in islice(new, from_new, to_new))
