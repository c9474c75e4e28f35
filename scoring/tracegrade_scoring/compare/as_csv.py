"""A comparison as CSV: one row for each agent, run mode and metric, numbers unrounded."""

from tracegrade_scoring.compare.as_json import compared_fields
from tracegrade_scoring.compare.rule_outcomes import RuledComparison
from tracegrade_scoring.rendering.sheet import csv_text

_COLUMNS = (
    *("agent_name", "run_mode", "metric", "base", "candidate", "difference", "low", "high"),
    *("interval_method", "p_value", "p_method", "tasks", "base_scored", "base_runs"),
    *("candidate_scored", "candidate_runs", "flags"),
)


def render_csv(ruled: RuledComparison) -> str:
    """Return the metrics as CSV with a header."""
    rows = (
        {
            "agent_name": comparison.cohort.agent_name,
            "run_mode": comparison.cohort.run_mode,
            "metric": name,
            **compared_fields(compared),
        }
        for comparison in ruled.comparisons.cohorts
        for name, compared in comparison.metrics.items()
    )
    return csv_text(_COLUMNS, rows)
