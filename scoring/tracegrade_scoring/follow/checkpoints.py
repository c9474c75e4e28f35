"""Keeps the logs short that each tick opens dozens of times.

A table is opened from the last checkpoint of its log and the entries after it. By themselves,
tables on a disk get one after 100 entries, which are 46 ms for each opening.
"""

from typing import Final

from tracegrade_lake import Lake
from tracegrade_lake.maintenance.checkpoint import write_checkpoint
from tracegrade_queries.schema import BUILT, BUILT_FILES, BUILT_TRACES, PRICED_DATES
from tracegrade_scoring.noted_files import SCORED_FILES
from tracegrade_scoring.schema import SCORE_TABLES

TICKS: Final = 10
"""Ticks that wrote something, after which checkpoints are written."""
_TABLES: Final = (*BUILT, BUILT_TRACES, BUILT_FILES, PRICED_DATES, SCORED_FILES, *SCORE_TABLES)


def write_checkpoints(lake: Lake) -> None:
    """Write a checkpoint of each table that ticks write; tables on a store have enough of them."""
    if lake.is_local:
        for table in _TABLES:
            write_checkpoint(lake, table.name)
