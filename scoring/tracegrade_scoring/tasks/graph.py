"""A task's sub-goal graph: its faults, its variants, and which sub-goals each one depends on.

Pure: it knows no lake and no calls, and is asked once for each distinct graph. The check of task
files and the scores read graphs by the same functions.

Example: `decide: {any_of: [[refund], [escalate]]}` makes two variants, one without `escalate` and
one without `refund`.

Source: [Plan graph], "The plan graph" (nodes are sub-goals, edges are dependencies);
docs/metrics.md, section 4.3, for alternatives, which that text does not have.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import chain, islice
from typing import Final, NamedTuple

MAX_VARIANTS: Final = 256
"""More are a specification error; each is compared for each distinct outcome of the task."""


@dataclass(frozen=True)
class GraphNode:
    """One node of a task's graph."""

    deps: tuple[str, ...] = ()
    """Sub-goals that it requires."""
    any_of: tuple[tuple[str, ...], ...] = ()
    """Alternative paths in file order, each a list of sub-goals; empty if it offers none."""
    counted: bool = True
    """False for a node without `serves` and `success`: it only holds others together."""


Graph = Mapping[str, GraphNode]
"""Sub-goals by id, in file order."""


@dataclass(frozen=True)
class Variant:
    """A graph after one path was chosen for each of its groups."""

    nodes: frozenset[str]
    """The sub-goals in it, counted or not."""
    chosen: Mapping[str, int] = field(default_factory=dict)
    """Which path was chosen, from 0, by the sub-goal that offers it."""


class Fault(NamedTuple):
    """What makes a graph unusable."""

    fact: str
    """One clause."""
    way_out: str
    sub_goal: str | None = None
    """Where it shows; None: in the whole graph."""
    key: str | None = None
    """Which key of that sub-goal."""


def fault(graph: Graph) -> Fault | None:
    """Return the first thing that makes the graph unusable; None if nothing does."""
    return (
        _unknown_id(graph)
        or _cycle("deps", {name: node.deps for name, node in graph.items()})
        or _cycle("any_of", {name: tuple(_members(node)) for name, node in graph.items()})
        or _too_many(len(variants(graph)))
        or _cycle_of_a_variant(graph)
    )


def fault_of_any(graphs: Sequence[Graph]) -> Fault | None:
    """Return the first fault of the graphs of one task, or that of all of them together."""
    found = next((each for graph in graphs if (each := fault(graph))), None)
    return found or _too_many(sum(len(variants(graph)) for graph in graphs))


def variants(graph: Graph) -> list[Variant]:
    """Return every combination of one path per group, in file order; at most one too many.

    A group is asked only where its owner is in the variant. A sub-goal in no path is in each one.
    """
    members = set(chain.from_iterable(_members(node) for node in graph.values()))
    nodes = frozenset(name for name in graph if name not in members)
    found = islice(_choose(graph, nodes), MAX_VARIANTS + 1)
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


def _choose(graph: Graph, nodes: frozenset[str]) -> Iterator[Variant]:
    """Yield the ways to choose a path in each group of these sub-goals, and in groups inside."""
    stack = [(_groups(graph, nodes), Variant(nodes))]
    while stack:
        groups, variant = stack.pop()
        if not groups:
            yield variant
            continue
        owner, *rest = groups
        for number, path in enumerate(graph[owner].any_of):
            fresh = frozenset(path) - variant.nodes
            chosen = {**variant.chosen, owner: number}
            pending = [*rest, *_groups(graph, fresh)]
            stack.append((pending, Variant(variant.nodes | fresh, chosen)))


def _groups(graph: Graph, names: frozenset[str]) -> list[str]:
    """Return the sub-goals among `names` that offer a choice."""
    return [name for name in names if graph[name].any_of]


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


def _members(node: GraphNode) -> Iterable[str]:
    return chain.from_iterable(node.any_of)


def _unknown_id(graph: Graph) -> Fault | None:
    for name, node in graph.items():
        for other in (*node.deps, *_members(node)):
            if other not in graph:
                fact = f"sub-goal '{name}' names unknown sub-goal '{other}'"
                return Fault(fact, "declare it under 'sub_goals'", name)
    return None


def _cycle(key: str, edges: Mapping[str, Iterable[str]]) -> Fault | None:
    """Return the fault of one cycle, starting from its first sub-goal in the file."""
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        names = error.args[1][:0:-1]
        first = min(names, key=list(edges).index)
        start = names.index(first)
        walk = " -> ".join([*names[start:], *names[:start], first])
        fact = f"{key} of its sub-goals form a cycle: {walk}"
        return Fault(fact, "remove one of them", first, key)
    return None


def _too_many(count: int) -> Fault | None:
    if count > MAX_VARIANTS:
        return Fault(f"any_of gives more than {MAX_VARIANTS} variants", "split the task")
    return None


def _cycle_of_a_variant(graph: Graph) -> Fault | None:
    for variant in variants(graph):
        direct = prerequisites(graph, variant)
        if found := _cycle("deps", {name: sorted(deps) for name, deps in direct.items()}):
            return found
    return None
