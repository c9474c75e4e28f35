"""Numerators and denominators of runs' values, so that runs add up as releases do.

Makes:
    metric_parts (from custom_scores, matching_runs, observed_step_scores, trajectory_scores):
        numerator, denominator and weight of each run with a value, under trajectory_id
"""

from tracegrade_explorer.filters.conditions import MatchingRuns
from tracegrade_explorer.filters.grammar import NUMBERS
from tracegrade_explorer.snapshots.index import OBSERVED
from tracegrade_scoring.metrics import METRICS


def metric_parts(measured: str) -> MatchingRuns:
    """Return the query of the parts of one metric, or of a number, which is a part by itself.

    Args:
        measured: A key of `NUMBERS`, or a metric of users' own, which `matching_runs` has in
            `measured`.
    """
    if measured not in NUMBERS:
        return MatchingRuns(
            "SELECT trajectory_id, score.numerator AS numerator, "
            "score.denominator AS denominator, sample_weight AS weight "
            "FROM custom_scores INNER JOIN trajectory_scores USING (trajectory_id, date) "
            "WHERE metric = $of_metric AND score.value IS NOT NULL",
            {"of_metric": measured},
        )
    if measured not in METRICS:
        return MatchingRuns(
            "SELECT trajectory_id, measured AS numerator, 1.0::DOUBLE AS denominator, "
            "1.0::DOUBLE AS weight FROM matching_runs WHERE measured IS NOT NULL"
        )
    table = "observed_step_scores" if measured in OBSERVED else "trajectory_scores"
    return MatchingRuns(
        f"SELECT trajectory_id, {measured}.numerator AS numerator, "
        f"{measured}.denominator AS denominator, sample_weight AS weight "
        f"FROM {table} WHERE {measured}.value IS NOT NULL"
    )
