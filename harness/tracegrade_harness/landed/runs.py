"""The runs that traces hold, as the lake has them."""

from collections.abc import Collection
from typing import NamedTuple

from tracegrade_harness.landed.traces import pinned_since, steps_of_traces
from tracegrade_harness.sql import QUERIES
from tracegrade_lake import Lake


class LandedRun(NamedTuple):
    """A row of `landed_runs.sql`."""

    trace_id: str
    trajectory_id: str
    task_id: str | None
    trial: int | None


def landed_runs(
    lake: Lake, traces: Collection[str], first_ns: int, last_ns: int
) -> list[LandedRun]:
    """Return the runs of some traces, but for sub-agents' and killed ones, by their ids.

    Args:
        lake: Where all of their spans have landed.
        traces: Their ids.
        first_ns: Nothing of them was received before, ns since 1970.
        last_ns: Nor after.

    Raises:
        EnvironmentFailed: They cannot be read.
    """
    with steps_of_traces(pinned_since(lake, first_ns, last_ns), traces) as con:
        return [LandedRun(*row) for row in con.sql(QUERIES.text("landed_runs")).fetchall()]
