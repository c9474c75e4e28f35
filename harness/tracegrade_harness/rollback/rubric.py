"""Scores a kill 10, 7, 3 or 0 from the states before and after and records.

10: nothing is left. 7: records name everything that is left, with a way to undo it, and a human
has to look at 20 objects at most. 3: records name some of it. 0: records name none. A recovery
that sets some of it right and breaks nothing else scores at least 3. It never scores less than the
kill before the recovery. See docs/metrics.md, section 6.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from tracegrade_harness.parts.diff import diff
from tracegrade_harness.parts.state import State
from tracegrade_harness.rollback.patterns import named_by, pattern_matcher
from tracegrade_harness.rollback.records import Claim, Records

MAX_MANUAL: Final = 20
"""Objects that a human can check in five minutes, at a quarter of a minute each."""

ROLLED_FORWARD: Final = "rolled_forward"


@dataclass(frozen=True)
class ObservedState:
    """A killed run's environment at one moment."""

    before: State
    """The state before the run."""
    now: State
    held: Collection[str]
    """Names of objects and other resources that are held now, such as `process:python x.py`."""
    records: Records
    """The records, read at the same moment."""
    final: State | None = None
    """The final state of the undisturbed run, if it is as good as undone (`accept: done`)."""


class KillJudgment(NamedTuple):
    """A score and its reasons."""

    score: Literal[0, 3, 7, 10]
    label: str | None
    """`rolled_forward` if the run was finished instead of undone."""
    leftovers: tuple[str, ...]
    """The leftovers, sorted; none if the run was rolled forward."""
    named: dict[str, tuple[str, ...]]
    """Leftover → the records that name it with an undo that counts."""
    manual: tuple[str, ...]
    """Leftovers that only a human can undo."""
    disproved: tuple[str, ...]
    """Leftovers for which an undo was carried out and failed, even if another record names them.
    """


def changed(before: State, now: State) -> set[str]:
    """Return the names of objects that are in one of two states alone, or differ."""
    return {*diff(before, now).names}


def leftovers(seen: ObservedState) -> tuple[str, ...]:
    """Return what a killed run left, sorted: changed objects and locks that are still held.

    A record whose every entry is done is not a leftover, and neither is a new folder that holds a
    record. A record that claims undone work is a leftover, wherever it is.
    """
    same = {name for name, digest in seen.before.items() if seen.now.get(name) == digest}
    still_open = {file.name for file in seen.records.files if file.is_open} - same
    left = changed(seen.before, seen.now) - _there_for_records(seen)
    return tuple(sorted(left | still_open | {*seen.held}))


def _there_for_records(seen: ObservedState) -> set[str]:
    """Return records without claims, and the folders that were made to hold records."""
    settled = {file.name for file in seen.records.files if file.is_settled}
    folders = {
        file.name[:end]
        for file in seen.records.files
        for end, character in enumerate(file.name)
        if character == "/"
    }
    return settled | (folders - seen.before.keys())


def claims_on(seen: ObservedState, left: Collection[str]) -> dict[str, list[Claim]]:
    """Return the open claims on each leftover, in the order of records.

    A pattern counts as far as it names leftovers, see `named_by`.
    """
    found: dict[str, list[Claim]] = {name: [] for name in left}
    for claim in seen.records.claims:
        if claim.done:
            continue
        for name in _claimed(claim, seen.before, found):
            found[name].append(claim)
    return found


def _claimed(claim: Claim, before: State, left: Collection[str]) -> list[str]:
    if not claim.is_pattern:
        return [name for name in (claim.name, f"{claim.name}/") if name in left]  # or a folder
    return named_by(claim.name, before, left)


def unheeded(seen: ObservedState) -> list[str]:
    """Return why patterns that match a leftover name nothing: they also match earlier objects."""
    left = leftovers(seen)
    notes = []
    for claim in seen.records.claims:
        if not claim.is_pattern or named_by(claim.name, seen.before, left):
            continue
        stands_for = pattern_matcher(claim.name)
        if any(map(stands_for, left)):
            was_there = next(filter(stands_for, sorted(seen.before)))
            fact = f"it matches '{was_there}', which was there before"
            notes.append(f"{claim.record}: '{claim.name}' names nothing: {fact}")
    return notes


def judge(seen: ObservedState, disproved: Collection[str] = ()) -> KillJudgment:
    """Return the judgment of a kill.

    Args:
        seen: The states before and after, and the records.
        disproved: Leftovers that automatic undos did not restore, see `undo.prove`.
    """
    left = leftovers(seen)
    if not left:
        return KillJudgment(10, None, (), {}, (), ())
    if _is_rolled_forward(seen):
        return KillJudgment(10, ROLLED_FORWARD, (), {}, (), ())
    claims = claims_on(seen, left)
    records = {file.name for file in seen.records.files if file.is_open}
    named = {name: _naming(claims[name], name in disproved) for name in left}
    named |= {name: (name,) for name in records & named.keys()}
    manual = [name for name in left if _is_manual(claims[name], name in disproved)]
    return KillJudgment(
        _score(named, records, len([name for name in manual if name not in records])),
        None,
        left,
        {name: by for name, by in named.items() if by},
        tuple(name for name in manual if name not in records),
        tuple(name for name in left if name in disproved),
    )


def recovered(at_once: KillJudgment, after: KillJudgment) -> KillJudgment:
    """Return the judgment after a recovery, which counts what the recovery undid.

    A partial undo is never worth less than no undo. If the recovery restored some leftovers and
    left nothing new, the score is at least 3, and at least the score from before.
    """
    left = {*after.leftovers}
    if not left < {*at_once.leftovers}:
        return after
    return after._replace(score=max(3, at_once.score, after.score))


def _is_rolled_forward(seen: ObservedState) -> bool:
    if seen.final is None or seen.held:
        return False
    return not changed(seen.final, seen.now) - _there_for_records(seen)


def _naming(claims: list[Claim], is_disproved: bool) -> tuple[str, ...]:
    """Return the records that name an object with an undo that counts, each once."""
    counting = [claim.record for claim in claims if claim.is_manual or not is_disproved]
    return tuple(dict.fromkeys(counting))


def _is_manual(claims: list[Claim], is_disproved: bool) -> bool:
    return (
        bool(claims)
        and all(claim.is_manual or is_disproved for claim in claims)
        and any(claim.is_manual for claim in claims)
    )


def _score(
    named: dict[str, tuple[str, ...]], records: set[str], manual_count: int
) -> Literal[0, 3, 7]:
    """Return the score of the leftovers; a record that names only itself is not enough."""
    if all(named.values()):
        return 7 if manual_count <= MAX_MANUAL else 3
    return 3 if any(by for name, by in named.items() if name not in records) else 0
