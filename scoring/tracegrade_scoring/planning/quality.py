"""How good a plan is, by four questions that need nothing but the plan and its task.

Source: Triangle, "Axis 2: Planning Quality"; metrics.md, section 5. Each question has its parts
kept and all parts; without any part it is met, and a plan that does not say enough is no answer.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from tracegrade_scoring.planning.reading import PlannedStep

CHANGES: Final = frozenset({"write", "destructive"})

_CAN_FAIL: Final = re.compile(
    r"\b(?:api|call|create|delete|download|fetch|parse|query|request|search|send|update|upload|"
    r"write)(?:s|es|d|ed|ing)?\b",
    re.I,
)


class Part(NamedTuple):
    """The answer to one question."""

    kept: float
    total: int
    fault: str | None = None
    """Why there is no answer; else None."""


class Quality(NamedTuple):
    """The four answers."""

    dependency_ordering: Part
    branch_coverage: Part
    scope_control: Part
    reversibility: Part


@dataclass(frozen=True)
class Objective:
    """What a task says that its plan must be held to."""

    tools: frozenset[str]
    """Tools inside the objective: in scope, or serving a sub-goal."""
    sub_goals: frozenset[str]
    known_tools: frozenset[str]
    """Every tool that a step's text may name."""
    effects: Mapping[str, str]
    given: frozenset[str] = frozenset()
    """Inputs that the task gives."""
    can_fail: frozenset[str] | None = None
    """Tools and ids of steps that can fail, where the task says which."""

    @property
    def is_stated(self) -> bool:
        """Whether anything says what is inside."""
        return bool(self.tools or self.sub_goals)

    @cached_property
    def names(self) -> re.Pattern[str] | None:
        """Finds the name of a known tool in a text; the longest, where one begins another."""
        names = sorted(self.known_tools, key=lambda name: (-len(name), name))
        return (
            re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)") if names else None
        )

    def tool_of(self, step: PlannedStep) -> str | None:
        """Return the step's tool: as declared, else the first that its text names."""
        if step.tool is not None or self.names is None:
            return step.tool
        found = self.names.search(step.text)
        return found and found[0]

    def effect_of(self, step: PlannedStep) -> str | None:
        """Return what the step does to the world: by the registry, else as the plan says."""
        return self.effects.get(self.tool_of(step) or "", step.effect)

    def holds(self, step: PlannedStep) -> bool | None:
        """Return whether the step is inside the objective; None if nothing in it can tell."""
        if step.id in self.sub_goals:
            return True
        tool = self.tool_of(step)
        return None if tool is None else tool in self.tools


def judge(steps: Sequence[PlannedStep], objective: Objective) -> Quality:
    """Return the four answers for a plan of at least one step."""
    return Quality(
        _dependency_ordering(steps, objective.given),
        _branch_coverage(steps, objective),
        _scope_control(steps, objective),
        _reversibility(steps, objective),
    )


def _dependency_ordering(steps: Sequence[PlannedStep], given: Collection[str]) -> Part:
    """Forward edges / (edges + inputs that nothing produces)."""
    if all(step.inputs is None and step.outputs is None for step in steps):
        return Part(0, 0, "no_inputs_declared")
    edges, unproduced = [], 0
    for place, step in enumerate(steps):
        for wanted in dict.fromkeys(step.inputs or ()):
            if wanted in given:
                continue
            producer = _producer(steps, place, wanted)
            if producer is None:
                unproduced += 1
            else:
                edges.append((producer, place))
    return Part(len(_forward(edges)), len(edges) + unproduced)


def _producer(steps: Sequence[PlannedStep], place: int, wanted: str) -> int | None:
    """Return the nearest earlier step with that output, else the first later one."""
    places = [i for i, step in enumerate(steps) if wanted in (step.outputs or ())]
    earlier = [i for i in places if i < place]
    return earlier[-1] if earlier else next(iter(places), None)


def _forward(edges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the edges from an earlier step to a later one that no cycle holds."""
    if all(start < end for start, end in edges):
        return list(edges)
    after: dict[int, set[int]] = {}
    for start, end in edges:
        after.setdefault(start, set()).add(end)
    return [(s, e) for s, e in edges if s < e and s not in _reached(after, e)]


def _reached(after: Mapping[int, set[int]], start: int) -> set[int]:
    found: set[int] = set()
    new = {start}
    while new:
        found |= new
        new = {end for place in new for end in after.get(place, ())} - found
    return found


def _branch_coverage(steps: Sequence[PlannedStep], objective: Objective) -> Part:
    """Steps with a failure branch / steps that can fail."""
    risky = [step for step in steps if _can_fail(step, objective)]
    return Part(sum(step.branch for step in risky), len(risky))


def _can_fail(step: PlannedStep, objective: Objective) -> bool:
    tool = objective.tool_of(step)
    if objective.can_fail is not None:
        return tool in objective.can_fail or step.id in objective.can_fail
    changes = objective.effect_of(step) in CHANGES
    return tool is not None or changes or _CAN_FAIL.search(step.text) is not None


def _scope_control(steps: Sequence[PlannedStep], objective: Objective) -> Part:
    """Steps not outside the objective / steps."""
    if not objective.is_stated:
        return Part(0, 0, "no_scope")
    held = [objective.holds(step) for step in steps]
    if all(inside is None for inside in held):
        return Part(0, 0, "no_tools_planned")
    return Part(sum(inside is not False for inside in held), len(steps))


def _reversibility(steps: Sequence[PlannedStep], objective: Objective) -> Part:
    """Marks of steps that change something: 1 with a way back, a half without."""
    changing = list(_changes_inside(steps, objective))
    marks = sum(1.0 if step.rollback else 0.5 if step.marked else 0.0 for step in changing)
    return Part(marks, len(changing))


def _changes_inside(steps: Sequence[PlannedStep], objective: Objective) -> Iterator[PlannedStep]:
    for step in steps:
        outside = objective.is_stated and objective.holds(step) is False
        if objective.effect_of(step) in CHANGES and not outside:
            yield step
