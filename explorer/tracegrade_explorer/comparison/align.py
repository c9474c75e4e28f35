"""Aligns the steps of two runs: equal ones stand beside one another, what differs is paired. Pure.

Steps are equal if kind, tool and canonical arguments are, or their plan; of thoughts and messages the text counts
for nothing, since models seldom say a thing twice in the same words, but none is paired across a
call. Source: Ratcliff and Metzener's matching blocks, as Python's difflib has them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from tracegrade_scoring.timeline.model import Step

SAME, ARGUMENTS, TOOL, FIRST, SECOND = "same", "arguments", "tool", "only_first", "only_second"
WORDS: Final = {
    SAME: "same",
    ARGUMENTS: "other arguments, or another plan",
    TOOL: "other tool",
    FIRST: "only in A",
    SECOND: "only in B",
}
SIGNS: Final = {SAME: "=", ARGUMENTS: "~", TOOL: "≠", FIRST: "-", SECOND: "+"}
CALLS: Final = frozenset({"tool_call", "handoff"})
COMPARED: Final = CALLS | {"plan"}
"""Kinds of steps that differ where their texts do."""
LONGEST_DIFF: Final = 20_000
"""Characters of both texts together of which words are compared."""


@dataclass(frozen=True)
class Pair:
    """A place of both runs; None where only the other has a step."""

    first: Step | None
    second: Step | None
    how: str
    """A key of `WORDS`."""

    @property
    def differs(self) -> bool:
        """Whether the runs do something else here."""
        return self.how != SAME


class Word(NamedTuple):
    """A part of a text, as both have it or only one."""

    text: str
    how: str
    """same | only_first | only_second."""


def align(first: Sequence[Step], second: Sequence[Step]) -> list[Pair]:
    """Return the steps of both runs in order; calls stand for what was observed of them."""
    one, other = (
        [step for step in steps if step.kind != "observation"] for steps in (first, second)
    )
    matcher = SequenceMatcher(None, [*map(_key, one)], [*map(_key, other)], autojunk=False)
    found: list[Pair] = []
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            found += [Pair(*pair, SAME) for pair in zip(one[a:b], other[c:d], strict=True)]
        else:
            found += _replaced(one[a:b], other[c:d])
    return found


def parting(pairs: Sequence[Pair]) -> tuple[int | None, int | None]:
    """Return at which steps the runs part first; None for a run that has none there."""
    for pair in pairs:
        if pair.differs:
            return (
                pair.first.step_index if pair.first else None,
                pair.second.step_index if pair.second else None,
            )
    return None, None


def word_diff(first: str, second: str) -> list[Word]:
    """Return what two texts share and what only one has, word by word; none of very long ones."""
    if first == second or len(first) + len(second) > LONGEST_DIFF:
        return []
    one, other = _words(first), _words(second)
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    found: list[Word] = []
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            found.append(Word("".join(one[a:b]), SAME))
            continue
        found += [Word("".join(one[a:b]), FIRST)] if b > a else []
        found += [Word("".join(other[c:d]), SECOND)] if d > c else []
    return found


def _key(step: Step) -> tuple[str | None, ...]:
    if step.kind in CALLS:
        return (step.kind, step.tool_name, step.arguments)
    if step.kind == "plan":
        return (step.kind, step.role, step.content)
    return (step.kind, step.role)


def _replaced(one: Sequence[Step], other: Sequence[Step]) -> Iterator[Pair]:
    """Yield a stretch that differs: equal tools paired in order, then what is left likewise."""
    matcher = SequenceMatcher(None, [*map(_tool, one)], [*map(_tool, other)], autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            for pair in zip(one[a:b], other[c:d], strict=True):
                yield Pair(*pair, ARGUMENTS if pair[0].kind in COMPARED else SAME)
        elif tag == "replace" and _both_calls(one[a:b], other[c:d]):
            yield from _paired(one[a:b], other[c:d])
        else:
            yield from (Pair(step, None, FIRST) for step in one[a:b])
            yield from (Pair(None, step, SECOND) for step in other[c:d])


def _tool(step: Step) -> tuple[str | None, ...]:
    return _key(step)[:2]


def _both_calls(one: Sequence[Step], other: Sequence[Step]) -> bool:
    return all(step.kind in CALLS for step in (*one, *other))


def _paired(one: Sequence[Step], other: Sequence[Step]) -> Iterator[Pair]:
    """Yield calls of other tools side by side, as far as both runs have some."""
    shared = min(len(one), len(other))
    yield from (Pair(*pair, TOOL) for pair in zip(one[:shared], other[:shared], strict=True))
    yield from (Pair(step, None, FIRST) for step in one[shared:])
    yield from (Pair(None, step, SECOND) for step in other[shared:])


def _words(text: str) -> list[str]:
    """Return a text in pieces: runs of letters and digits, and each other character alone."""
    found: list[str] = []
    for character in text:
        if character.isalnum() and found and found[-1][-1].isalnum():
            found[-1] += character
        else:
            found.append(character)
    return found
