"""A task's sub-goal graph: its faults, its variants, and which sub-goals each one depends on.

Pure: it knows no lake and no calls, and is asked once for each distinct graph.

Example: `decide: {any_of: [[refund], [escalate]]}` makes two variants, one without `escalate` and
one without `refund`.

Source: the Plan graph text, "The plan graph" (nodes are sub-goals, edges are dependencies);
metrics.md, section 4, for alternatives, which that text does not have.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import chain, islice

MAX_VARIANTS = 256  # each is compared for each distinct outcome of the task


@dataclass(frozen=True)
class SubGoal:
    """One node of a task's graph."""

    deps: tuple[str, ...] = ()
    """Sub-goals that it requires."""
    any_of: tuple[tuple[str, ...], ...] = ()
    """Alternative paths in file order, each a list of sub-goals; empty if it offers none."""
    counted: bool = True
    """False for a node without `serves` and `success`: it only holds others together."""


Graph = Mapping[str, SubGoal]
"""Sub-goals by id, in file order."""


@dataclass(frozen=True)
class Variant:
    """A graph after one path was chosen for each of its groups."""

    nodes: frozenset[str]
    """The sub-goals in it, counted or not."""
    chosen: Mapping[str, int] = field(default_factory=dict)
    """Which path was chosen, from 0, by the sub-goal that offers it."""


def fault(graph: Graph) -> str | None:
    """Return what makes the graph unusable, as one clause; None if nothing does."""
    return (
        _unknown_id(graph)
        or _cycle({name: node.deps for name, node in graph.items()})
        or _too_many_variants(graph)
        or _unreachable(graph)
        or _cycle_of_a_variant(graph)
    )


def variants(graph: Graph) -> list[Variant]:
    """Return every combination of one path per group, in file order; at most one too many.

    A group is asked only where its owner is in the variant. A sub-goal in no path is in each one.
    """
    members = set(chain.from_iterable(_members(node) for node in graph.values()))
    nodes = frozenset(name for name in graph if name not in members)
    found = islice(_choose(graph, list(nodes), Variant(nodes)), MAX_VARIANTS + 1)
    return sorted(found, key=lambda v: [v.chosen.get(name, 0) for name in graph])


def prerequisites(graph: Graph, variant: Variant) -> dict[str, frozenset[str]]:
    """Return the direct prerequisites of each counted sub-goal of a variant, counted ones only.

    An uncounted prerequisite stands for its own ones and for the members of the path chosen for
    it: who depends on a choice depends on what was chosen.
    """
    counted = (name for name in graph if name in variant.nodes and graph[name].counted)
    return {name: frozenset(_resolve(graph, variant, name)) for name in counted}


def ancestors(direct: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """Return all prerequisites, direct or not, of each sub-goal of an acyclic relation."""
    found: dict[str, frozenset[str]] = {}
    for name in TopologicalSorter(direct).static_order():
        found[name] = direct[name].union(*(found[dep] for dep in direct[name]))
    return found


def _choose(graph: Graph, pending: list[str], variant: Variant) -> Iterator[Variant]:
    """Yield the ways to complete a variant whose `pending` sub-goals were not yet looked at."""
    if not pending:
        yield variant
        return
    owner, *rest = pending
    if not graph[owner].any_of:
        yield from _choose(graph, rest, variant)
    for number, path in enumerate(graph[owner].any_of):
        fresh = [name for name in dict.fromkeys(path) if name not in variant.nodes]
        chosen = {**variant.chosen, owner: number}
        yield from _choose(graph, rest + fresh, Variant(variant.nodes.union(fresh), chosen))


def _path(graph: Graph, variant: Variant, owner: str) -> tuple[str, ...]:
    """Return the path chosen for a sub-goal, () if it offers none."""
    return graph[owner].any_of[variant.chosen[owner]] if owner in variant.chosen else ()


def _resolve(graph: Graph, variant: Variant, name: str) -> Iterator[str]:
    """Yield the counted sub-goals that `name` directly requires; itself only within a cycle."""
    seen: set[str] = set()
    pending = list(graph[name].deps)
    while pending:
        dep = pending.pop()
        if dep in seen or dep not in variant.nodes:
            continue
        seen.add(dep)
        if graph[dep].counted:
            yield dep
            continue
        pending.extend(graph[dep].deps)
        if name not in _below(graph, variant, dep):
            pending.extend(_path(graph, variant, dep))


def _below(graph: Graph, variant: Variant, owner: str) -> set[str]:
    """Return all sub-goals that are in the variant by choices made for `owner`, or below them."""
    below: set[str] = set()
    pending = [owner]
    while pending:
        fresh = set(_path(graph, variant, pending.pop())) - below
        below |= fresh
        pending.extend(fresh)
    return below


def _members(node: SubGoal) -> Iterable[str]:
    return chain.from_iterable(node.any_of)


def _unknown_id(graph: Graph) -> str | None:
    for name, node in graph.items():
        for other in (*node.deps, *_members(node)):
            if other not in graph:
                return f"sub-goal '{name}' names unknown sub-goal '{other}'"
    return None


def _cycle(deps: Mapping[str, Iterable[str]]) -> str | None:
    try:
        TopologicalSorter(deps).prepare()
    except CycleError as error:
        return f"its sub-goals depend on one another: {' > '.join(reversed(error.args[1]))}"
    return None


def _too_many_variants(graph: Graph) -> str | None:
    if len(variants(graph)) > MAX_VARIANTS:
        return f"any_of makes more than {MAX_VARIANTS} variants"
    return None


def _unreachable(graph: Graph) -> str | None:
    reached = frozenset[str]().union(*(variant.nodes for variant in variants(graph)))
    lost = next((name for name in graph if name not in reached), None)
    return lost and f"sub-goal '{lost}' is in no variant: it stands only below itself"


def _cycle_of_a_variant(graph: Graph) -> str | None:
    for variant in variants(graph):
        direct = prerequisites(graph, variant)
        if found := _cycle({name: sorted(deps) for name, deps in direct.items()}):
            return found
    return None
