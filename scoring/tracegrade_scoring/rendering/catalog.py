"""Chooses the metrics that a report shows, and their order.

The `metric.toml` in each metric's folder holds its name and explanation. Metrics of the lake that
are not listed here are shown last.
"""

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from tracegrade.terminal.visible import visible
from tracegrade_scoring.metrics import METRICS, OWN_GROUP, Metric, Scale

MAIN: Final = (
    "success",
    "tsa",
    "tool_allowed_rate",
    "parameter_validity",
    "step_efficiency",
    "recovery_rate",
    "redundant_calls",
    "actual_steps",
    "sub_goal_coverage",
    "sub_goal_completion",
    "critical_path_completion",
    "replans_per_100_calls",
    "replan_given_failure",
)
"""The metrics that every report shows."""
MORE: Final = (
    "wrong_call_rate",
    "destructive_when_safe_existed",
    "tool_selection_jaccard",
    "tool_correctness",
    "tool_correct",
    "termination",
    "step_ratio",
    "loop_trap",
    "tool_hallucination",
    "premature_commitment",
    "cascading_error",
    "goal_drift",
    "critical_path_skipped",
    "dependency_violation",
    "pq",
    "ra_after_recovery",
    "plan_coverage",
    "plan_completion",
)
"""Metrics that a report shows in addition, if there is room; the rest follows by name."""
HEADLINES: Final = (
    "success",
    "tsa",
    "tool_allowed_rate",
    "parameter_validity",
    "step_efficiency",
    "sub_goal_coverage",
    "sub_goal_completion",
    "critical_path_completion",
)
"""Shares that are drawn side by side."""


def main_metrics(names: Collection[str]) -> list[Metric]:
    """Return the metrics of these names that every report shows, in order."""
    return [METRICS[name] for name in MAIN if name in names]


def more_metrics(
    names: Collection[str], own: Mapping[str, Metric] = MappingProxyType({})
) -> list[Metric]:
    """Return the other metrics of these names: first the listed metrics, then the rest by name.

    Args:
        names: Names of metrics, built-in and users' own.
        own: Users' own metrics with definitions in the lake.
    """
    return [METRICS.get(name) or own.get(name) or _unknown(name) for name in _in_order(names)]


def _in_order(names: Collection[str]) -> Iterator[str]:
    yield from (name for name in MORE if name in names)
    yield from sorted(set(names) - {*MAIN, *MORE})


def _unknown(name: str) -> Metric:
    """Return a metric for a name without a definition, under that name."""
    unknown = "A metric of your own: `tracegrade metrics list --lake LAKE` says what it measures."
    label = visible(name).replace("_", " ")
    return Metric(name, label, OWN_GROUP, unknown, Scale.NUMBER, better=0)
