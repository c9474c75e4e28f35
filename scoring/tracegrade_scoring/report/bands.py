"""Dependency failures by planning quality, and tokens and cost by tool-selection accuracy.

Each run is in the band of its own score. The tasks of two bands may differ, so bands of a release
are shown next to each other and not compared: a difference may be one of their tasks. Bounds are
those of the source: planning quality 5, tool selection 6 and 9 [Triangle]; 7 is the lower bound of
its label for supervised production.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_scoring.metrics import Scale
from tracegrade_scoring.rendering import words
from tracegrade_scoring.statistics.release import count_known_tasks, interval_over_tasks, total

PLANNING_BANDS: Final = ("no plan", "below 5", "5 to below 7", "7 and more")
SELECTION_BANDS: Final = ("below 6", "6 to 9", "above 9")
FAILURE: Final = "dependency_failure"
TOKENS: Final = "tokens_per_run"
COST: Final = "cost_usd_per_run"
_BANDS: Final = {FAILURE: PLANNING_BANDS, TOKENS: SELECTION_BANDS, COST: SELECTION_BANDS}

PLANNING_HEADINGS: Final = ("release", "planning quality", "with a dependency failure", "from")
SELECTION_HEADINGS: Final = (
    *("release", "tool selection", "tokens per run", "tokens from"),
    *("cost per run", "cost from"),
)


class BandMean(NamedTuple):
    """A mean over the runs of one band."""

    measure: str
    """dependency_failure | tokens_per_run | cost_usd_per_run."""
    band: str
    runs: int
    """Runs in the band; at least 1."""
    known: int
    """Runs whose amount is known; the others are in no number below."""
    tasks: int
    """Known tasks of these runs."""
    total: float | None
    """Sum of the amounts, such as the number of runs with a failure; None if none is known."""
    value: float | None
    """The mean, of failures by sample weight; None if none is known."""
    low: float | None
    """Lower end of the interval; None without one."""
    high: float | None
    interval_method: str | None
    """wilson | bootstrap over tasks (docs/metrics.md, section 0.6)."""


def band_means(rows: Iterable[ResultRow], level: float) -> tuple[BandMean, ...]:
    """Return the mean of each measure and band with a run, the lowest band first.

    Args:
        rows: Rows of `band_sums` of one release, in its order.
        level: Of the intervals.
    """
    of_band: dict[tuple[str, str], list[ResultRow]] = defaultdict(list)
    for row in rows:
        of_band[row["measure"], row["band"]].append(row)
    cells = [(measure, band) for measure, bands in _BANDS.items() for band in bands]
    return tuple(_mean(*cell, of_band[cell], level) for cell in cells if cell in of_band)


def _mean(measure: str, band: str, tasks: Sequence[ResultRow], level: float) -> BandMean:
    known = [task for task in tasks if task["known"]]
    numerator, denominator = total(known, "numerator"), total(known, "denominator")
    interval = interval_over_tasks(known, level, is_share=measure == FAILURE)
    return BandMean(
        measure,
        band,
        runs=sum(task["runs"] for task in tasks),
        known=sum(task["known"] for task in tasks),
        tasks=count_known_tasks(known),
        total=total(known, "total"),
        value=numerator / denominator if numerator is not None and denominator else None,
        low=interval and interval.low,
        high=interval and interval.high,
        interval_method=interval and interval.method,
    )


def planning_rows(found: Sequence[BandMean], label: str) -> Iterator[tuple[str, ...]]:
    """Yield the rows below `PLANNING_HEADINGS`; nothing if no failure is known."""
    rows = [row for row in found if row.measure == FAILURE]
    if not any(row.known for row in rows):
        return
    for row in rows:
        counts = f"{words.number(row.total)} of {_runs(row)}" if row.known else _runs(row)
        share = words.amount(row.value, Scale.SHARE)
        yield label, row.band, _with(share, words.interval(row.low, row.high, Scale.SHARE)), counts


def selection_rows(found: Sequence[BandMean], label: str) -> Iterator[tuple[str, ...]]:
    """Yield the rows below `SELECTION_HEADINGS`; nothing if neither tokens nor a cost is known."""
    costs = {row.band: row for row in found if row.measure == COST}
    tokens = [row for row in found if row.measure == TOKENS]
    if not any(row.known for row in (*tokens, *costs.values())):
        return
    for row in tokens:
        cost = costs[row.band]
        ends = words.interval(row.low, row.high, Scale.NUMBER)
        yield (
            *(label, row.band, _with(words.number(row.value), ends), _runs(row)),
            *(_with(_usd(cost.value), _usd_interval(cost)), _runs(cost)),
        )


def _runs(row: BandMean) -> str:
    """Return the number of runs, and of their tasks."""
    runs = words.count(row.runs, "run")
    if row.known < row.runs:
        runs = f"{row.known:,} of {runs} known"
    return f"{runs}, {words.count(row.tasks, 'task')}"


def _with(value: str, interval: str) -> str:
    return f"{value} ({interval})" if interval else value


def _usd(amount: float | None) -> str:
    return words.NOTHING if amount is None else words.usd(amount)


def _usd_interval(row: BandMean) -> str:
    if row.low is None or row.high is None:
        return ""
    if row.low == row.high:
        return words.NO_SPREAD
    return f"{words.usd(row.low)}{words.DASH}{words.usd(row.high)}"
