"""A task's sub-goal graph: its faults, its variants, and which sub-goals each one depends on.

Pure: it reads neither a lake nor calls, and runs once for each distinct graph. The check of task
files and the scores read graphs by the same functions.

Example: `decide: {any_of: [[refund], [escalate]]}` makes two variants, one without `escalate` and
one without `refund`.

Source: [Plan graph], "The plan graph" (nodes are sub-goals, edges are dependencies);
docs/metrics.md, section 4.3, for alternatives, which that text does not have.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
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
    """False for a node that nothing serves, tells or judges: it only holds others together."""


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
    """One thing that makes a graph unusable, as a whole or in part."""

    fact: str
    """One clause."""
    way_out: str
    in_variants: bool
    """Whether it leaves open which variants there are; else only what depends on what."""
    path: tuple[str | int, ...] = ()
    """Keys from the graph to where it shows; () for the whole graph."""
    unknown: str | None = None
    """The sub-goal that it names and does not have."""


def faults(graphs: Sequence[Graph]) -> list[list[Fault]]:
    """Return all faults of each graph of a task, in file order.

    It names each cycle that a walk along the edges in file order closes: without their last edges
    there would be no cycle. Too many variants over all graphs together are a fault of the last
    graph.
    """
    found = [_faults(graph) for graph in graphs]
    if graphs and not any(fault.in_variants for each in found for fault in each):
        found[-1] += _too_many(sum(len(variants(graph)) for graph in graphs))
    return found


def _faults(graph: Graph) -> list[Fault]:
    edges = {name: [dep for dep in node.deps if dep in graph] for name, node in graph.items()}
    members = {
        name: [member for member in _members(node) if member in graph]
        for name, node in graph.items()
    }
    found = [*_unknown_ids(graph), *_cycles("deps", edges), *_cycles("any_of", members)]
    if not any(fault.in_variants for fault in found):
        found += _too_many(len(variants(graph)))
    return found or _cycles_of_variants(graph)


def variants(graph: Graph) -> list[Variant]:
    """Return every combination of one path per group, in file order; at most one too many.

    A group counts only if its owner is in the variant. A sub-goal in no path is in each one.
    """
    members = set(chain.from_iterable(_members(node) for node in graph.values()))
    nodes = frozenset(name for name in graph if name not in members)
    found = islice(_choose(graph, nodes), MAX_VARIANTS + 1)
    return sorted(found, key=lambda v: [v.chosen.get(name, 0) for name in graph])


def prerequisites(graph: Graph, variant: Variant) -> dict[str, frozenset[str]]:
    """Return the direct prerequisites of each counted sub-goal of a variant, counted ones only.

    An uncounted prerequisite is replaced by its own prerequisites and by the members of the path
    chosen for it: a sub-goal that depends on a choice depends on the chosen path.
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
    visited: set[str] = set()
    pending = list(graph[name].deps)
    while pending:
        dep = pending.pop()
        if dep in visited or dep not in variant.nodes:
            continue
        visited.add(dep)
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


def _unknown_ids(graph: Graph) -> Iterator[Fault]:
    for name, node in graph.items():
        for i, dep in enumerate(node.deps):
            if dep not in graph:
                yield _unknown(dep, (name, "deps", i), in_variants=False)
        for i, path in enumerate(node.any_of):
            for j, member in enumerate(path):
                if member not in graph:
                    yield _unknown(member, (name, "any_of", i, j), in_variants=True)


def _unknown(other: str, path: tuple[str | int, ...], *, in_variants: bool) -> Fault:
    fact = f"sub-goal '{path[0]}' names unknown sub-goal '{other}'"
    return Fault(fact, "declare it under 'sub_goals'", in_variants, path, other)


def _cycles(key: str, edges: Mapping[str, Iterable[str]]) -> Iterator[Fault]:
    """Yield the cycles that a walk along the edges closes, each from its first in the file."""
    places = {name: path for path, name in enumerate(edges)}
    for walk in _closed_walks(edges):
        start = walk.index(min(walk, key=places.__getitem__))
        shown = " -> ".join([*walk[start:], *walk[:start], walk[start]])
        fact = f"{key} of its sub-goals form a cycle: {shown}"
        yield Fault(fact, "remove one of them", key == "any_of", (walk[start], key))


def _closed_walks(edges: Mapping[str, Iterable[str]]) -> Iterator[list[str]]:
    """Yield the nodes of one cycle for each edge that leads back to where a walk came from."""
    done: set[str] = set()
    for root in edges:
        walk = {root: iter(() if root in done else edges[root])}
        while walk:
            name = next(reversed(walk))
            following = next(walk[name], None)
            if following is None:
                del walk[name]
                done.add(name)
            elif following in walk:
                names = list(walk)
                yield names[names.index(following) :]
            elif following not in done:
                walk[following] = iter(edges[following])


def _too_many(count: int) -> list[Fault]:
    if count <= MAX_VARIANTS:
        return []
    return [Fault(f"any_of gives more than {MAX_VARIANTS} variants", "split the task", True)]


def _cycles_of_variants(graph: Graph) -> list[Fault]:
    """Return the cycles that close only over sub-goals that are not counted, each once."""
    direct = (prerequisites(graph, variant) for variant in variants(graph))
    found = (
        cycle
        for deps in direct
        for cycle in _cycles("deps", {name: sorted(deps[name]) for name in deps})
    )
    return list(dict.fromkeys(found))
