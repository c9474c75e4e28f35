"""A comparison as CSV: one row for each agent, run mode and metric, numbers unrounded."""

import csv
from io import StringIO

from tracegrade_scoring.compare.judgement import Judgement

_COLUMNS = (
    *("agent_name", "run_mode", "metric", "base", "candidate", "difference", "low", "high"),
    *("interval_method", "p_value", "p_method", "tasks", "base_scored", "base_runs"),
    *("candidate_scored", "candidate_runs", "flags"),
)


def render_csv(judgement: Judgement) -> str:
    """Return the metrics as CSV with a header; the unknown is empty, flags are joined by `|`."""
    text = StringIO()
    writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    for comparison in judgement.comparisons.cohorts:
        for name, compared in comparison.metrics.items():
            writer.writerow(
                {
                    "agent_name": comparison.cohort.agent_name,
                    "run_mode": comparison.cohort.run_mode,
                    "metric": name,
                    **compared.found._asdict(),
                    "base_scored": compared.base_scored,
                    "base_runs": compared.base_runs,
                    "candidate_scored": compared.candidate_scored,
                    "candidate_runs": compared.candidate_runs,
                    "flags": "|".join(compared.flags),
                }
            )
    return text.getvalue()
