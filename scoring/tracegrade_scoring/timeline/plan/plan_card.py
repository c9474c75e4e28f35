"""The card above the steps of a run: its plans, its sub-goals, and the progress of each."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from markupsafe import Markup

from tracegrade_scoring.pictures.graph import depths
from tracegrade_scoring.rendering import words
from tracegrade_scoring.tasks.model import Task
from tracegrade_scoring.timeline.model import Timeline
from tracegrade_scoring.timeline.plan.graph_layout import MOST_BOXES, has_graphviz
from tracegrade_scoring.timeline.plan.graph_picture import Href, graph_picture, plan_picture
from tracegrade_scoring.timeline.plan.plan_graph import PlanGoals, RunCalls, summary
from tracegrade_scoring.timeline.plan.plan_lines import failed_calls, plan_lines
from tracegrade_scoring.timeline.plan.plans import PlanChange
from tracegrade_scoring.timeline.plan.served import calls_of, goals_of_tools, served_goals

MANY: Final = f"They are more than {MOST_BOXES} sub-goals, so the table alone shows them."
NOT_HERE: Final = (
    "Graphs are drawn by pygraphviz, which has no wheel for this system; the table shows the same."
)


def run_calls(timeline: Timeline, failed: frozenset[int], task: Task | None) -> RunCalls:
    """Return the calls of a run with the sub-goals they serve.

    Args:
        timeline: The run.
        failed: Steps that failed.
        task: Its task's definition; None if it is not known.
    """
    calls = calls_of(timeline)
    goals = {goal.sub_goal for goal in timeline.sub_goals}
    served = served_goals(calls, goals, task)
    own = (None, timeline.run.trajectory_id)
    noted = frozenset(
        mark.step_index
        for mark in timeline.marks
        if mark.step_index is not None and mark.step_trajectory_id in own
    )
    return RunCalls(calls, served, goals_of_tools(calls, served), failed, noted)


def plan_card(
    timeline: Timeline, changes: Sequence[PlanChange], calls: RunCalls, href: Href
) -> Mapping[str, Any]:
    """Return the content of the card; None for a run without a plan and a task.

    Args:
        timeline: The run.
        changes: Its plans.
        calls: Its calls.
        href: Where a step stands.
    """
    planned = PlanGoals(timeline.sub_goals, changes, calls)
    boxes = planned.boxes()
    deps = {goal.sub_goal: goal.deps for goal in timeline.sub_goals}
    lines = plan_lines(changes, planned.done_before, failed_calls(calls.calls, calls.failed))
    why = _undrawn(len(boxes))
    graph = None
    if boxes and not why:
        graph = graph_picture(boxes, planned.extra_boxes(), deps, href)
    order = sorted(deps, key=depths(deps).__getitem__) if not why else sorted(deps)
    return {
        "summary": words.line(summary(boxes, order)) if boxes else "",
        "plans": plan_picture(lines, href) if lines else Markup(),
        "graph": graph,
        "undrawn": why if boxes else "",
        "some": _some(timeline),
    }


def _some(timeline: Timeline) -> str:
    """Return a note on the steps behind the card for a longer run; '' for others."""
    if not timeline.steps or timeline.total_steps == len(timeline.steps):
        return ""
    return (
        f"Its calls are those of s{timeline.steps[0].step_index} to "
        f"s{timeline.steps[-1].step_index}, as below."
    )


def _undrawn(boxes: int) -> str:
    """Return why no graph is drawn; '' if one is."""
    if boxes > MOST_BOXES:
        return MANY
    return "" if has_graphviz() else NOT_HERE
