"""Metrics without a value in a report: for how many runs, why, and how to get one."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from tracegrade_scoring.metrics import Metric
from tracegrade_scoring.rendering import words
from tracegrade_scoring.report.model import Release

NamedReleases: TypeAlias = Sequence[tuple[str, Release]]
"""Releases, each with its name as shown; two may be shown alike."""
METRICS_NAMED = 3
"""Metrics named where there is little room."""


class Unmeasured(NamedTuple):
    """Runs without a value of some metrics, for one reason."""

    runs: str
    """How many of how many, of each release."""
    why: str
    remedy: str
    """What a user can do to give them a value; '' if nothing is wrong."""
    metrics: tuple[str, ...]

    @property
    def some_metrics(self) -> str:
        """The metrics, the first few by name."""
        more = len(self.metrics) - METRICS_NAMED
        rest = f" and {more} more" if more > 0 else ""
        return ", ".join(self.metrics[:METRICS_NAMED]) + rest


def unmeasured(metrics: Sequence[Metric], releases: NamedReleases) -> tuple[Unmeasured, ...]:
    """Return the reasons why metrics have no value, those of the same runs together.

    Args:
        metrics: In the order in which they are named.
        releases: In the order in which they are shown.
    """
    found: dict[tuple[str, str, str], list[str]] = {}
    for metric in metrics:
        for (why, remedy), shares in _shares_by_reason(metric, releases).items():
            found.setdefault((_runs(shares, releases), why, remedy), []).append(metric.label)
    return tuple(Unmeasured(*key, tuple(labels)) for key, labels in found.items())


class _Share(NamedTuple):
    release: str
    unscored: int
    runs: int


def _shares_by_reason(
    metric: Metric, releases: NamedReleases
) -> dict[tuple[str, str], list[_Share]]:
    """Return why runs have no value and what to do about it, with their number per release."""
    found: dict[tuple[str, str], list[_Share]] = {}
    for label, release in releases:
        score = release.metrics.get(metric.name)
        if score is None:
            continue
        for row in score.unscored:
            why = words.reason(row.reason)
            why = f"could not be measured: {why}" if row.status == "error" else why
            share = _Share(label, row.trajectories, score.trajectories)
            found.setdefault((why, words.remedy(row.reason)), []).append(share)
    return found


def _runs(shares: Sequence[_Share], releases: NamedReleases) -> str:
    """Return how many runs of each release these are."""
    if len(shares) == len(releases) and all(share.unscored == share.runs for share in shares):
        return "all runs"
    counts = [f"{share.unscored:,} of {words.count(share.runs, 'run')}" for share in shares]
    if len(releases) == 1:
        return counts[0]
    named = zip(shares, counts, strict=True)
    return ", ".join(f"{share.release}: {count}" for share, count in named)
