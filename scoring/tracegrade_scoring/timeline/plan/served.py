"""Assigns each call of a run to the sub-goals it serves: by its span, else by rules.

A rule that needs arguments does not apply to cut arguments. Source: docs/metrics.md, section 4.2.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

import re2

from tracegrade_scoring.tasks.model import Task
from tracegrade_scoring.timeline.model import Step, Timeline

CUT_FLAGS: Final = frozenset({"truncated", "redacted"})
"""Flags of a step with incomplete arguments."""


def calls_of(timeline: Timeline) -> list[Step]:
    """Return the calls among the steps that were read."""
    return [step for step in timeline.steps if step.kind == "tool_call"]


def served_goals(
    calls: Sequence[Step], goals: Collection[str], task: Task | None
) -> dict[int, tuple[str, ...]]:
    """Return by step the sub-goals that a call serves, in the order of the task file.

    Args:
        calls: The calls of the run.
        goals: Sub-goals that are scored; others are left out.
        task: The task of the last scoring; None if it is not known.
    """
    return {
        call.step_index: found for call in calls if (found := tuple(_serves(call, goals, task)))
    }


def _serves(call: Step, goals: Collection[str], task: Task | None) -> Iterator[str]:
    if call.sub_goal is not None and call.sub_goal in goals:
        yield call.sub_goal
        return
    for name, goal in task.sub_goals.items() if task else ():
        rules = [rule for rule in goal.serves if rule.tool == call.tool_name]
        if name in goals and any(_fits(rule.arguments, call) for rule in rules):
            yield name


def _fits(pattern: str | None, call: Step) -> bool:
    if pattern is None:
        return True
    whole = call.arguments is not None and not CUT_FLAGS & {*call.flags}
    return whole and re2.search(pattern, call.arguments) is not None


def goals_of_tools(calls: Sequence[Step], served: Mapping[int, Sequence[str]]) -> dict[str, str]:
    """Return by tool the first sub-goal that a call of it served."""
    found: dict[str, str] = {}
    for call in calls:
        if call.tool_name and call.step_index in served:
            found.setdefault(call.tool_name, served[call.step_index][0])
    return found
