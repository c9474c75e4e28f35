"""Counts how many expected calls find a call of a fitting tool, each call used once.

Pure, and asked once for each distinct task and bag of tools used. Where each expectation names one
tool, the answer is the sum over names of the smaller count; tools that are accepted in place of
another make it a matching. Source: metrics.md, section 2, s1.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tracegrade_scoring.tasks.model import Expected, Task, Tool


class Use(NamedTuple):
    """A tool that was used."""

    tool: str | None
    effect: str | None
    calls: int


class Overlap(NamedTuple):
    """Calls in common, and what they are counted against."""

    matched: int
    total: int
    """Expected and made calls together; only the expected ones where other calls are free."""


def overlap(task: Task, uses: Sequence[Use], tools: Mapping[str, Tool]) -> Overlap:
    """Return the overlap of a task's expected calls with the tools used."""
    expected = [point for point in task.expected or () if _is_kept(point, task, tools)]
    matched = match(expected, uses)
    if task.expected_complete is False:
        return Overlap(matched, len(expected))
    return Overlap(matched, len(expected) + sum(use.calls for use in uses) - matched)


def _is_kept(point: Expected, task: Task, tools: Mapping[str, Tool]) -> bool:
    if task.expected_complete != "writes":
        return True
    registered = tools.get(point.tool or "")
    return (point.effect or (registered and registered.effect)) != "read"


def match(expected: Sequence[Expected], uses: Sequence[Use]) -> int:
    """Return the size of the largest matching of expectations with calls."""
    fitting = [[i for i, use in enumerate(uses) if fits(point, use)] for point in expected]
    taken: list[list[int]] = [[] for _ in uses]
    return sum(_place(point, fitting, taken, uses, set()) for point in range(len(expected)))


def fits(point: Expected, use: Use) -> bool:
    """Return whether a call of this tool is one that the expectation accepts."""
    if point.tool is None:
        return use.tool in point.accept or use.effect == point.effect
    return use.tool == point.tool or use.tool in point.accept


def _place(
    point: int,
    fitting: Sequence[Sequence[int]],
    taken: Sequence[list[int]],
    uses: Sequence[Use],
    tried: set[int],
) -> bool:
    """Give the expectation a call, moving others to another tool if need be (augmenting path)."""
    for i in fitting[point]:
        if i in tried:
            continue
        tried.add(i)
        if len(taken[i]) < uses[i].calls:
            taken[i].append(point)
            return True
        for place, holder in enumerate(taken[i]):
            if _place(holder, fitting, taken, uses, tried):
                taken[i][place] = point
                return True
    return False
