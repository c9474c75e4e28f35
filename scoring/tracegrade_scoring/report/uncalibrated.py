"""Marks numbers from uncalibrated judges, whose agreement with people was not measured."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_scoring.metrics import names_of_folder
from tracegrade_scoring.report.model import Score

UNCALIBRATED: Final = "uncalibrated"
"""The flag of such a number."""

_OF_SUB_GOALS: Final = frozenset(names_of_folder("plan_graph")) - {"off_plan_calls"}
_OF_CALLS: Final = frozenset(names_of_folder("plan_graph")) | {
    *("tsa", "tsa_source_text", "wrong_call_rate", "missed_decisions"),
    *("recovery_rate", "termination", "premature_commitment", "cascading_error", "goal_drift"),
}
"""Metrics that depend on which sub-goal a call serves."""
_METRICS: Final = {
    "success": frozenset({"success"}),
    "sub_goal": _OF_SUB_GOALS,
    "served": _OF_CALLS,
    "planning": frozenset(names_of_folder("planning")),
}
"""Metrics that verdicts on each subject decide."""


def marked(scores: Mapping[str, Score], rows: Iterable[ResultRow]) -> dict[str, Score]:
    """Return the scores of a release, those flagged that come from uncalibrated judges.

    Args:
        scores: By metric.
        rows: Those of `judged_scores` of the release.
    """
    doubted = frozenset[str]().union(*(_METRICS[row["subject"]] for row in rows))
    return {
        name: replace(score, flags=(*score.flags, UNCALIBRATED))
        if name in doubted and score.value is not None
        else score
        for name, score in scores.items()
    }
