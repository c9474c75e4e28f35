"""The metrics of every trajectory, by name, with what each one says.

A metric's column in `trajectory_scores` has its name. Definitions: docs/metrics.md, sections
1 to 6.
"""

from collections.abc import Mapping
from typing import Final

TOOL_SELECTION: Final[Mapping[str, str]] = {
    "tsa": (
        "Tool-selection accuracy: decision points where the first call was right / decision "
        "points counted, 0 to 1. Label: the criteria (a, b, c) that applied."
    ),
    "tsa_source_text": (
        "As tsa, but without missed decision points: the ratio as the source text states it."
    ),
    "missed_decisions": (
        "Decision points at which the task expects a call and none was made, a count."
    ),
    "wrong_call_rate": (
        "Calls at counted decision points that are not a right first call / all calls there, 0 to "
        "1."
    ),
    "tool_allowed_rate": (
        "Calls to tools that were offered / calls for which it is known what was offered, 0 to 1."
    ),
    "parameter_validity": (
        "Calls whose arguments satisfy the tool's schema / calls with a known schema, 0 to 1."
    ),
    "destructive_when_safe_existed": (
        "Destructive calls where a safe equivalent was registered, a count."
    ),
}

TOOL_CORRECTNESS: Final[Mapping[str, str]] = {
    "tool_correctness": (
        "Weighted mean of tool_selection_jaccard, tool_parameters, tool_sequence and "
        "tool_utilization, 0 to 1."
    ),
    "tool_correct": "1 if tool_correctness reaches the threshold, else 0.",
    "tool_selection_jaccard": (
        "Calls matched by tool name / (expected calls + calls made - matched calls), 0 to 1."
    ),
    "tool_parameters": (
        "Mean share of the arguments of expected calls that were given as the task states them, 0 "
        "to 1."
    ),
    "tool_sequence": "Calls made in the expected order / expected calls, 0 to 1.",
    "tool_utilization": (
        "Results that the agent used later / results with something distinctive to recognize, 0 "
        "to 1."
    ),
}

STEPS: Final[Mapping[str, str]] = {
    "success": (
        "1 if the attempt succeeded, 0 if it failed. Its source: verifier | task | evaluation | "
        "judge | trace."
    ),
    "actual_steps": (
        "Steps that the attempt took, a count: tool calls, unless the task counts all steps."
    ),
    "step_efficiency": (
        "Fewest steps that the task needs / steps taken, for successful attempts, 0 to 1. Its "
        "source: annotated | expected | observed (only in the view scores)."
    ),
    "step_ratio": (
        "Steps taken / fewest steps that the task needs, for successful attempts; at best 1, "
        "without an upper bound."
    ),
    "redundant_calls": (
        "Calls that repeat an earlier successful call while nothing changed in between, a count."
    ),
    "recovery_rate": (
        "Failed calls that the agent recovered from within five calls / failed calls, 0 to 1. "
        "Label: how many were only retried."
    ),
    "termination": (
        "1 if the agent stopped as soon as it had succeeded, else 0. Label: at_success | late | "
        "early | looped | crashed | budget | interrupted | unfinished | unknown."
    ),
}

FAILURE_MODE_METRICS: Final[Mapping[str, str]] = {
    "loop_trap": "1 if the agent went round in circles, else 0.",
    "tool_hallucination": (
        "1 if a call named a tool that was not offered or broke the tool's schema, else 0."
    ),
    "premature_commitment": (
        "1 if the agent wrote something before a sub-goal that this depends on was done, or said "
        "that something was done which was not, else 0."
    ),
    "cascading_error": "1 if one wrong call led to at least two more failed calls, else 0.",
    "goal_drift": (
        "1 if the attempt failed and its last three or more calls, or a destructive one before "
        "anything was done, served no sub-goal, else 0."
    ),
}

FAILURE_MODES: Final = tuple(FAILURE_MODE_METRICS)
"""Failure modes; each is a metric, and evidence for it stands in `failures`."""

PLAN_GRAPH: Final[Mapping[str, str]] = {
    "sub_goal_coverage": "Sub-goals attempted / sub-goals, 0 to 1. Label: those skipped.",
    "sub_goal_coverage_weighted": "As sub_goal_coverage, each sub-goal by its weight.",
    "sub_goal_completion": (
        "Sub-goals completed / sub-goals that did not hold before the first call, 0 to 1. Label: "
        "the plan graph that was scored."
    ),
    "sub_goal_completion_weighted": "As sub_goal_completion, each sub-goal by its weight.",
    "critical_path_completion": "Critical sub-goals completed / critical sub-goals, 0 to 1.",
    "critical_path_skipped": "1 if a critical sub-goal was not attempted, else 0. Label: which.",
    "completion_with_direct_deps": (
        "Sub-goals completed along with their direct prerequisites / sub-goals, 0 to 1."
    ),
    "completion_with_all_deps": (
        "Sub-goals completed along with all of their prerequisites / sub-goals, 0 to 1."
    ),
    "dependency_violation": (
        "Sub-goals completed before a direct prerequisite / completed sub-goals that have one, 0 "
        "to 1."
    ),
    "sub_goals_skipped": "Sub-goals that no call served, a count.",
    "sub_goals_failed_inside": "Sub-goals attempted but not completed, a count.",
    "sub_goals_regressed": "Sub-goals once completed but not at the end, a count.",
    "sub_goals_pre_satisfied": "Sub-goals that held before the first call, a count.",
    "off_plan_calls": "Calls that serve no sub-goal, a count.",
    "plan_coverage": (
        "Steps of the agent's own first plan that it attempted / steps of that plan, 0 to 1."
    ),
    "plan_completion": (
        "Steps of the agent's own first plan that it completed / steps of that plan, 0 to 1."
    ),
}

REPLANNING: Final[Mapping[str, str]] = {
    "replans": "Changes of the steps of the plan that were left to do, a count.",
    "replans_per_100_calls": "Replans for every 100 tool calls.",
    "replans_reactive": "Replans after a call or check had failed since the last plan, a count.",
    "replans_spontaneous": "Replans that no failure preceded, a count.",
    "replan_given_failure": (
        "Failures followed by a replan before the next call / failures, 0 to 1."
    ),
    "replans_source_text": (
        "Changes of any kind from one list of steps to the next: replans as the source text "
        "counts them."
    ),
}

PLANNING: Final[Mapping[str, str]] = {
    "pq": "Planning quality: how good the plan before the first call was, 0 to 10.",
    "pq_strict": "As pq, but branch coverage and scope control count fully or not at all.",
    "pq_partial": "As pq, but over those of its four parts that could be measured.",
    "pq_dependency_ordering": (
        "Inputs of planned steps that an earlier step makes / inputs that a step has to make, 0 "
        "to 1."
    ),
    "pq_branch_coverage": (
        "Planned steps with a branch for failure / planned steps that can fail, 0 to 1."
    ),
    "pq_scope_control": "Planned steps within the task's objective / planned steps, 0 to 1.",
    "pq_reversibility": (
        "Planned steps marked as a change with a way back / planned steps that change something, "
        "0 to 1; a mark alone counts half."
    ),
}

ROLLBACK: Final[Mapping[str, str]] = {
    "ra_after_recovery": (
        "Rollback-ability: state after killing the agent and running the recovery command, mean "
        "over the kills, 0 to 10."
    ),
    "ra_immediate": (
        "State right after killing the agent, before any recovery, mean over the kills, 0 to 10."
    ),
    "late_ra": (
        "State after the recovery command when the agent was killed after its last write, 0 to 10."
    ),
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
