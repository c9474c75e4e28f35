"""A run's progress in each sub-goal, and in plan items without a sub-goal. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from tracegrade_scoring.timeline.model import RunSubGoal, Step
from tracegrade_scoring.timeline.plan.plans import PlanChange, PlanItem

DONE, TRIED, SKIPPED, UNREACHED, UNKNOWN = "done", "tried", "skipped", "never reached", "unknown"
EXTRA: Final = "extra"
"""State of a plan item that is not a sub-goal."""
FINISHED: Final = frozenset({"complete", "completed", "done", "finished"})
"""Names of the state of a finished item in plans."""


class Square(NamedTuple):
    """A call, drawn in the box of its sub-goal."""

    step: int
    title: str
    mark: str
    """good | bad (it failed) | warn (something else was found at it)."""


@dataclass(frozen=True)
class GoalBox:
    """A sub-goal, or an item of a plan that is none."""

    name: str
    state: str
    notes: tuple[str, ...]
    critical: bool
    squares: tuple[Square, ...]


class RunCalls(NamedTuple):
    """The calls of a run, with the facts about each."""

    calls: Sequence[Step]
    served: Mapping[int, Sequence[str]]
    """By step: the sub-goals that the call serves."""
    by_tool: Mapping[str, str]
    """By tool: a sub-goal that its calls serve."""
    failed: frozenset[int]
    """Steps of those that failed."""
    noted: frozenset[int]
    """Steps of those at which anything was found."""

    def squares(self, calls: Sequence[Step]) -> tuple[Square, ...]:
        """Return calls as a box shows them."""
        return tuple(
            Square(call.step_index, call.tool_name or "", self._mark(call.step_index))
            for call in calls
        )

    def _mark(self, step: int) -> str:
        return "bad" if step in self.failed else "warn" if step in self.noted else "good"


class PlanGoals:
    """The sub-goals of a run, and its plans."""

    def __init__(
        self, goals: Sequence[RunSubGoal], changes: Sequence[PlanChange], calls: RunCalls
    ) -> None:
        """Compare them."""
        self.goals = {goal.sub_goal: goal for goal in goals}
        self.changes = changes
        self.calls = calls
        self._of_goal: dict[str, list[Step]] = {}
        self._of_name: dict[str, list[Step]] = {}
        self._of_tool: dict[str, list[Step]] = {}
        for call in calls.calls:
            for goal in calls.served.get(call.step_index, ()):
                self._of_goal.setdefault(goal, []).append(call)
            if call.step_index not in calls.served:
                self._of_name.setdefault(call.sub_goal or "", []).append(call)
                self._of_tool.setdefault(call.tool_name or "", []).append(call)
        self._planned = [self._goals_of(change) for change in changes]

    def _goals_of(self, change: PlanChange) -> dict[str, str]:
        """Return by sub-goal the first item of a plan that means it."""
        found: dict[str, str] = {}
        for item in change.items:
            if (goal := self.goal_of(item)) is not None:
                found.setdefault(goal, item.key)
        return found

    def _calls_of(self, item: PlanItem) -> list[Step]:
        """Return the calls of a plan item: by its sub-goal, else by its name and its tool."""
        goal = self.goal_of(item)
        if goal is not None:
            return self._of_goal.get(goal, [])
        named, by_tool = self._of_name.get(item.key, []), self._of_tool.get(item.tool, [])
        if not item.tool or not named or named == by_tool:
            return named or (by_tool if item.tool else [])
        both = {call.step_index: call for call in (*named, *by_tool)}
        return [both[step] for step in sorted(both)]

    def goal_of(self, item: PlanItem) -> str | None:
        """Return the sub-goal of a plan item: by its name, else by its tool."""
        if item.key in self.goals:
            return item.key
        return self.calls.by_tool.get(item.tool)

    def boxes(self) -> list[GoalBox]:
        """Return each sub-goal of the task, by name."""
        return [self._box(goal) for goal in self.goals.values()]

    def extra_boxes(self) -> list[GoalBox]:
        """Return plan items that are not sub-goals, in the order of the plan."""
        items = {item.key: item for change in self.changes for item in change.items}
        return [self._extra(item) for item in items.values() if self.goal_of(item) is None]

    def done_before(self, item: PlanItem, step: int | None) -> bool:
        """Return whether an item was done before a step, or before the end (None).

        It was done if its last call did not fail, or if its plan marks it as done.
        """
        goal = self.goal_of(item)
        if step is None and goal == item.key and self.goals[goal].completed is not None:
            return bool(self.goals[goal].completed)
        calls = self._calls_of(item)
        before = [call for call in calls if step is None or call.step_index < step]
        if before:
            return before[-1].step_index not in self.calls.failed
        return item.status.lower() in FINISHED

    def _box(self, goal: RunSubGoal) -> GoalBox:
        calls = self._of_goal.get(goal.sub_goal, [])
        return GoalBox(
            goal.sub_goal, self._state(goal), tuple(self._notes(goal)), bool(goal.critical),
            self.calls.squares(calls),
        )  # fmt: skip

    def _state(self, goal: RunSubGoal) -> str:
        if goal.attempted is None:
            return UNKNOWN
        if goal.attempted:
            return DONE if goal.completed else TRIED
        before = [self.goals[dep] for dep in goal.deps if dep in self.goals]
        return SKIPPED if all(dep.completed for dep in before) else UNREACHED

    def _notes(self, goal: RunSubGoal) -> Iterator[str]:
        if goal.regressed:
            yield "undone later"
        if goal.dependency_violation:
            yield "before a prerequisite"
        names = [planned.get(goal.sub_goal) for planned in self._planned]
        if names and not any(name is not None for name in names):
            yield "not in the plan"
        elif names and names[0] is None:
            name = next(name for name in names if name is not None)
            yield "planned late" + (f", as {name}" if name != goal.sub_goal else "")

    def _extra(self, item: PlanItem) -> GoalBox:
        calls = self._calls_of(item)
        notes = [item.effect] if item.effect else []
        if not any(call.step_index not in self.calls.failed for call in calls):
            notes.append("not done")
        return GoalBox(item.key, EXTRA, tuple(notes), False, self.calls.squares(calls))


def summary(boxes: Sequence[GoalBox], order: Sequence[str]) -> str:
    """Return how far a run got in one line.

    Args:
        boxes: Its sub-goals.
        order: Their names, prerequisites first.
    """
    done = sum(box.state == DONE for box in boxes)
    state = {box.name: box.state for box in boxes if box.critical}
    broken = [name for name in order if state.get(name, DONE) not in {DONE, UNKNOWN}]
    text = f"{done:,} of {len(boxes):,} sub-goals done"
    return f"{text}, critical path broken at {broken[0]}" if broken else text
