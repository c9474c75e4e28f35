"""The plans of a run as lines: a new plan branches off at the first undone item of the last one.

A plan that only changes the states of items is not a new line. Pure.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from tracegrade_scoring.timeline.model import Step
from tracegrade_scoring.timeline.plan.plans import PlanChange, PlanItem

MOST_LINES: Final = 8
"""Drawn, the last of a run's."""
MOST_ITEMS: Final = 40
"""Drawn of one plan."""
MOST_NAMES: Final = 3
"""Number of added or dropped items that a line names."""
PLUS, MINUS = "+", "\u2212"

DoneBefore = Callable[[PlanItem, int | None], bool]


class PlanMark(NamedTuple):
    """An item of a plan on its line."""

    name: str
    title: str
    state: str
    """done | undone | dropped (a later plan left the undone item out)."""
    added: bool


class PlanLine(NamedTuple):
    """One plan."""

    step_index: int
    marks: tuple[PlanMark, ...]
    more: int
    """Items that are not drawn."""
    fork: int
    """Behind how many marks of the line before it leaves that one; 0 of the first."""
    why: str
    """Added and dropped items, and the failed call before; '' for the first plan."""


class FailedCall(NamedTuple):
    """A failed call."""

    step: int
    tool: str


def failed_calls(calls: Sequence[Step], failed: frozenset[int]) -> list[FailedCall]:
    """Return those of the calls that failed."""
    return [
        FailedCall(call.step_index, call.tool_name or "a call")
        for call in calls
        if call.step_index in failed
    ]


def plan_lines(
    changes: Sequence[PlanChange], done: DoneBefore, failed: Sequence[FailedCall]
) -> list[PlanLine]:
    """Return the plans that differ in their items, at most the last `MOST_LINES`."""
    drawn = [change for place, change in enumerate(changes) if not place or _differs(change)]
    drawn = drawn[-MOST_LINES:]
    lines: list[PlanLine] = []
    items: list[PlanItem] = []
    for place, change in enumerate(drawn):
        until = drawn[place + 1].step_index if place + 1 < len(drawn) else None
        fork = 0
        if lines:
            fork = next(
                (at for at, item in enumerate(items) if not done(item, change.step_index)),
                len(items),
            )
            items = [item for item in change.items if not done(item, change.step_index)]
        else:
            items = [*change.items]
        items, more = items[:MOST_ITEMS], max(0, len(items) - MOST_ITEMS)
        marks = tuple(_marks(items, change if lines else None, done, until))
        why = _why(change, lines[-1].step_index, failed) if lines else ""
        lines.append(PlanLine(change.step_index, marks, more, fork, why))
    return lines


def _differs(change: PlanChange) -> bool:
    return bool(change.added or change.removed)


def _marks(
    items: Sequence[PlanItem], change: PlanChange | None, done: DoneBefore, until: int | None
) -> Iterator[PlanMark]:
    added = {item.key for item in change.added} if change else set()
    behind = False
    for item in items:
        is_done = done(item, until)
        behind = behind or (until is not None and not is_done)
        state = "dropped" if behind else "done" if is_done else "undone"
        yield PlanMark(item.key, item.text, state, item.key in added)


def _why(change: PlanChange, since: int, failed: Sequence[FailedCall]) -> str:
    """Return the changes of a plan, and the failed call since the plan before."""
    parts = [
        f"{sign} {_names(items)}"
        for sign, items in ((PLUS, change.added), (MINUS, change.removed))
        if items
    ]
    before = [call for call in failed if since < call.step < change.step_index]
    because = (
        f"because {before[-1].tool} failed (s{before[-1].step})" if before else
        "with no failure before"
    )  # fmt: skip
    return f"{', '.join(parts)}, {because}"


def _names(items: Sequence[PlanItem]) -> str:
    names = ", ".join(item.key for item in items[:MOST_NAMES])
    more = len(items) - MOST_NAMES
    return f"{names} and {more:,} more" if more > 0 else names
