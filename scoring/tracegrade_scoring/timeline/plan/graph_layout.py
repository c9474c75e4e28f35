"""Positions of a graph's boxes and lines, from graphviz; `graph_picture` draws them.

Only numbers are passed to graphviz, with boxes named n0 to n59, so no text of a trace reaches it.
It is not thread-safe, so one layout is made at a time, and each is cached.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, NamedTuple

MOST_BOXES: Final = 60
"""Boxes of a graph that is still readable."""
CACHED_LAYOUTS: Final = 512
"""One for each shape: runs of a task mostly have the same."""
INCH: Final = 72
"""Units of a length in graphviz."""
_ONE_AT_A_TIME = threading.Lock()


class GraphShape(NamedTuple):
    """The whole input of a layout."""

    width: int
    """Width of each box."""
    heights: tuple[int, ...]
    """Height of each box, by its number."""
    edges: tuple[tuple[int, int], ...]
    """From and to which box a line leads."""


class PlacedLine(NamedTuple):
    """A line from the right side of one box to the left side of another."""

    begin: int
    end: int
    points: tuple[tuple[float, float], ...]
    """Points of a chain of cubic Bézier curves: the start, then three for each curve."""
    tip: tuple[float, float]
    """End of its arrow."""


class GraphLayout(NamedTuple):
    """The positions of boxes and lines, from the upper left corner."""

    width: float
    height: float
    corners: tuple[tuple[float, float], ...]
    """The upper left one of each box."""
    lines: tuple[PlacedLine, ...]


def has_graphviz() -> bool:
    """Return whether graphviz is installed: it is not available for every system."""
    return find_spec("pygraphviz") is not None


@lru_cache(CACHED_LAYOUTS)
def placed(shape: GraphShape) -> GraphLayout:
    """Return a layout from left to right in which no line goes through a box.

    Args:
        shape: At most `MOST_BOXES` boxes.
    """
    with _ONE_AT_A_TIME:
        graph = _laid_out(shape)
        height = float(graph.graph_attr["bb"].split(",")[3])
        width = float(graph.graph_attr["bb"].split(",")[2])
        corners = []
        for number, tall in enumerate(shape.heights):
            x, y = _point(graph.get_node(f"n{number}").attr["pos"])
            corners.append((x - shape.width / 2, height - y - tall / 2))
        lines = [
            _line(begin, end, graph.get_edge(f"n{begin}", f"n{end}").attr["pos"], height)
            for begin, end in shape.edges
        ]
        return GraphLayout(width, height, tuple(corners), tuple(lines))


def _laid_out(shape: GraphShape) -> Any:
    graph = import_module("pygraphviz").AGraph(
        directed=True, strict=True, rankdir="LR", nodesep="0.2", ranksep="0.5", splines="true"
    )
    graph.node_attr.update(shape="box", fixedsize="true", label="", width=shape.width / INCH)
    for number, tall in enumerate(shape.heights):
        graph.add_node(f"n{number}", height=tall / INCH)
    for begin, end in shape.edges:
        graph.add_edge(f"n{begin}", f"n{end}", tailport="e", headport="w")
    graph.layout("dot")
    return graph


def _point(text: str) -> tuple[float, float]:
    x, y = text.split(",")
    return float(x), float(y)


def _line(begin: int, end: int, position: str, height: float) -> PlacedLine:
    """Return a line out of graphviz's text, which counts from below: `e,x,y x,y x,y …`."""
    tip, *points = ((x, height - y) for x, y in map(_point, position.removeprefix("e,").split()))
    return PlacedLine(begin, end, tuple(points), tip)


def reduced_edges(deps: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """Return each prerequisite with what directly needs it: those implied by others are left out.

    Args:
        deps: The prerequisites of each sub-goal. Prerequisites that are not keys are left out, and
            so is the edge that closes a circle.
    """
    known = {name: [dep for dep in deps[name] if dep in deps and dep != name] for name in deps}
    direct = {name: [*dict.fromkeys(_open(name, known))] for name in known}
    below: dict[str, set[str]] = {}
    for name in direct:
        _collect(name, direct, below)
    return [
        (dep, name)
        for name in direct
        for dep in direct[name]
        if not any(dep in below[other] for other in direct[name] if other != dep)
    ]


def _open(name: str, known: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the prerequisites that do not close a circle with later ones."""
    order = {each: place for place, each in enumerate(known)}
    for dep in known[name]:
        if not _leads_to(dep, name, known) or order[dep] < order[name]:
            yield dep


def _leads_to(begin: str, end: str, known: Mapping[str, Sequence[str]]) -> bool:
    seen, rest = {begin}, [begin]
    while rest:
        for dep in known[rest.pop()]:
            if dep == end:
                return True
            if dep not in seen:
                seen.add(dep)
                rest.append(dep)
    return False


def _collect(
    name: str, direct: Mapping[str, Sequence[str]], below: dict[str, set[str]]
) -> set[str]:
    """Return what must be done before a box, and note it for all on the way."""
    if name not in below:
        found: set[str] = set()
        for dep in direct[name]:
            found |= {dep} | _collect(dep, direct, below)
        below[name] = found
    return below[name]
