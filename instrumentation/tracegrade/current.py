"""A run's methods as functions, applied to the run that is current at the call.

For code that does not have the run as an argument. Outside of any run, steps are still written,
into the current span's trace.
"""

from collections.abc import Sequence

from tracegrade import names, steps
from tracegrade.attachment import current
from tracegrade.content import attribute_of
from tracegrade.guard import guarded
from tracegrade.scope import ScopeOverride, scope_of


@guarded
def plan(plan_steps: Sequence[steps.PlanStep]) -> None:
    """Write the current agent's plan; see `AgentRun.plan`."""
    context = current()
    run = scope_of(context).run
    steps.write_plan(context, plan_steps, run.agent if run is not None else None)


@guarded
def thought(text: object) -> None:
    """Write a thought of the current agent."""
    steps.write_thought(current(), text)


@guarded
def observe(text: object) -> None:
    """Write an observation that no tool returned."""
    steps.write_observation(current(), text)


@guarded
def answer(text: object) -> None:
    """Write the current agent's final answer."""
    context = current()
    run = scope_of(context).run
    if run is not None:
        run.answer(text)
    else:
        steps.write_answer(context, text)


def sub_goal(sub_goal_id: str) -> ScopeOverride:
    """Return a `with` block whose steps serve one sub-goal of the task."""
    return ScopeOverride(names.SUB_GOAL_ID, attribute_of(sub_goal_id))


def decision(decision_id: str) -> ScopeOverride:
    """Return a `with` block whose tool calls belong to one decision point of the task."""
    return ScopeOverride(names.DECISION_ID, attribute_of(decision_id))
