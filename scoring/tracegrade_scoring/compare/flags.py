"""Flags a comparison for the size of its samples, paired or not.

Source: docs/metrics.md, section 0.6.
"""

from collections.abc import Sequence

from tracegrade_scoring.compare.paired import TaskPair
from tracegrade_scoring.metrics import counts_decision_points
from tracegrade_scoring.statistics.intervals import MIN_TASKS
from tracegrade_scoring.statistics.release import MIN_DECISION_POINTS, MIN_TASK_TYPES
from tracegrade_scoring.statistics.reliability import SMALL_SAMPLE


def paired_flags(metric: str, pairs: Sequence[TaskPair]) -> tuple[str, ...]:
    """Return `insufficient_sample` and `few_tasks`, as far as they hold; none without a pair."""
    if not pairs:
        return ()
    points = min(sum(pair.base[1] for pair in pairs), sum(pair.candidate[1] for pair in pairs))
    insufficient = _few_points(metric, points) or len(pairs) < MIN_TASK_TYPES
    return ("insufficient_sample",) * insufficient + ("few_tasks",) * (len(pairs) < MIN_TASKS)


def unpaired_flags(metric: str, points: float, attempts: int) -> tuple[str, ...]:
    """Return `unpaired`, and `insufficient_sample` if it holds of the smaller side."""
    few = _few_points(metric, points) or attempts < SMALL_SAMPLE
    return ("unpaired", *("insufficient_sample",) * few)


def _few_points(metric: str, points: float) -> bool:
    return counts_decision_points(metric) and points < MIN_DECISION_POINTS
