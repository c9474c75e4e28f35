"""A task's sub-goal graph: its faults, its variants, and which sub-goals each one depends on.

Pure: it knows no lake and no calls, and is asked once for each distinct graph.

Example: `decide: {any_of: [[refund], [escalate]]}` makes two variants, one without `escalate` and
one without `refund`.

Source: the Plan graph text, "The plan graph" (nodes are sub-goals, edges are dependencies); it has
no alternatives, these are ours.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import islice

MAX_VARIANTS = 256  # each is compared for each distinct outcome of the task

Path = tuple[str, ...]
Group = tuple[Path, ...]


@dataclass(frozen=True)
class SubGoal:
    """One node of a task's graph."""

    deps: tuple[str, ...] = ()
    """Sub-goals that it requires."""
    groups: tuple[Group, ...] = ()
    """For each `any_of`, its paths in file order, each a list of sub-goals."""
    counted: bool = True
    """False for a node without `serves` and `success`: it only holds others together."""


Graph = Mapping[str, SubGoal]
"""Sub-goals by id, in file order."""


@dataclass(frozen=True)
class Variant:
    """A graph after one path was chosen for each of its groups."""

    nodes: frozenset[str]
    """The sub-goals in it, counted or not."""
    chosen: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The members of the chosen paths, by the sub-goal that owns the groups."""


def fault(graph: Graph) -> str | None:
    """Return what makes the graph unusable, as one clause; None if nothing does."""
    return (
        _unknown_id(graph)
        or _cycle({name: node.deps for name, node in graph.items()})
        or _too_many_variants(graph)
        or _unreachable(graph)
        or _cycle_of_a_variant(graph)
    )


def variants(graph: Graph) -> Iterator[Variant]:
    """Yield every combination of one path per group, in file order.

    A group is asked only where its owner is in the variant. A sub-goal in no path is in each one.
    """
    members = {name for node in graph.values() for name in _members(node)}
    nodes = tuple(name for name in graph if name not in members)
    yield from _choose(graph, _groups(graph, nodes), Variant(frozenset(nodes)))


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


def _choose(graph: Graph, pending: list[tuple[str, Group]], variant: Variant) -> Iterator[Variant]:
    if not pending:
        yield variant
        return
    (owner, group), *rest = pending
    for path in group:
        fresh = tuple(name for name in path if name not in variant.nodes)
        chosen = {**variant.chosen, owner: variant.chosen.get(owner, ()) + path}
        nested = _groups(graph, fresh)
        yield from _choose(graph, nested + rest, Variant(variant.nodes.union(fresh), chosen))


def _groups(graph: Graph, nodes: tuple[str, ...]) -> list[tuple[str, Group]]:
    return [(name, group) for name in nodes for group in graph[name].groups]


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
        members = variant.chosen.get(dep, ())
        if name not in _inside(variant, dep):
            pending.extend(members)


def _members(node: SubGoal) -> list[str]:
    return [name for group in node.groups for path in group for name in path]


def _inside(variant: Variant, owner: str) -> set[str]:
    """Return all sub-goals that are in the variant by choices made for `owner`, or below them."""
    inside: set[str] = set()
    pending = [owner]
    while pending:
        fresh = set(variant.chosen.get(pending.pop(), ())) - inside
        inside |= fresh
        pending.extend(fresh)
    return inside


def _unknown_id(graph: Graph) -> str | None:
    for name, node in graph.items():
        for dep in node.deps:
            if dep not in graph:
                return f"sub-goal '{name}' depends on unknown sub-goal '{dep}'"
        for member in _members(node):
            if member not in graph:
                return f"any_of of sub-goal '{name}' names unknown sub-goal '{member}'"
    return None


def _cycle(deps: Mapping[str, tuple[str, ...]]) -> str | None:
    try:
        TopologicalSorter(deps).prepare()
    except CycleError as error:
        return f"sub-goals depend on one another: {' > '.join(reversed(error.args[1]))}"
    return None


def _too_many_variants(graph: Graph) -> str | None:
    found = sum(1 for _ in islice(variants(graph), MAX_VARIANTS + 1))
    return (
        f"any_of groups make more than {MAX_VARIANTS} variants" if found > MAX_VARIANTS else None
    )


def _unreachable(graph: Graph) -> str | None:
    reached = frozenset[str]().union(*(variant.nodes for variant in variants(graph)))
    lost = next((name for name in graph if name not in reached), None)
    return lost and f"sub-goal '{lost}' is in no variant: it stands only below itself"


def _cycle_of_a_variant(graph: Graph) -> str | None:
    for variant in variants(graph):
        direct = prerequisites(graph, variant)
        if found := _cycle({name: tuple(sorted(deps)) for name, deps in direct.items()}):
            return found
    return None
