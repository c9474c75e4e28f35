"""The table of traces that made scoring fail, each alone, and are left out until they change."""

from typing import Final

from tracegrade_lake import Column, Table
from tracegrade_lake.columns import TEXT

UNSCORABLE_TRACES: Final = Table(
    name="unscorable_traces",
    grain="one trace that has no scores because scoring it failed",
    columns=(
        Column("trace_id", TEXT, "Trace."),
        Column("input_hash", TEXT, "As in `trajectory_scores`; with another it is tried again."),
        Column(
            "scored_with",
            TEXT,
            "Version of the scorer, hash of tasks and tools; with others it is tried again.",
        ),
        Column("reason", TEXT, "Error that it made, on one line."),
    ),
    partition_by=(),
)
