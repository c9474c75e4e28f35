"""Aligns the steps of two runs: pairs equal steps, then the steps that differ. Pure.

Steps are equal if kind, tool and canonical arguments are, or their plan. Different texts of
thoughts and messages do not separate runs, since models seldom repeat the same words; the pair
only notes the difference. It also notes content that was not recorded. Texts are never paired
across a call.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, NamedTuple, TypeAlias

from tracegrade_scoring.timeline.model import Step

SAME, TEXT, ARGUMENTS, TOOL = "same", "text", "arguments", "tool"
UNRECORDED: Final = "unrecorded"
FIRST, SECOND = "only_first", "only_second"
WORDS: Final = {
    SAME: "same",
    TEXT: "in other words",
    UNRECORDED: "not recorded, so it may differ",
    ARGUMENTS: "other arguments, or another plan",
    TOOL: "other tool",
    FIRST: "only in A",
    SECOND: "only in B",
}
SIGNS: Final = {
    SAME: "=",
    TEXT: "≈",
    UNRECORDED: "?",
    ARGUMENTS: "~",
    TOOL: "≠",
    FIRST: "-",
    SECOND: "+",
}
CALLS: Final = frozenset({"tool_call", "handoff"})
COMPARED: Final = CALLS | {"plan"}
"""Kinds of steps that differ where their texts do."""
CUT: Final = frozenset({"redacted", "truncated"})
"""Flags of a step of whose arguments or text something is not there."""
LONGEST_DIFF: Final = 20_000
"""Characters of both texts together up to which words are compared."""


@dataclass(frozen=True)
class Pair:
    """A place of both runs; None where only the other has a step."""

    first: Step | None
    second: Step | None
    how: str
    """A key of `WORDS`."""

    @property
    def differs(self) -> bool:
        """Whether the runs are known to differ here; different words alone do not count."""
        return self.how not in {SAME, TEXT, UNRECORDED}


class DiffToken(NamedTuple):
    """A part of a text, as both have it or only one."""

    text: str
    how: str
    """same | only_first | only_second."""


def align(first: Sequence[Step], second: Sequence[Step]) -> list[Pair]:
    """Return the steps of both runs in order; a call includes its observation."""
    one, other = (
        [step for step in steps if step.kind != "observation"] for steps in (first, second)
    )
    return [*_aligned(one, other, (_equal_calls, _calls_of_equal_tools, _calls_in_order))]


def parting(pairs: Sequence[Pair]) -> tuple[int | None, int | None]:
    """Return at which steps the runs part first; None for a run that has none there."""
    for pair in pairs:
        if pair.differs:
            return (
                pair.first.step_index if pair.first else None,
                pair.second.step_index if pair.second else None,
            )
    return None, None


def word_diff(first: str, second: str) -> list[DiffToken]:
    """Return the words that two texts share, and the others; nothing for very long texts."""
    if first == second or len(first) + len(second) > LONGEST_DIFF:
        return []
    one, other = _words(first), _words(second)
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    found: list[DiffToken] = []
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            found.append(DiffToken("".join(one[a:b]), SAME))
            continue
        found += [DiffToken("".join(one[a:b]), FIRST)] if b > a else []
        found += [DiffToken("".join(other[c:d]), SECOND)] if d > c else []
    return found


_Anchors: TypeAlias = Iterator[tuple[int, int]]
_Finder: TypeAlias = Callable[[Sequence[Step], Sequence[Step]], _Anchors]


def _aligned(
    one: Sequence[Step], other: Sequence[Step], finders: Sequence[_Finder]
) -> Iterator[Pair]:
    """Yield two aligned stretches: the first finder pairs some steps, the next the rest."""
    if not finders:
        yield from _beside(one, other)
        return
    here, there = 0, 0
    for position, beside in finders[0](one, other):
        yield from _aligned(one[here:position], other[there:beside], finders[1:])
        yield Pair(one[position], other[beside], _how(one[position], other[beside]))
        here, there = position + 1, beside + 1
    yield from _aligned(one[here:], other[there:], finders[1:])


def _how(one: Step, other: Step) -> str:
    recorded = (is_recorded(one) and is_recorded(other)) or _differ_beside_marks(one, other)
    if _key(one)[:2] == _key(other)[:2] and not recorded:
        return UNRECORDED
    if _key(one) == _key(other):
        return SAME if one.kind in COMPARED or one.content == other.content else TEXT
    return ARGUMENTS if _key(one)[:2] == _key(other)[:2] else TOOL


def is_recorded(step: Step) -> bool:
    """Return whether all that steps are compared by is there: else it equals nothing.

    Source: docs/metrics.md, section 0.5.
    """
    return _compared_text(step) is not None and CUT.isdisjoint(step.flags)


def _compared_text(step: Step) -> str | None:
    return step.arguments if step.kind in CALLS else step.content


def _differ_beside_marks(one: Step, other: Step) -> bool:
    """Return whether what steps are compared by differs, and both had something redacted of it."""
    cuts = [CUT.intersection(step.flags) for step in (one, other)]
    given = (_compared_text(one), _compared_text(other))
    return cuts == [{"redacted"}] * 2 and None not in given and given[0] != given[1]


def _key(step: Step) -> tuple[str | None, ...]:
    """Return the key of equal steps; its first two parts are kind and subject."""
    if step.kind in CALLS:
        return (step.kind, step.tool_name, step.arguments)
    return (step.kind, step.role, step.content if step.kind == "plan" else None)


def _equal_calls(one: Sequence[Step], other: Sequence[Step]) -> _Anchors:
    return _matching(one, other, _key)


def _calls_of_equal_tools(one: Sequence[Step], other: Sequence[Step]) -> _Anchors:
    return _matching(one, other, lambda step: _key(step)[:2])


def _calls_in_order(one: Sequence[Step], other: Sequence[Step]) -> _Anchors:
    """Yield pairs of calls that differ: the first of both runs, the second, and so on."""
    calls = [[n for n, step in enumerate(steps) if step.kind in CALLS] for steps in (one, other)]
    return zip(*calls, strict=False)


def _matching(
    one: Sequence[Step], other: Sequence[Step], key: Callable[[Step], object]
) -> _Anchors:
    """Yield the positions of calls, and plans, with equal keys, in the order of both runs."""
    positions = [
        [n for n, step in enumerate(steps) if step.kind in COMPARED] for steps in (one, other)
    ]
    keys = [key(one[n]) for n in positions[0]]
    beside = [key(other[n]) for n in positions[1]]
    for a, b, size in SequenceMatcher(None, keys, beside, autojunk=False).get_matching_blocks():
        for shift in range(size):
            yield positions[0][a + shift], positions[1][b + shift]


def _beside(one: Sequence[Step], other: Sequence[Step]) -> Iterator[Pair]:
    """Yield the steps between calls: pairs of equal kind, then the rest alone."""
    matcher = SequenceMatcher(None, [*map(_key, one)], [*map(_key, other)], autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            together = zip(one[a:b], other[c:d], strict=True)
            yield from (Pair(*pair, _how(*pair)) for pair in together)
        else:
            yield from (Pair(step, None, FIRST) for step in one[a:b])
            yield from (Pair(None, step, SECOND) for step in other[c:d])


def _words(text: str) -> list[str]:
    """Return a text in pieces: runs of letters and digits, and each other character."""
    found: list[str] = []
    for character in text:
        if character.isalnum() and found and found[-1][-1].isalnum():
            found[-1] += character
        else:
            found.append(character)
    return found
