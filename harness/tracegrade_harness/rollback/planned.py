"""Reads undo instructions from plans: steps that have both `outputs` and `rollback`.

    {"id": "clean", "tool": "write", "outputs": ["data/clean.csv"],
     "rollback": {"delete": "data/clean.csv"}}

A `rollback` is an undo as in journals, or a text that a human must follow. The agent wrote its
plans before it acted, so an output in a plan does not prove a change. A pattern does not count as
an object, because a plan with patterns could name everything that may be left.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tracegrade.rollback.journal import MAX_OBJECT_CHARS
from tracegrade.rollback.undo import undo_fault
from tracegrade_scoring.attempts.plan_steps import MAX_STEPS
from tracegrade_scoring.scorers.planning.reading import json_items

NO_WAY: Final = frozenset(
    {"-", "cannot be undone", "impossible", "irreversible", "n/a", "na", "no", "none", "null"}
)
"""Texts that give no way to undo something."""


class PlannedUndo(NamedTuple):
    """The undo of one output of a step."""

    name: str
    """The output in the plan: an object, or its path."""
    undo: Mapping[str, Any]
    """A valid undo."""


def read(plans: Sequence[str]) -> tuple[list[PlannedUndo], list[tuple[int, str]]]:
    """Return the undos in plans, and why other steps have none (step from 1, fact).

    Args:
        plans: The newest first. In one plan, the last step must be undone first.
    """
    undos: list[PlannedUndo] = []
    faults: dict[tuple[int, str], None] = {}
    for plan in dict.fromkeys(plans):
        steps = list(enumerate((json_items(plan) or [])[:MAX_STEPS], 1))
        for number, step in reversed(steps):
            for found in _of_step(step):
                if isinstance(found, PlannedUndo):
                    undos.append(found)
                else:
                    faults[number, found] = None
    return undos, [*faults]


def _of_step(step: object) -> Iterator[PlannedUndo | str]:
    """Yield the undo of each output of a step, or why it names none."""
    rollback = step.get("rollback") if isinstance(step, Mapping) else None
    if not isinstance(step, Mapping) or not rollback or _is_no_way(rollback):
        return
    undo = {"manual": rollback} if isinstance(rollback, str) else rollback
    if fault := undo_fault(undo):
        yield f"its rollback: {fault}"
        return
    outputs = step.get("outputs")
    names = outputs if isinstance(outputs, list) else [outputs]
    if not any(names):
        yield "it says how to undo it, but its 'outputs' name no object"
    for name in filter(None, names):
        yield _name_fault(name) or PlannedUndo(name, undo)


def _is_no_way(rollback: object) -> bool:
    return isinstance(rollback, str) and rollback.strip(" .").casefold() in NO_WAY | {""}


def _name_fault(name: object) -> str | None:
    if not isinstance(name, str):
        return f"an output is a {type(name).__name__}, not a text"
    try:
        name.encode()
    except UnicodeEncodeError:
        return "an output has half a character in it"
    if len(name) > MAX_OBJECT_CHARS:
        return f"an output has more than {MAX_OBJECT_CHARS:,} characters"
    return None
