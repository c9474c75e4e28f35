"""Merges the small files that a follower leaves in its tables, a few with each tick."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from tracegrade_lake import Lake
from tracegrade_lake.errors import MaintenanceBusy
from tracegrade_lake.maintenance.compaction import CompactOptions, compact
from tracegrade_queries.schema import BUILT, BUILT_TRACES
from tracegrade_scoring.schema import SCORE_TABLES

TICKS: Final = 50
"""Ticks that wrote something, after which their files are merged."""
_WRITTEN: Final = frozenset(table.name for table in (*BUILT, BUILT_TRACES, *SCORE_TABLES))


def merge_small_files(lake: Lake, say: Callable[[str], object]) -> bool:
    """Merge today's files of the tables that builds and scoring runs write.

    Past dates are left to `lake compact`, and all to a maintenance that is already running.

    Returns:
        Whether this was done.
    """
    today = datetime.now(UTC).date().isoformat()
    tables = tuple(name for name in lake.tables() if name in _WRITTEN)
    options = CompactOptions(tables, min_age_secs=0, first_date=today)
    try:
        compact(lake, options, lambda _: None)
    except MaintenanceBusy as error:
        say(f"small files are merged later: {error}")
        return False
    return True
