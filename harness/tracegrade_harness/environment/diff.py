"""What changed between two states, and which of it rules hide or call held."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from tracegrade_harness.environment.globs import Globs
from tracegrade_harness.environment.part import State


class StateDifference(NamedTuple):
    """Names of objects, sorted."""

    added: list[str]
    changed: list[str]
    removed: list[str]

    @property
    def names(self) -> list[str]:
        """All of them, sorted."""
        return sorted([*self.added, *self.changed, *self.removed])


class VisibleChanges(NamedTuple):
    """What ignore rules leave of a difference."""

    difference: StateDifference
    ignored: dict[str, int]
    """Rule → how many objects it hid; rules that hid nothing are left out."""


class HeldByRule(NamedTuple):
    """Objects that are held because a lock rule says so."""

    names: list[str]
    """Sorted."""
    rules: dict[str, int]
    """Rule → how many objects it calls held; rules that matched nothing are left out."""


def diff(before: State, after: State) -> StateDifference:
    """Return what is new, other and gone in `after`."""
    return StateDifference(
        added=sorted(after.keys() - before.keys()),
        changed=sorted(
            name for name in after.keys() & before.keys() if after[name] != before[name]
        ),
        removed=sorted(before.keys() - after.keys()),
    )


def hide(difference: StateDifference, ignore: Globs) -> VisibleChanges:
    """Return a difference without the objects that rules ignore, and how many each rule hid."""
    rules = {name: rule for name in difference.names if (rule := ignore.rule(name)) is not None}
    shown = StateDifference(
        *([name for name in names if name not in rules] for names in difference)
    )
    return VisibleChanges(shown, _counts(rules))


def held_by_rule(difference: StateDifference, locks: Globs) -> HeldByRule:
    """Return the objects that are new or changed and that a lock rule matches."""
    there = sorted([*difference.added, *difference.changed])
    rules = {name: rule for name in there if (rule := locks.rule(name)) is not None}
    return HeldByRule(list(rules), _counts(rules))


def _counts(rules: Mapping[str, str]) -> dict[str, int]:
    return dict(sorted(Counter(rules.values()).items()))
