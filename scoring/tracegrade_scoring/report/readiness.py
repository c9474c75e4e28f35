"""The readiness label of a release, as far as its sample supports one.

Source: docs/metrics.md, section 0.11.
"""

from typing import Final

from tracegrade_scoring.report.model import Release, Report
from tracegrade_scoring.statistics.readiness_labels import Carried, carried
from tracegrade_scoring.statistics.t_score import LABELS, least_axes, t_score

AXIS_METRICS: Final = ("tsa", "pq", "ra_after_recovery")
"""The metric behind each axis of the T-Score."""
SMALL: Final = "insufficient_sample"
"""The flag of a metric with fewer than 10 tasks, or decision points than 50."""


def speaks_in_labels(report: Report) -> bool:
    """Return whether labels of the T-Score are shown, not tiers: if a release has a T-Score."""
    return any(release.t_score.value is not None for release in report.releases)


def label(release: Release) -> Carried:
    """Return the label of the T-Score that the sample carries."""
    of_value, options = release.t_score, release.options
    if of_value.label is None:
        return Carried(None, at_least=False, reason=of_value.flags[-1])
    axes = least_axes(release.axis_parts(strict=options.literal), options.level)
    if release.pq_defaulted:  # nothing was measured, so nothing is uncertain
        axes = axes._replace(pq=10.0)
    least = t_score(axes, options.weights, literal=options.literal)
    return carried(of_value.label, least.label, lowest=LABELS[-1].label, flags=_few(release))


def _few(release: Release) -> tuple[str, ...]:
    """Return the flag of an axis of a sample that is too small for a label."""
    scores = (release.metrics.get(name) for name in AXIS_METRICS)
    return (SMALL,) if any(score and SMALL in score.flags for score in scores) else ()
