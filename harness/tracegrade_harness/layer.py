"""The table and queries that the harness adds to a lake; entry point of `tracegrade.layers`."""

from typing import Final

from tracegrade_harness.schema import HARNESS_TRIALS
from tracegrade_harness.sql import QUERIES
from tracegrade_queries.engine.layers import Layer

TRIALS: Final = Layer(
    (HARNESS_TRIALS,),
    QUERIES,
    why_absent="no suite ran into it; run `tracegrade harness run SUITE --lake LAKE` first",
    kill_pages="tracegrade_harness.kills.folder:folder_kills",
)
