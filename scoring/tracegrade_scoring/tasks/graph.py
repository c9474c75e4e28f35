"""What can be wrong with a task's sub-goal graph: cycles, and too many variants.

A variant is one choice of a path for every `any_of` group (metrics.md, section 4).
"""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Final

from tracegrade_scoring.tasks.model import SubGoal

MAX_VARIANTS: Final = 256
"""More are a specification error (metrics.md, section 4)."""


def dependency_cycle(sub_goals: Mapping[str, SubGoal]) -> list[str]:
    """Return the sub-goals of one cycle of `deps`, the first one again at the end; [] if none."""
    return _cycle({name: sub_goal.deps for name, sub_goal in sub_goals.items()})


def nesting_cycle(sub_goals: Mapping[str, SubGoal]) -> list[str]:
    """Return the sub-goals of one cycle of `any_of` groups inside one another; [] if none."""
    members = {
        name: [member for path in sub_goal.any_of for member in path]
        for name, sub_goal in sub_goals.items()
    }
    return _cycle(members)


def _cycle(edges: Mapping[str, Sequence[str]]) -> list[str]:
    """Return one cycle in file order by removing, again and again, what leads nowhere."""
    left = dict(edges)
    while leaves := [name for name in left if not any(to in left for to in left[name])]:
        for name in leaves:
            del left[name]
    if not left:
        return []
    walk = [next(iter(left))]
    while walk[-1] not in walk[:-1]:
        walk.append(next(to for to in left[walk[-1]] if to in left))
    return walk[walk.index(walk[-1]) :]


def count_variants(sub_goals: Mapping[str, SubGoal]) -> int:
    """Return the number of combinations of one path per group; the nesting must have no cycle."""
    inside = {m for sub_goal in sub_goals.values() for path in sub_goal.any_of for m in path}

    def choices(name: str) -> int:
        paths = sub_goals[name].any_of if name in sub_goals else []
        return sum(prod(map(choices, path)) for path in paths) if paths else 1

    return prod(choices(name) for name in sub_goals if name not in inside)
