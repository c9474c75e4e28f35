"""The graph of sub-goals that a task describes: its variants, and whether it can be used."""

from collections.abc import Callable, Iterable, Mapping
from itertools import chain, product
from typing import Any

Goals = Mapping[str, Mapping[str, Any]]
Variant = tuple[frozenset[str], Mapping[str, int]]


class Graph:
    """A task's sub-goals: `goals` is the mapping `sub_goals` of a task file."""

    def __init__(self, goals: Goals, judged: Iterable[str] = ()) -> None:
        self.goals = goals
        self.counted = [
            n for n, g in goals.items() if g.get("serves") or g.get("success") or n in judged
        ]
        members = [other for name in goals for other in self._members(name)]
        self.variants = [] if self._loose(self._members, members) else self._variants()

    def without_variants(self) -> bool:
        """Return whether it is not known which variants there are."""
        return not 0 < len(self.variants) <= 256

    def without_order(self) -> bool:
        """Return whether it is not known what depends on what."""
        deps = [other for name in self.goals for other in self._deps(name)]
        return self._loose(self._deps, deps) or any(map(self._cyclic, self.variants))

    def _loose(self, edges: Callable[[str], list[str]], named: Iterable[str]) -> bool:
        """Return whether edges lead to what is not there, or back to where they began."""
        if any(other not in self.goals for other in named):
            return True
        return any(name in self._closure(name, edges) for name in self.goals)

    def _members(self, name: str) -> list[str]:
        return list(chain(*self.goals[name].get("any_of", [])))

    def _deps(self, name: str) -> list[str]:
        return list(self.goals[name].get("deps", []))

    @staticmethod
    def _closure(name: str, edges: Callable[[str], Iterable[str]]) -> set[str]:
        found: set[str] = set()
        new = set(edges(name))
        while new:
            found |= new
            new = {other for known in new for other in edges(known)} - found
        return found

    def _cyclic(self, variant: Variant) -> bool:
        return any(name in self.ancestors(name, variant) for name in variant[0])

    def _variants(self) -> list[Variant]:
        paths = {name: goal.get("any_of", []) for name, goal in self.goals.items()}
        inside = {name for group in paths.values() for path in group for name in path}
        owners = [name for name, group in paths.items() if group]
        found: list[Variant] = []
        for choice in product(*(range(len(paths[owner])) for owner in owners)):
            chosen = dict(zip(owners, choice, strict=True))
            nodes = {name for name in self.goals if name not in inside}
            for _ in self.goals:
                nodes |= {m for o in owners if o in nodes for m in paths[o][chosen[o]]}
            active = {owner: chosen[owner] for owner in owners if owner in nodes}
            if (frozenset(nodes), active) not in found:
                found.append((frozenset(nodes), active))
        return found

    def chosen(self, name: str, variant: Variant) -> list[str]:
        """Return the members of the path chosen for a sub-goal."""
        active = variant[1]
        return list(self.goals[name]["any_of"][active[name]]) if name in active else []

    def direct(self, name: str, variant: Variant) -> set[str]:
        """Return the counted sub-goals that one directly requires in a variant."""

        def behind(other: str) -> list[str]:
            if other not in variant[0] or other in self.counted:
                return []
            below = self._closure(other, lambda o: self.chosen(o, variant))
            members = [] if name in below else self.chosen(other, variant)
            return [*self._deps(other), *members]

        reached = set(self._deps(name))
        for _ in self.goals:
            reached |= {further for other in reached for further in behind(other)}
        return {other for other in reached if other in self.counted and other in variant[0]}

    def ancestors(self, name: str, variant: Variant) -> set[str]:
        """Return all counted sub-goals that one requires in a variant."""
        return self._closure(name, lambda other: self.direct(other, variant))


def graphs_of(task: Mapping[str, Any], judged: Iterable[str]) -> list[Graph]:
    """Return the plan graphs of a task: those that it names, else that of its sub-goals."""
    goals = task["sub_goals"]
    if not task.get("graphs"):
        return [Graph(goals, judged)]
    return [
        Graph({name: {**goals[name], **nodes[name]} for name in goals if name in nodes}, judged)
        for nodes in task["graphs"].values()
    ]
