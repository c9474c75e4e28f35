"""Rates a plan by four questions that need nothing but the plan and its task.

Source: [Triangle], "Axis 2: Planning Quality"; docs/metrics.md, section 5.2. Each question has its
parts met and all parts; without any part it is met. A plan without enough detail has no answer.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from tracegrade_scoring.scorers.planning.reading import PlannedStep

CHANGES: Final = frozenset({"write", "destructive"})

_CAN_FAIL: Final = re.compile(
    r"\b(?:api|call|create|delete|download|fetch|parse|query|request|search|send|update|upload|"
    r"write)(?:s|es|d|ed|ing)?\b",
    re.I,
)


class Answer(NamedTuple):
    """The answer to one question."""

    met: float
    total: int
    fault: str | None = None
    """Why there is no answer; else None."""


class Quality(NamedTuple):
    """The four answers."""

    dependency_ordering: Answer
    branch_coverage: Answer
    scope_control: Answer
    reversibility: Answer


@dataclass(frozen=True)
class Objective:
    """The conditions of a task for its plan."""

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

    def know(self, step: PlannedStep) -> "KnownStep":
        """Return the step with what is known about it here."""
        tool = step.tool
        if tool is None and self.names is not None and (found := self.names.search(step.text)):
            tool = found[0]
        inside = (
            True if step.id in self.sub_goals else None if tool is None else tool in self.tools
        )
        return KnownStep(step, tool, self.effects.get(tool or "", step.effect) in CHANGES, inside)


class KnownStep(NamedTuple):
    """A step, compared with an objective."""

    step: PlannedStep
    tool: str | None
    """As declared, else the first that its text names."""
    changes: bool
    """It writes or destroys something: by the registry, else as the plan says."""
    inside: bool | None
    """It is inside the objective; None if nothing in it can tell."""


def judge(steps: Sequence[PlannedStep], objective: Objective) -> Quality:
    """Return the four answers for a plan of at least one step."""
    known = [objective.know(step) for step in steps]
    return Quality(
        _dependency_ordering(steps, objective.given),
        _branch_coverage(known, objective.can_fail),
        _scope_control(known, is_stated=objective.is_stated),
        _reversibility(known, is_stated=objective.is_stated),
    )


def _dependency_ordering(steps: Sequence[PlannedStep], given: Collection[str]) -> Answer:
    """Forward edges / (edges + inputs that nothing produces)."""
    if all(step.inputs is None and step.outputs is None for step in steps):
        return Answer(0, 0, "no_inputs_declared")
    edges, unproduced = [], 0
    for position, step in enumerate(steps):
        for input_name in dict.fromkeys(step.inputs or ()):
            if input_name in given:
                continue
            producer = _producer(steps, position, input_name)
            if producer is None:
                unproduced += 1
            else:
                edges.append((producer, position))
    return Answer(len(_forward(edges)), len(edges) + unproduced)


def _producer(steps: Sequence[PlannedStep], position: int, input_name: str) -> int | None:
    """Return the nearest earlier step with that output, else the first later one."""
    places = [i for i, step in enumerate(steps) if input_name in (step.outputs or ())]
    earlier = [i for i in places if i < position]
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
        new = {end for position in new for end in after.get(position, ())} - found
    return found


def _branch_coverage(steps: Sequence[KnownStep], can_fail: Collection[str] | None) -> Answer:
    """Steps with a failure branch / steps that can fail."""
    risky = [known.step for known in steps if _can_fail(known, can_fail)]
    return Answer(sum(step.branch for step in risky), len(risky))


def _can_fail(known: KnownStep, can_fail: Collection[str] | None) -> bool:
    if can_fail is not None:
        return known.tool in can_fail or known.step.id in can_fail
    return known.tool is not None or known.changes or bool(_CAN_FAIL.search(known.step.text))


def _scope_control(steps: Sequence[KnownStep], *, is_stated: bool) -> Answer:
    """Steps not outside the objective / steps."""
    if not is_stated:
        return Answer(0, 0, "no_scope")
    if all(known.inside is None for known in steps):
        return Answer(0, 0, "no_tools_planned")
    return Answer(sum(known.inside is not False for known in steps), len(steps))


def _reversibility(steps: Sequence[KnownStep], *, is_stated: bool) -> Answer:
    """Marks of steps that change something inside: 1 with a way back, a half without."""
    changing = [
        known.step
        for known in steps
        if known.changes and not (is_stated and known.inside is False)
    ]
    marks = sum(1.0 if step.rollback else 0.5 if step.marked else 0.0 for step in changing)
    return Answer(marks, len(changing))
