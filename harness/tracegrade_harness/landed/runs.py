"""The runs of traces in the lake."""

from collections.abc import Sequence
from itertools import chain
from typing import Final, NamedTuple

from tracegrade_harness.landed.traces import pinned_since, steps_of_traces
from tracegrade_harness.sql import QUERIES
from tracegrade_lake import Lake
from tracegrade_queries.engine.pinned import PinnedLake

TRACES_AT_ONCE: Final = 2000


class LandedRun(NamedTuple):
    """A row of `landed_runs.sql`."""

    trace_id: str
    trajectory_id: str
    root_span_id: str
    """Sixteen zeros if the trace has no agent."""
    conversation_id: str | None
    kill_point: str | None
    """The mark that excludes it from attempts: a kill point, or `several_runs`."""


def landed_runs(lake: Lake, traces: Sequence[str], first_ns: int, last_ns: int) -> list[LandedRun]:
    """Return the runs of some traces without sub-agents, each trace's in order of receipt.

    Args:
        lake: The lake, in which all of their spans have landed.
        traces: Their ids.
        first_ns: Lower limit of the time of receipt, ns since 1970.
        last_ns: Upper limit of the time of receipt.

    Raises:
        EnvironmentFailed: They cannot be read.
    """
    pinned = pinned_since(lake, first_ns, last_ns)
    starts = range(0, len(traces), TRACES_AT_ONCE)
    some = (traces[start : start + TRACES_AT_ONCE] for start in starts)
    return [*chain.from_iterable(_runs(pinned, each) for each in some)]


def _runs(pinned: PinnedLake, traces: Sequence[str]) -> list[LandedRun]:
    with steps_of_traces(pinned, traces, "landed_runs") as con:
        return [LandedRun(*row) for row in con.sql(QUERIES.text("landed_runs")).fetchall()]
