"""Compares two states, and finds the objects that lock rules count as held."""

from typing import NamedTuple

from tracegrade_harness.parts.globs import Globs
from tracegrade_harness.parts.state import State


class StateDifference(NamedTuple):
    """Names of objects, sorted."""

    added: list[str]
    changed: list[str]
    removed: list[str]

    @property
    def names(self) -> list[str]:
        """Sorted names of every kind of change."""
        return sorted([*self.added, *self.changed, *self.removed])


def diff(before: State, after: State) -> StateDifference:
    """Return the added, changed and removed objects of `after`."""
    return StateDifference(
        added=sorted(after.keys() - before.keys()),
        changed=sorted(
            name for name in after.keys() & before.keys() if after[name] != before[name]
        ),
        removed=sorted(before.keys() - after.keys()),
    )


def held_by_rule(difference: StateDifference, locks: Globs) -> list[str]:
    """Return the objects, sorted, that are new or changed and that a lock rule matches."""
    there = sorted([*difference.added, *difference.changed])
    return [name for name in there if locks.rule(name) is not None]
