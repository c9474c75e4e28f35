"""The scoring runs of one follower, and what it prints of each."""

from collections.abc import Iterator
from typing import Final

from tracegrade_lake import Lake
from tracegrade_lake.maintenance.replaced_files import LEAST_KEEP_HOURS
from tracegrade_queries.costs.pricing import Prices
from tracegrade_queries.dimensions.labeling import GivenMapping
from tracegrade_queries.engine.executor import Executor
from tracegrade_scoring.job.discovery import TraceFilter
from tracegrade_scoring.job.run_scoring import Progress, ScoreSummary, score
from tracegrade_scoring.job.summary import fault_lines
from tracegrade_scoring.metric_definition import OwnMetric
from tracegrade_scoring.own_metrics.stored import stored_metrics
from tracegrade_scoring.rendering import words
from tracegrade_scoring.statistics.known_cohorts import KnownCohorts
from tracegrade_scoring.tasks import Specification

KEEP_HOURS: Final = LEAST_KEEP_HOURS
"""Time for which replaced files stay for readers, if nothing else is wanted. A tick writes some
16 files that later ones replace: in the time of scheduled runs there would be 24,000 of them."""


class Ticks:
    """Scores with what the command line gave, and then with what the lake keeps.

    So another job can give the lake other tasks, metrics or prices while it is followed.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - one for each option of the command
        self,
        lake: Lake,
        specification: Specification,
        chosen: TraceFilter,
        prices: Prices | None,
        mapping: GivenMapping | None,
        executor: Executor | None,
        keep_replaced_hours: float = KEEP_HOURS,
    ) -> None:
        """Score nothing yet; the arguments are those of `score`."""
        self._lake = lake
        self._specification = specification
        self._chosen = chosen
        self._prices = prices
        self._mapping = mapping
        self._executor = executor
        self._keep_replaced_hours = keep_replaced_hours
        self._cohorts = KnownCohorts()
        self._has_scored = False

    def __call__(self, now_ns: int, quiet_secs: float, progress: Progress) -> ScoreSummary:
        """Score what is new; the arguments are those of `score`."""
        if self._has_scored:
            metrics = {"metrics": self._metrics()}
            self._specification = Specification().model_copy(update=metrics)
        done = score(
            self._lake,
            self._specification,
            chosen=self._chosen,
            prices=self._prices,
            mapping=self._mapping,
            executor=self._executor,
            progress=progress,
            now_ns=now_ns,
            quiet_secs=quiet_secs,
            cohorts=self._cohorts,
            keep_replaced_hours=self._keep_replaced_hours,
        )
        self._has_scored = True
        self._prices = self._mapping = None
        return done

    def _metrics(self) -> tuple[OwnMetric, ...]:
        """Return the metrics that the lake keeps; those of other jobs run only where trusted."""
        known = {each.hash: each for each in self._specification.metrics}
        return tuple(known.get(each.hash, each) for each in stored_metrics(self._lake))


def tick_lines(done: ScoreSummary, secs: float) -> Iterator[str]:
    """Yield what a tick scored and what waits, and which metrics of users' own failed.

    Args:
        done: What the tick did.
        secs: That it took.
    """
    runs, traces = words.count(done.trajectories, "run"), words.count(done.traces, "trace")
    yield f"scored {runs} of {traces} in {secs:.1f} s"
    if done.waiting.until_ns is not None:
        yield words.waiting(done.waiting.traces, "trace", done.waiting.until_ns)
    yield from fault_lines(done)
