"""Builds the new traces of a lake, with costs, while no other process builds the lake.

Its own module because two programs build: `tracegrade score`, and `tracegrade ui` between two
scoring runs. A scoring run also holds its own lock, but the build's lock only while it builds. So
runs appear on the pages while others are scored.
"""

from contextlib import closing
from typing import Final, NamedTuple

from tracegrade_lake import Lake
from tracegrade_queries.build.build import BuildSummary, build
from tracegrade_queries.costs.price_list import keep_prices
from tracegrade_queries.costs.pricing import Costs, Prices, update_costs
from tracegrade_queries.dimensions.labeling import (
    NO_LABELING,
    GivenMapping,
    LabelingSummary,
    finish_labeling,
    start_labeling,
)
from tracegrade_queries.engine.executor import Executor

BUILD_LOCK: Final = "build"


class PricedBuild(NamedTuple):
    """The summary of one build, and what is known of all trajectories."""

    built: BuildSummary
    costs: Costs
    """The number of trajectories with a known cost."""
    labeling: LabelingSummary = NO_LABELING
    """How they got their dimensions."""


def build_with_costs(
    lake: Lake,
    *,
    full: bool = False,
    prices: Prices | None = None,
    mapping: GivenMapping | None = None,
    retrieval: bool | None = None,
    executor: Executor | None = None,
) -> PricedBuild:
    """Build new traces and update costs, after a build that is already running.

    Args:
        lake: The lake to read and write.
        full: Build every trace, not just those with new spans.
        prices: What models cost; None: as it was given last, else the built-in list.
        mapping: The mapping of dimensions; None: as it was given last.
        retrieval: Whether searches and operations on memory are steps; None: as built last.
        executor: Who works on the buckets; None for threads of this process.
    """
    with closing(lake.lock(BUILD_LOCK)) as lock:
        lock.acquire()
        return _priced_build(lake, prices, mapping, executor, full=full, retrieval=retrieval)


def build_if_free(lake: Lake) -> PricedBuild | None:
    """Build as `build_with_costs`, unless another process builds the lake; None then."""
    with closing(lake.lock(BUILD_LOCK)) as lock:
        return _priced_build(lake, None, None, None, full=False) if lock.try_acquire() else None


def _priced_build(
    lake: Lake,
    prices: Prices | None,
    mapping: GivenMapping | None,
    executor: Executor | None,
    *,
    full: bool,
    retrieval: bool | None = None,
) -> PricedBuild:
    known = keep_prices(lake, prices)
    stored = start_labeling(lake, mapping)
    built = build(
        lake,
        full=full,
        prices=known.prices,
        mapping=stored.mapping,
        retrieval=retrieval,
        executor=executor,
    )
    labeling = finish_labeling(lake, stored, any_built=built.traces > 0, all_built=built.all_built)
    costs = update_costs(lake, known.prices)
    return PricedBuild(built, costs._replace(list_date=known.list_date), labeling)
