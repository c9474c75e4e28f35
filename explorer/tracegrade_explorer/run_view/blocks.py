"""Folds the steps of a long run, so that important steps stay visible. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, NamedTuple, TypeAlias

from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.blocks import StepView
from tracegrade_scoring.timeline.model import Step

LEAST_REPEATS: Final = 3
"""Equal calls in a row that are folded."""
TIMES: Final = "\u00d7"
LEAST_QUIET: Final = 21
"""Calls in a row without a finding that are folded, where the run has findings elsewhere."""


class StepBlock(NamedTuple):
    """Steps that are shown one by one, or folded below a title."""

    title: str
    """'' if they are not folded."""
    steps: tuple[StepView, ...]
    marks: tuple[str, ...] = ()
    """Findings at steps of a fold, each sentence once."""


class _Unit(NamedTuple):
    """A call with its result, or another single step."""

    steps: tuple[StepView, ...]
    call: Step | None
    agent: str
    """Name of its agent; '' where all are of one agent."""

    @property
    def key(self) -> tuple[str | None, ...] | None:
        """The key of equal calls; None for other steps."""
        return (self.agent, self.call.tool_name, self.call.arguments) if self.call else None

    @property
    def quiet(self) -> bool:
        """Whether nothing was found at it."""
        return not any(step.failed or step.marks for step in self.steps)


_Units: TypeAlias = Sequence[_Unit]


def blocks(
    steps: Sequence[Step], views: Sequence[StepView], agents: Mapping[int, str]
) -> list[StepBlock]:
    """Return the steps in order, repeats and long stretches without findings folded.

    Args:
        steps: As read.
        views: The same in words; some may be left out.
        agents: By index whose each is, where they are of several agents.
    """
    by_index = {step.step_index: step for step in steps}
    units = [*_units(by_index, views, agents)]
    found = any(not unit.quiet for unit in units)
    return [*_merged(_folded(units, by_index, found=found))]


def _units(
    steps: Mapping[int, Step], views: Sequence[StepView], agents: Mapping[int, str]
) -> Iterator[_Unit]:
    position = 0
    while position < len(views):
        call = steps[views[position].index]
        end = position + 1
        if call.kind == "tool_call":
            while end < len(views) and steps[views[end].index].call_step == call.step_index:
                end += 1
        called = call if call.kind == "tool_call" else None
        yield _Unit(tuple(views[position:end]), called, agents.get(call.step_index, ""))
        position = end


def _folded(units: _Units, steps: Mapping[int, Step], *, found: bool) -> Iterator[StepBlock]:
    rest: list[_Unit] = []
    for key, group in groupby(units, key=lambda unit: unit.key):
        equal = [*group]
        if key is not None and len(equal) >= LEAST_REPEATS:
            yield from _stretches(rest, found=found)
            rest = []
            yield _block(_repeat_title(equal, steps), equal)
        else:
            rest += equal
    yield from _stretches(rest, found=found)


def _stretches(units: _Units, *, found: bool) -> Iterator[StepBlock]:
    for quiet, group in groupby(units, key=lambda unit: unit.quiet):
        together = [*group]
        calls = sum(unit.call is not None for unit in together)
        fold = found and quiet and calls >= LEAST_QUIET
        yield _block(f"{calls:,} calls without a finding" if fold else "", together)


def _block(title: str, units: _Units) -> StepBlock:
    steps = tuple(step for unit in units for step in unit.steps)
    marks = dict.fromkeys(mark for step in steps for mark in step.marks) if title else {}
    return StepBlock(title, steps, tuple(marks))


def _merged(found: Iterator[StepBlock]) -> Iterator[StepBlock]:
    """Yield neighbors that are not folded as one."""
    for folded, group in groupby(found, key=lambda block: bool(block.title)):
        if folded:
            yield from group
        else:
            yield StepBlock("", tuple(step for block in group for step in block.steps))


def _repeat_title(units: _Units, steps: Mapping[int, Step]) -> str:
    results = {_result(unit, steps) for unit in units}
    same = "same result" if len(results) == 1 else f"{len(results):,} different results"
    call = units[0].call
    name = words.name(call.tool_name if call else None, "an unnamed tool")
    return f"{name} {TIMES} {len(units):,}, same arguments, {same}"


def _result(unit: _Unit, steps: Mapping[int, Step]) -> tuple[str | None, ...]:
    return tuple(
        steps[view.index].result or steps[view.index].content or steps[view.index].error
        for view in unit.steps
    )
