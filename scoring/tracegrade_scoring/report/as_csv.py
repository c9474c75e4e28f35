"""A report as CSV: one row for each cohort and metric, numbers unrounded."""

from dataclasses import asdict

from tracegrade_scoring.rendering.sheet import csv_text
from tracegrade_scoring.report.model import Report

_COLUMNS = (
    *("agent_name", "run_mode", "release", "metric", "value", "numerator", "denominator"),
    *("low", "high", "interval_method", "scored", "not_applicable", "error", "trajectories"),
    "flags",
)


def render_csv(report: Report) -> str:
    """Return the metrics as CSV with a header."""
    rows = (
        {**asdict(score), **release.key._asdict()}
        for release in report.releases
        for score in release.metrics.values()
    )
    return csv_text(_COLUMNS, rows)
