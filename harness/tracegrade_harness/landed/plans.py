"""Reads the plans of a run that has just been killed, as the lake has them.

An agent also reports its plans at the gate. Only plans in the lake count here, because a human who
repairs the damage has nothing but the lake. So the spans have to land first, which takes seconds.
"""

import time
from typing import Final, NamedTuple

import pyarrow.compute as pc

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.landed.traces import pinned_since, steps_of_traces
from tracegrade_harness.sql import QUERIES
from tracegrade_lake import RAW_SPANS, Lake
from tracegrade_queries.engine.pinned import PinnedLake

LANDED_WITHIN_SECS: Final = 300.0
"""Collectors commit every four seconds; on a busy machine it may take far longer."""

LOOKS_EVERY_SECS: Final = 0.5


class LastSpan(NamedTuple):
    """The span of a trace that arrives last."""

    trace_id: str
    span_id: str
    since_ns: int
    """No span of its trace was received earlier, ns since 1970."""


def landed_plans(lake: Lake, last: LastSpan) -> list[str]:
    """Return the plans of a trace, the newest first, after all of it has landed.

    Args:
        lake: The lake that receives its spans.
        last: The span that was sent after all others were acknowledged: requests land in their
            order.

    Returns:
        Each plan as JSON, or as the text that was written.

    Raises:
        EnvironmentFailed: The span does not land, or the plans cannot be read.
    """
    with steps_of_traces(_landed(lake, last), [last.trace_id], "landed_plans") as con:
        return [plan for (plan,) in con.sql(QUERIES.text("landed_plans")).fetchall()]


def _landed(lake: Lake, last: LastSpan) -> PinnedLake:
    """Wait for a span, and return the files that may have rows of its trace."""
    ends = time.monotonic() + LANDED_WITHIN_SECS
    while time.monotonic() < ends:
        pinned = pinned_since(lake, last.since_ns, time.time_ns())
        if _has(lake, pinned, last):
            return pinned
        time.sleep(LOOKS_EVERY_SECS)
    msg = f"spans of trace {last.trace_id} have not landed after {LANDED_WITHIN_SECS:g} s"
    raise EnvironmentFailed(f"{msg}; see collector.log in the run's folder")  # noqa: EM102


def _has(lake: Lake, pinned: PinnedLake, last: LastSpan) -> bool:
    found = pinned.tables.get(RAW_SPANS.name)
    if found is None:
        return False
    dataset = lake.dataset(RAW_SPANS.name, found.version, found.files)
    is_it = (pc.field("trace_id") == last.trace_id) & (pc.field("span_id") == last.span_id)
    return dataset is not None and dataset.count_rows(filter=is_it) > 0
