"""The metrics that a report shows: their order, their labels, and what each one means.

The explanations are for somebody who has never seen the report: one sentence with the range.
Metrics of the lake that are not listed here are shown last, under their own name.
"""

from collections.abc import Collection
from enum import StrEnum
from typing import NamedTuple

from tracegrade.terminal.visible import visible
from tracegrade_scoring.metrics import METRICS as DEFINITIONS


class Scale(StrEnum):
    """How a value is written."""

    SHARE = "share"
    """0..1, written as per cent."""
    NUMBER = "number"
    """Any number, written with few decimals."""


class Metric(NamedTuple):
    """One metric as a reader meets it."""

    name: str
    """As in trajectory_scores."""
    label: str
    group: str
    meaning: str
    """One sentence, with the range."""
    scale: Scale = Scale.SHARE
    better: int = 1
    """1 if more is better, -1 if less is, 0 if neither."""
    unit: str = ""
    """What numerator and denominator count, plural."""


OUTCOME, TOOLS, STEPS, PLAN = "Outcome", "Choosing tools", "Steps", "Following a plan"
FAILING = "Failure modes"
OTHER = "Other metrics"

METRICS = (
    Metric(
        "success",
        "Success",
        OUTCOME,
        "Share of runs that reached their task's goal, from 0% to 100%; runs with an unknown "
        "outcome are left out.",
        unit="runs",
    ),
    Metric(
        "tsa",
        "Tool-selection accuracy",
        TOOLS,
        "Share of decision points where the first tool the agent picked was the right one, with "
        "the right arguments and no safer or cheaper tool at hand, from 0% to 100%.",
        unit="decisions",
    ),
    Metric(
        "tool_allowed_rate",
        "Tool-allowed rate",
        TOOLS,
        "Share of calls to tools that the agent had been offered, from 0% to 100%; anything below "
        "100% means that it made up tools.",
        unit="calls",
    ),
    Metric(
        "parameter_validity",
        "Valid arguments",
        TOOLS,
        "Share of calls whose arguments fit the tool's declared parameters, from 0% to 100%.",
        unit="calls",
    ),
    Metric(
        "step_efficiency",
        "Step efficiency",
        STEPS,
        "The number of tool calls that the task needs, divided by those that a successful run "
        "made, from 0% to 100%; 50% means twice as many calls as needed.",
        unit="calls",
    ),
    Metric(
        "recovery_rate",
        "Recovered from failures",
        STEPS,
        "Share of failed calls from which the agent recovered within five calls, by repeating the "
        "call or by another way, from 0% to 100%.",
        unit="failures",
    ),
    Metric(
        "redundant_calls",
        "Redundant calls per run",
        STEPS,
        "Calls per run that repeat an earlier one with nothing changed in between, from 0 "
        "upwards; lower is better. Calls to tools without a declared effect count as changes, "
        "except failed calls to tools that were not offered.",
        Scale.NUMBER,
        better=-1,
    ),
    Metric(
        "actual_steps",
        "Tool calls per run",
        STEPS,
        "Tool calls that a run made, from 0 upwards.",
        Scale.NUMBER,
        better=0,
    ),
    Metric(
        "sub_goal_coverage",
        "Sub-goal coverage",
        PLAN,
        "Share of a task's sub-goals that the agent worked on at all, from 0% to 100%.",
        unit="sub-goals",
    ),
    Metric(
        "sub_goal_completion",
        "Sub-goal completion",
        PLAN,
        "Share of a task's sub-goals that were complete at the end, from 0% to 100%.",
        unit="sub-goals",
    ),
    Metric(
        "critical_path_completion",
        "Critical path",
        PLAN,
        "Share of the critical sub-goals, those without which the task cannot succeed, that were "
        "completed, from 0% to 100%.",
        unit="critical sub-goals",
    ),
    Metric(
        "replans_per_100_calls",
        "Replans per 100 calls",
        PLAN,
        "Changes to the rest of the plan per 100 tool calls, from 0 upwards; neither few nor many "
        "are good in themselves: read it together with the failures.",
        Scale.NUMBER,
        better=0,
    ),
    Metric(
        "replan_given_failure",
        "Replanned after a failure",
        PLAN,
        "Share of failed calls after which the plan changed before the next call, from 0% to "
        "100%; near 0% means that the agent carries on as if nothing had gone wrong.",
        unit="failures",
    ),
)
"""What every report shows, in this order."""
MORE_METRICS = (
    Metric(
        "wrong_call_rate",
        "Wrong-call rate",
        TOOLS,
        "Share of calls spent on wrong picks and on retries, from 0% to 100%; lower is better.",
        better=-1,
        unit="calls",
    ),
    Metric(
        "destructive_when_safe_existed",
        "Destructive calls with a safe alternative",
        TOOLS,
        "Destructive calls per run where a non-destructive tool would have worked, from 0 "
        "upwards; lower is better.",
        Scale.NUMBER,
        better=-1,
    ),
    Metric(
        "tool_selection_jaccard",
        "Tools called as expected",
        TOOLS,
        "Tools both expected and called, divided by all tools expected or called, by name alone, "
        "from 0% to 100%.",
        unit="calls",
    ),
    Metric(
        "tool_correctness",
        "Tool correctness",
        TOOLS,
        "How well the calls of a run match the expected ones in choice, arguments and order, "
        "from 0 to 1.",
        Scale.NUMBER,
    ),
    Metric(
        "tool_correct",
        "Tool-correct runs",
        TOOLS,
        "Share of runs whose calls are all as expected, from 0% to 100%.",
        unit="runs",
    ),
    Metric(
        "termination",
        "Stopped when done",
        STEPS,
        "Share of runs that succeeded and made no call after the last one they needed, from 0% to "
        "100%; successful runs for which that is unknown are left out, failed runs count.",
        unit="runs",
    ),
    Metric(
        "step_ratio",
        "Steps per needed step",
        STEPS,
        "Tool calls of successful runs divided by those that the task needs; 1 is optimal, lower "
        "is better.",
        Scale.NUMBER,
        better=-1,
    ),
    *(
        Metric(
            name,
            label,
            FAILING,
            f"Share of runs {meaning}, from 0% to 100%; lower is better.",
            better=-1,
            unit="runs",
        )
        for name, label, meaning in (
            ("loop_trap", "Loop trap", "whose calls went in circles"),
            (
                "tool_hallucination",
                "Tool hallucination",
                "that called a tool that was not offered, or passed arguments it does not accept",
            ),
            (
                "premature_commitment",
                "Premature commitment",
                "that wrote before the prerequisites were done, or claimed what was not done",
            ),
            ("cascading_error", "Cascading error", "in which one failure led to others"),
            ("goal_drift", "Goal drift", "that failed while doing work that serves no sub-goal"),
        )
    ),
    Metric(
        "critical_path_skipped",
        "Critical sub-goals skipped",
        PLAN,
        "Share of runs that never worked on at least one critical sub-goal, from 0% to 100%; "
        "lower is better.",
        better=-1,
        unit="runs",
    ),
    Metric(
        "dependency_violation",
        "Prerequisites not met",
        PLAN,
        "Share of sub-goals that were completed before one that they depend on, from 0% to 100%; "
        "lower is better.",
        better=-1,
        unit="sub-goals",
    ),
    Metric(
        "pq",
        "Planning quality",
        PLAN,
        "Quality of the plan before the first call: order, branches, scope and rollback, from 0 "
        "to 10.",
        Scale.NUMBER,
    ),
    Metric(
        "ra_after_recovery",
        "Rollback-ability",
        PLAN,
        "How much of the damage a killed run's recovery command undoes, from 0 to 10.",
        Scale.NUMBER,
    ),
    Metric(
        "plan_coverage",
        "Own plan: worked on",
        PLAN,
        "Share of the steps of the agent's own first plan that it worked on, from 0% to 100%.",
        unit="planned steps",
    ),
    Metric(
        "plan_completion",
        "Own plan: completed",
        PLAN,
        "Share of the steps of the agent's own first plan that it completed, from 0% to 100%.",
        unit="planned steps",
    ),
)
"""What a report shows in addition, where there is room; those of `_BY_DEFINITION` follow."""
_BY_DEFINITION = {
    "tsa_source_text": ("Tool selection, by the article's text", Scale.SHARE, 1),
    "missed_decisions": ("Missed decisions per run", Scale.NUMBER, -1),
    "tool_parameters": ("Arguments as expected", Scale.SHARE, 1),
    "tool_sequence": ("Calls in the expected order", Scale.SHARE, 1),
    "tool_utilization": ("Results used later", Scale.SHARE, 1),
    "sub_goal_coverage_weighted": ("Sub-goal coverage, weighted", Scale.SHARE, 1),
    "sub_goal_completion_weighted": ("Sub-goal completion, weighted", Scale.SHARE, 1),
    "completion_with_direct_deps": ("Completed with direct prerequisites", Scale.SHARE, 1),
    "completion_with_all_deps": ("Completed with all prerequisites", Scale.SHARE, 1),
    "sub_goals_skipped": ("Sub-goals skipped per run", Scale.NUMBER, -1),
    "sub_goals_failed_inside": ("Sub-goals attempted, not completed, per run", Scale.NUMBER, -1),
    "sub_goals_regressed": ("Sub-goals undone per run", Scale.NUMBER, -1),
    "sub_goals_pre_satisfied": ("Sub-goals complete before the first call", Scale.NUMBER, 0),
    "off_plan_calls": ("Calls that serve no sub-goal per run", Scale.NUMBER, -1),
    "replans": ("Replans per run", Scale.NUMBER, 0),
    "replans_reactive": ("Replans after a failure per run", Scale.NUMBER, 0),
    "replans_spontaneous": ("Other replans per run", Scale.NUMBER, 0),
    "replans_source_text": ("Replans per run, by the article's text", Scale.NUMBER, 0),
    "pq_strict": ("Planning quality, strict", Scale.NUMBER, 1),
    "pq_partial": ("Planning quality, known parts only", Scale.NUMBER, 1),
    "pq_dependency_ordering": ("Plan: inputs produced before use", Scale.SHARE, 1),
    "pq_branch_coverage": ("Plan: branches for failures", Scale.SHARE, 1),
    "pq_scope_control": ("Plan: within the objective", Scale.SHARE, 1),
    "pq_reversibility": ("Plan: changes can be undone", Scale.SHARE, 1),
    "ra_immediate": ("State right after a kill", Scale.NUMBER, 1),
    "late_ra": ("Recovery from a late kill", Scale.NUMBER, 1),
}
"""Label, scale, and which way is better, of metrics that their definition explains well enough."""
HEADLINES = (
    "success",
    "tsa",
    "step_efficiency",
    "sub_goal_coverage",
    "sub_goal_completion",
    "critical_path_completion",
    "tool_allowed_rate",
    "parameter_validity",
)
"""Shares that are drawn side by side."""


def main_metrics(names: Collection[str]) -> list[Metric]:
    """Return the metrics of these names that every report shows, in order."""
    return [metric for metric in METRICS if metric.name in names]


def more_metrics(names: Collection[str]) -> list[Metric]:
    """Return the other metrics of these names: those with a text above, then the rest."""
    described = [metric for metric in MORE_METRICS if metric.name in names]
    known = {metric.name for metric in (*METRICS, *MORE_METRICS)}
    return described + [_plain(name) for name in sorted(set(names) - known)]


def _plain(name: str) -> Metric:
    """Return a metric as its definition describes it; one without stands under its own name."""
    meaning = DEFINITIONS.get(name, "See the definition of the metric of this name.")
    unknown = (visible(name).replace("_", " "), Scale.NUMBER, 0)
    label, scale, better = _BY_DEFINITION.get(name, unknown)
    return Metric(name, label, OTHER, meaning, scale, better)
