"""The metrics of every trajectory, by name, with what each one says.

A metric's column in `trajectory_scores` has its name. Definitions: docs/metrics.md, sections
1 to 6.
"""

from collections.abc import Mapping
from typing import Final

TOOL_SELECTION: Final[Mapping[str, str]] = {
    "tsa": "Correct first picks / counted decision points, 0..1. Label: criteria that applied.",
    "tsa_source_text": "As tsa, without missed points: the article's literal ratio.",
    "missed_decisions": "Expected decision points without a call, a count.",
    "wrong_call_rate": "Calls that are no correct first pick / calls of counted points, 0..1.",
    "tool_allowed_rate": "Calls to tools that were offered / calls of which that is known, 0..1.",
    "parameter_validity": "Calls with valid arguments / calls with a known schema, 0..1.",
    "destructive_when_safe_existed": "Destructive calls where a safe equivalent existed, a count.",
}

TOOL_CORRECTNESS: Final[Mapping[str, str]] = {
    "tool_correctness": "Weighted mean of selection, parameters, sequence, utilization, 0..1.",
    "tool_correct": "1 if tool correctness reaches the threshold, else 0.",
    "tool_selection_jaccard": "Calls matched by name / expected and made calls together, 0..1.",
    "tool_parameters": "Mean similarity of arguments to those that the task states, 0..1.",
    "tool_sequence": "Calls in the expected order / expected calls, 0..1.",
    "tool_utilization": "Results used later / results that hold something distinctive, 0..1.",
}

STEPS: Final[Mapping[str, str]] = {
    "success": "1 if the attempt succeeded, 0 if not. Source: who says so.",
    "actual_steps": "Steps of the attempt, a count (tool calls unless the task counts all).",
    "step_efficiency": "Optimal steps / actual steps of a successful attempt, at most 1.",
    "step_ratio": "Actual steps / optimal steps of a successful attempt, unclipped.",
    "redundant_calls": "Calls equal to one before with no change between, a count.",
    "recovery_rate": "Failed calls that were recovered from / failed calls, 0..1.",
    "termination": "1 if the agent stopped at success, else 0. Label: how it ended.",
}

FAILURE_MODE_METRICS: Final[Mapping[str, str]] = {
    "loop_trap": "1 if calls went round in circles, else 0.",
    "tool_hallucination": "1 if a call's tool was not offered or broke its schema, else 0.",
    "premature_commitment": "1 if it wrote or answered before what that depends on, else 0.",
    "cascading_error": "1 if one wrong call led to two more that failed, else 0.",
    "goal_drift": "1 if it failed and its last calls served nothing that was left, else 0.",
}

FAILURE_MODES: Final = tuple(FAILURE_MODE_METRICS)
"""Failure modes; each is a metric, and evidence for it stands in `failures`."""

PLAN_GRAPH: Final[Mapping[str, str]] = {
    "sub_goal_coverage": "Sub-goals attempted / sub-goals, 0..1.",
    "sub_goal_coverage_weighted": "As sub_goal_coverage, by weight.",
    "sub_goal_completion": "Sub-goals completed / sub-goals not satisfied before, 0..1.",
    "sub_goal_completion_weighted": "As sub_goal_completion, by weight.",
    "critical_path_completion": "Critical sub-goals completed / critical ones, 0..1.",
    "critical_path_skipped": "1 if a critical sub-goal was not attempted. Label: which.",
    "completion_with_direct_deps": "Completed with direct prerequisites / sub-goals, 0..1.",
    "completion_with_all_deps": "Completed with all prerequisites / sub-goals, 0..1.",
    "dependency_violation": "Completed before a prerequisite / completed that have one, 0..1.",
    "sub_goals_skipped": "Sub-goals that no action served, a count.",
    "sub_goals_failed_inside": "Sub-goals attempted but not completed, a count.",
    "sub_goals_regressed": "Sub-goals once completed but not at the end, a count.",
    "sub_goals_pre_satisfied": "Sub-goals that held before the first call, a count.",
    "off_plan_calls": "Calls that serve no sub-goal, a count.",
    "plan_coverage": "Steps of the agent's own first plan attempted / its steps, 0..1.",
    "plan_completion": "Steps of the agent's own first plan completed / its steps, 0..1.",
}

REPLANNING: Final[Mapping[str, str]] = {
    "replans": "Changes of the remaining plan, a count.",
    "replans_per_100_calls": "Replans for each 100 tool calls.",
    "replans_reactive": "Replans after a failed call or check since the last plan, a count.",
    "replans_spontaneous": "Other replans, a count.",
    "replan_given_failure": "Failures followed by a replan before the next call / failures, 0..1.",
    "replans_source_text": "Inequalities of the whole list of steps: the text's literal count.",
}

PLANNING: Final[Mapping[str, str]] = {
    "pq": "Quality of the plan before the first call, 0..10.",
    "pq_strict": "As pq, with branch coverage and scope control all or nothing.",
    "pq_partial": "As pq, over the questions that have an answer.",
    "pq_dependency_ordering": "Inputs made by an earlier step / inputs to be made, 0..1.",
    "pq_branch_coverage": "Steps with a failure branch / steps that can fail, 0..1.",
    "pq_scope_control": "Steps not outside the objective / steps, 0..1.",
    "pq_reversibility": "Tags of steps that change something / such steps, 0..1.",
}

ROLLBACK: Final[Mapping[str, str]] = {
    "ra_after_recovery": "Mean over kills of the state after the recovery command, 0..10.",
    "ra_immediate": "Mean over kills of the state that was left at once, 0..10.",
    "late_ra": "State after the recovery command of the late kill, 0..10.",
}

METRICS: Final[Mapping[str, str]] = {
    **TOOL_SELECTION,
    **TOOL_CORRECTNESS,
    **STEPS,
    **FAILURE_MODE_METRICS,
    **PLAN_GRAPH,
    **REPLANNING,
    **PLANNING,
    **ROLLBACK,
}

TASK_MEANS: Final = frozenset({*PLANNING, *ROLLBACK})
"""Metrics of which a task has the mean of its runs, and a suite that of its tasks.

Source: docs/metrics.md, section 7.4.
"""

DECISION_POINT_METRICS: Final = frozenset({"tsa", "tsa_source_text"})
"""Metrics whose denominator counts decision points."""

SHARES: Final = METRICS.keys() - {
    *("missed_decisions", "destructive_when_safe_existed", "actual_steps", "off_plan_calls"),
    *("sub_goals_skipped", "sub_goals_failed_inside", "sub_goals_regressed"),
    *("sub_goals_pre_satisfied", "replans", "replans_reactive", "replans_spontaneous"),
    *("replans_source_text", "replans_per_100_calls", "step_efficiency", "step_ratio"),
    *("redundant_calls", "tool_correctness", "tool_parameters"),
    *("sub_goal_coverage_weighted", "sub_goal_completion_weighted"),
    *(PLANNING.keys() | ROLLBACK.keys()),
}
"""Metrics whose denominator counts observations that are each 0 or 1: not counts and ratios."""
