"""How far a run got with each sub-goal, and with what it planned beside them. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from tracegrade_explorer.run_view.plans import PlanChange, PlanItem
from tracegrade_scoring.timeline.model import RunSubGoal, Step

DONE, TRIED, SKIPPED, UNREACHED, UNKNOWN = "done", "tried", "skipped", "never reached", "unknown"
EXTRA: Final = "extra"
"""State of what was planned and is no sub-goal."""
FINISHED: Final = frozenset({"complete", "completed", "done", "finished"})
"""What plans call an item that is done."""


class Square(NamedTuple):
    """A call, drawn in the box of what it served."""

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
    """The calls of a run, and what is known of each."""

    calls: Sequence[Step]
    served: Mapping[int, Sequence[str]]
    """By step: the sub-goals that the call serves."""
    by_tool: Mapping[str, str]
    """By tool: a sub-goal that its calls serve."""
    failed: frozenset[int]
    """Steps of those that failed."""
    noted: frozenset[int]
    """Steps of those at which anything was found."""

    def of_goal(self, goal: str) -> list[Step]:
        """Return the calls that serve a sub-goal."""
        return [call for call in self.calls if goal in self.served.get(call.step_index, ())]

    def of_item(self, item: PlanItem) -> list[Step]:
        """Return the calls that an item of a plan, which is no sub-goal, asked for."""
        return [
            call
            for call in self.calls
            if call.step_index not in self.served
            and (call.sub_goal == item.key or (item.tool and call.tool_name == item.tool))
        ]

    def squares(self, calls: Sequence[Step]) -> tuple[Square, ...]:
        """Return calls as a box shows them."""
        return tuple(
            Square(call.step_index, call.tool_name or "", self._mark(call.step_index))
            for call in calls
        )

    def _mark(self, step: int) -> str:
        return "bad" if step in self.failed else "warn" if step in self.noted else "good"


class PlanGoals:
    """The sub-goals of a run beside its plans."""

    def __init__(
        self, goals: Sequence[RunSubGoal], changes: Sequence[PlanChange], calls: RunCalls
    ) -> None:
        """Compare them."""
        self.goals = {goal.sub_goal: goal for goal in goals}
        self.changes = changes
        self.calls = calls

    def goal_of(self, item: PlanItem) -> str | None:
        """Return the sub-goal that an item of a plan means: of its name, else of its tool."""
        if item.key in self.goals:
            return item.key
        return self.calls.by_tool.get(item.tool)

    def boxes(self) -> list[GoalBox]:
        """Return each sub-goal of the task, by name."""
        return [self._box(goal) for goal in self.goals.values()]

    def extra_boxes(self) -> list[GoalBox]:
        """Return what was planned and is no sub-goal, in the order in which it was planned."""
        items = {item.key: item for change in self.changes for item in change.items}
        return [self._extra(item) for item in items.values() if self.goal_of(item) is None]

    def done_before(self, item: PlanItem, step: int | None) -> bool:
        """Return whether an item was done, by the calls before a step, or before the end (None).

        It was if the last call for it did not fail, or its plan says so.
        """
        goal = self.goal_of(item)
        if step is None and goal == item.key and self.goals[goal].completed is not None:
            return bool(self.goals[goal].completed)
        calls = self.calls.of_goal(goal) if goal else self.calls.of_item(item)
        before = [call for call in calls if step is None or call.step_index < step]
        if before:
            return before[-1].step_index not in self.calls.failed
        return item.status.lower() in FINISHED

    def _box(self, goal: RunSubGoal) -> GoalBox:
        calls = self.calls.of_goal(goal.sub_goal)
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
        meant = [
            [item for item in change.items if self.goal_of(item) == goal.sub_goal]
            for change in self.changes
        ]
        if meant and not any(meant):
            yield "not in the plan"
        elif meant and not meant[0]:
            item = next(items for items in meant if items)[0]
            yield "planned late" + (f", as {item.key}" if item.key != goal.sub_goal else "")

    def _extra(self, item: PlanItem) -> GoalBox:
        calls = self.calls.of_item(item)
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
